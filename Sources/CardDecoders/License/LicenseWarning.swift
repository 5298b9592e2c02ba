// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// A problem with one item or one file of a licence; the rest of the card is still decoded.
///
/// A fault carries no value from the card: no name and no number can reach a log through it.
public struct LicenseWarning: Error, Hashable, Sendable {
    /// The file.
    package var file: LicenseFile
    /// The item, or `nil` when the problem concerns the whole file.
    package var tag: LicenseTag?
    /// The offset of the item in the file, in bytes.
    public var offset: Int
    /// The problem.
    public var reason: Reason

    /// The possible problems.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The file ends before the item's length.
        case lengthMissing
        /// The first byte of the length is not a known form.
        case lengthForm(UInt8)
        /// The value extends beyond the end of the file.
        case pastEnd(length: Int, left: Int)
        /// The length of the value is wrong for this item.
        case wrongLength(Int)
        /// The value is not a valid date.
        case notADate
        /// The value contains bytes that are not JIS X 0201.
        case notText
        /// No source documents such an item in this file.
        case unknownItem
        /// The item occurred before; the first one is used.
        case repeated
        /// The value here differs from the one in the free data.
        case differsFromCommonData
        /// A later entry has an earlier date than one before it.
        case outOfOrder
        /// The file is empty, or lacks the item that it exists for.
        case empty
        /// The file was not read: the card refused, with this status word if it gave one.
        case refused(UInt16?)
        /// The file was not read completely because the card left.
        case lost
        /// The texts of the file cannot be decoded here: this system's C library cannot convert JIS X 0208.
        case noConverter
    }

    /// Creates a problem.
    package init(file: LicenseFile, tag: LicenseTag? = nil, offset: Int = 0, reason: Reason) {
        self.file = file
        self.tag = tag
        self.offset = offset
        self.reason = reason
    }
}

extension LicenseWarning.Reason {
    /// The identifier for machine use.
    package var word: String {
        switch self {
        case .lengthMissing: "lengthMissing"
        case .lengthForm: "lengthForm"
        case .pastEnd: "pastEnd"
        case .wrongLength: "wrongLength"
        case .notADate: "notADate"
        case .notText: "notText"
        case .unknownItem: "unknownItem"
        case .repeated: "repeated"
        case .differsFromCommonData: "differsFromCommonData"
        case .outOfOrder: "outOfOrder"
        case .empty: "empty"
        case .refused: "refused"
        case .lost: "lost"
        case .noConverter: "noConverter"
        }
    }
}
