// SPDX-License-Identifier: Apache-2.0

import CardModel

/// What is done with an XML text, element by element.
protocol XMLHandler: AnyObject {
    /// An element begins.
    func start(_ name: String, _ attributes: [String: String], line: Int) throws(DocumentError)
    /// Text stands in the element that began last; may come in several parts.
    func text(_ bytes: [UInt8])
    /// An element ends.
    func end(_ name: String, line: Int) throws(DocumentError)
}
