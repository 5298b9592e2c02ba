// SPDX-License-Identifier: Apache-2.0

/// A property that Get Node Property can ask for.
public protocol NodeProperty {
    /// The byte that asks for it.
    static var type: UInt8 { get }

    /// Reads the property of one node.
    ///
    /// - Throws: ``FeliCaError/malformed(_:_:)``.
    init(_ answer: inout AnswerReader) throws(FeliCaError)
}
