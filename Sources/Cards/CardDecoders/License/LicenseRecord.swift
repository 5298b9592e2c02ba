// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// One item of a license file: tag, length, value.
package struct LicenseRecord: Hashable, Sendable {
    package let tag: LicenseTag
    /// The offset of the tag in the file, in bytes.
    package let offset: Int
    /// The value; empty for an item without data.
    package let value: [UInt8]
}

/// The items of a license file.
///
/// The card's encoding only resembles BER: 1F, 5F, 7F and 9F are one-byte tags here, lengths of 128 and more are
/// `82 hi lo`, and FF in place of a tag ends the items.
///
/// Sources: the layouts in libjeid's application, TRETJapanNFCReader and soft-studio's reader; that 5F is a two-byte
/// tag in the photo file alone follows from the file sizes, as does the two-byte form of tags from 0100 on.
package struct LicenseRecordList: Hashable, Sendable {
    /// The items in card order.
    package private(set) var records: [LicenseRecord] = []
    /// The errors in the bytes.
    package private(set) var warnings: [LicenseWarning] = []

    private let file: LicenseFile

    /// Parses the items of a file, up to the first malformed one.
    package init(_ bytes: [UInt8], of file: LicenseFile) {
        self.file = file
        var reader = ByteReader(bytes)
        while reader.remaining > 0 {
            do {
                guard let record = try next(&reader) else { return }
                records.append(record)
            } catch {
                warnings.append(error)
                return
            }
        }
    }

    private func next(_ reader: inout ByteReader) throws(LicenseWarning) -> LicenseRecord? {
        let start = reader.offset
        guard let tag = tag(&reader) else { return nil }
        func fault(_ reason: LicenseWarning.Reason) -> LicenseWarning {
            LicenseWarning(file: file, tag: tag, offset: start, reason: reason)
        }
        guard let first = try? reader.readUInt8() else { throw fault(.lengthMissing) }
        let length: Int
        switch first {
        case 0...0x7F: length = Int(first)
        case 0x81:
            guard let byte = try? reader.readUInt8() else { throw fault(.lengthMissing) }
            length = Int(byte)
        case 0x82:
            guard let bytes = try? reader.readUInt16(.big) else { throw fault(.lengthMissing) }
            length = Int(bytes)
        default: throw fault(.lengthForm(first))
        }
        guard let value = try? reader.readBytes(length) else {
            throw fault(.pastEnd(length: length, left: reader.remaining))
        }
        return LicenseRecord(tag: tag, offset: start, value: Array(value))
    }

    /// Reads the tag, or returns `nil` at the end of the items.
    private func tag(_ reader: inout ByteReader) -> LicenseTag? {
        guard let first = try? reader.readUInt8() else { return nil }
        var ahead = reader
        let second = try? ahead.readUInt8()
        switch (first, second) {
        case (0xFF, nil), (0xFF, 0xFF?): return nil
        case (0xFF, _) where file != .myNumberMatters: return nil
        case (0x5F, let second?) where file == .photo && second == 0x40,
            (0x01, let second?) where file.isOnMyNumberCard:
            reader = ahead
            return LicenseTag(rawValue: UInt16(first) << 8 | UInt16(second))
        default: return LicenseTag(rawValue: UInt16(first))
        }
    }
}

/// 追記: a change made after the license was issued.
///
/// One byte for the character set, the date in seven digits of JIS X 0208, the text, and the name of the commission in
/// five characters. A new commission has no text: its name is the last five characters.
///
/// Source: soft-studio/NFC_DriversLicenseReader; that the date has the same form as all others is an inference from it.
public struct LicenseLaterEntry: Hashable, Sendable {
    /// JIS X 0208 制定年番号.
    public let characterSet: UInt8
    /// The date of the entry.
    public let date: LicenseDate
    /// The new text; for a new commission, its name.
    public let text: JISText
    /// 公安委員会名: the commission that made the entry.
    public let commission: JISText

    /// Parses an entry; `nil` if it is shorter than the 25 bytes of the fixed parts.
    init?(_ value: [UInt8], isCommission: Bool) {
        guard let first = value.first, value.count >= 25 else { return nil }
        characterSet = first
        date = LicenseDate(fullWidth: value[1..<15])
        commission = JISText(decoding: value.suffix(10))
        let middle = JISText(decoding: value[15..<value.count - 10])
        text = isCommission && middle.isEmpty ? commission : middle
    }
}

/// A category of vehicles on a license.
public struct LicenseCategory: Hashable, Sendable {
    /// The identifier for machine use, as in `medium`.
    public let id: String
    /// The display name.
    public let name: LocalizedText
    /// Whether it is one of the three groups (二・小・原, 他, 二種), which only give the date of the first acquisition.
    public let isGroup: Bool
    /// Whether it is held; `nil` when the card's value is unknown.
    public let isHeld: Bool?
    /// The date of acquisition; `nil` when it is not held, and for categories on a My Number card.
    public let since: LicenseDate?

    init?(_ field: LicenseField) {
        guard let category = field.category else { return nil }
        id = category
        name = field.name
        isGroup = ["twoWheelSmallMoped", "other", "secondClass"].contains(category)
        switch field.value {
        case .date(.none), .absent, .flag(false): (isHeld, since) = (false, nil)
        case .date(.invalid(let bytes)): (isHeld, since) = (nil, .invalid(bytes))
        case .date(let date): (isHeld, since) = (true, date)
        case .flag(true): (isHeld, since) = (true, nil)
        default: (isHeld, since) = (nil, nil)
        }
    }
}

/// 免許証の色区分: the validity class of the license, shown by the color of its band.
///
/// Source: the three texts given by readers of real cards (TRETJapanNFCReader), and the colors of the bands.
@nonexhaustive
public enum LicenseColorClass: String, Hashable, Sendable, CaseIterable {
    /// 優良: no accident and no offence for five years; gold.
    case excellent = "優良"
    /// 新規: the first license; green.
    case new = "新規"
    /// その他: every other license; blue.
    case other = "その他"

    /// The class for a text on the card, with any spacing (`優　良`); `nil` for any other text.
    package init?(_ text: JISText) {
        self.init(rawValue: text.unspaced)
    }

    /// The display name.
    public var name: LocalizedText {
        switch self {
        case .excellent: LocalizedText("excellent driver (gold)", rawValue)
        case .new: LocalizedText("new driver (green)", rawValue)
        case .other: LocalizedText("other driver (blue)", rawValue)
        }
    }
}

/// The tag of an item on a license.
///
/// A single byte, except for 5F40 of the photo and for 0100 and above on a My Number card.
package struct LicenseTag: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The tag as a number.
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: UInt16) {
        self.init(rawValue: value)
    }

    /// The tag in hexadecimal, with two digits if they suffice.
    package var description: String { Hex.encode(rawValue, digits: rawValue > 0xFF ? 4 : 2) }
}
