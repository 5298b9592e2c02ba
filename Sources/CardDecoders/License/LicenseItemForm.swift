// SPDX-License-Identifier: Apache-2.0

/// How an item of a licence is written; the raw values are the words of `Data/license-items.tsv`.
enum LicenseItemForm: String, Sendable {
    /// Edition, and the days of issue and expiry in decimal digits, four bits each.
    case edition
    /// Two codes of one byte.
    case makers
    /// One byte, bit 1 is the answer.
    case flag
    /// JIS X 0208.
    case jis
    /// Characters of JIS X 0201.
    case ascii
    /// Characters of JIS X 0201, or bytes: no source says for sure.
    case sign
    /// Era and six digits.
    case date
    /// A later entry.
    case entry
    /// One byte that says whether a category is held.
    case held
    /// As they are.
    case bytes
}
