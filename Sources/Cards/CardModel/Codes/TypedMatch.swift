// SPDX-License-Identifier: Apache-2.0

/// What was typed from a printed document to open its chip, compared with what the chip says.
///
/// A chip can be made to open with anything. Only this shows that the data on it belongs to the document at hand.
package enum TypedMatch: Hashable, Sendable {
    /// The chip says the same.
    case same
    /// The chip says something else: it is that of another document.
    case other
    /// What the chip should say was not read, or cannot be read.
    case unknown
}
