// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A problem with one item or one file of a license; the rest of the card is still decoded.
///
/// A fault carries no value from the card: no name and no number can reach a log through it.
public struct LicenseWarning: Error, Hashable, Sendable {
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
    }

    package init(file: LicenseFile, tag: LicenseTag? = nil, offset: Int = 0, reason: Reason) {
        self.file = file
        self.tag = tag
        self.offset = offset
        self.reason = reason
    }
}

extension LicenseWarning: SelfDescribing {
    /// File, item, and problem.
    public var message: LocalizedText {
        let reason = reason.message
        guard let tag else { return LocalizedText("\(file.rawValue): ", "\(file.rawValue): ") + reason }
        return LocalizedText("\(file.rawValue), tag \(tag): ", "\(file.rawValue) タグ \(tag): ") + reason
    }
}

extension LicenseWarning.Reason: SelfDescribing {
    /// The problem.
    public var message: LocalizedText {
        switch self {
        case .lengthMissing: LocalizedText("the length is missing", "長さがありません")
        case .lengthForm(let byte):
            LocalizedText(
                "\(Hex.encode(byte, digits: 2)) is not a valid first byte of a length",
                "\(Hex.encode(byte, digits: 2)) で始まる長さはありません")
        case .pastEnd(let length, let left):
            LocalizedText(
                "its \(length) bytes exceed the end of the file (\(left) bytes left)",
                "\(length) バイトの値がファイルの終わりを超えています（残り \(left) バイト）")
        case .wrongLength(let length):
            LocalizedText("\(length) bytes is the wrong length for this item", "この項目の長さは \(length) バイトではありません")
        case .notADate: LocalizedText("invalid date", "日付が正しくありません")
        case .notText: LocalizedText("contains characters outside JIS X 0201", "JIS X 0201 にない文字があります")
        case .unknownItem: LocalizedText("unknown item", "未知の項目です")
        case .repeated: LocalizedText("duplicate item; the first one is used", "重複しています（最初のものを使います）")
        case .differsFromCommonData: LocalizedText("differs from MF/EF01", "MF/EF01 の値と異なります")
        case .outOfOrder: LocalizedText("dated earlier than the entry before it", "前の追記より古い日付です")
        case .empty: LocalizedText("no contents", "中身がありません")
        case .refused(let status): FileRefusal.message(status)
        case .lost: FileRefusal.lost
        }
    }

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
        }
    }
}

/// Why a file of a card was not read.
enum FileRefusal {
    static func message(_ status: UInt16?) -> LocalizedText {
        let code = status.map { Hex.encode($0, digits: 4) }
        return LocalizedText("the card refused to read it", "カードが読み取りを拒否しました")
            + (code.map { LocalizedText(": status \($0)", ": ステータス \($0)") } ?? LocalizedText("", ""))
    }

    static let lost = LocalizedText("the card left before all of it was read", "読み終わる前にカードが離れました")
    static let otherDocument = LocalizedText(
        "not what was typed: the chip belongs to another document", "入力した内容と異なります（別の文書の IC です）")
}
