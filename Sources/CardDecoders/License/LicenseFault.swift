// SPDX-License-Identifier: Apache-2.0

/// What is wrong with one item or one file of a licence; the rest of the card is shown all the same.
///
/// A fault carries no value of the card: no name and no number can reach a log through it.
public struct LicenseFault: Error, Hashable, Sendable {
    /// The file.
    public var file: LicenseFile
    /// The item, or `nil` when the file as a whole is meant.
    public var tag: LicenseTag?
    /// Where the item stands in the file, in bytes from its start.
    public var offset: Int
    /// What is wrong.
    public var reason: Reason

    /// What can be wrong.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The file ends before the item's length.
        case lengthMissing
        /// No such first byte of a length is known.
        case lengthForm(UInt8)
        /// The value would go beyond the end of the file.
        case pastEnd(length: Int, left: Int)
        /// The value has another length than such an item has.
        case wrongLength(Int)
        /// The value is no day of the calendar.
        case notADate
        /// The value holds bytes that are no characters of JIS X 0201.
        case notText
        /// No source knows such an item in this file.
        case unknownItem
        /// The item was there before; the first counts.
        case repeated
        /// The card says one thing here and another in the free data.
        case differsFromCommonData
        /// A later entry has an earlier date than one before it.
        case outOfOrder
        /// The file is empty, or the item that it is for is not in it.
        case empty
        /// The file was not read: the card refused, with this status word when it told one.
        case refused(UInt16?)
        /// The file was not read to its end, because the card left.
        case lost
        /// The characters of the file's texts are not known here: this system's C library cannot convert JIS X 0208.
        case noConverter
    }

    /// Something that is wrong.
    public init(file: LicenseFile, tag: LicenseTag? = nil, offset: Int = 0, reason: Reason) {
        self.file = file
        self.tag = tag
        self.offset = offset
        self.reason = reason
    }
}
