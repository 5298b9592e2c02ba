// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A file of an identity document; its raw value names it in JSON.
public protocol IdentityFile: RawRepresentable<String>, Hashable, Sendable {
    /// The display name.
    var name: LocalizedText { get }
}

/// A problem with a file of an identity document, or with an item in it; the rest of the document is still decoded.
///
/// It carries no value from the card: no name and no number can reach a log through it.
public struct IdentityWarning<File: IdentityFile>: Error, Hashable, Sendable {
    /// The problem.
    public typealias Reason = IdentityWarningReason

    /// The file.
    public let file: File
    /// The tag of the item, for licenses; `nil` if the problem concerns the whole file.
    package let tag: LicenseTag?
    /// The offset of that item in the file, in bytes; 0 for the whole file.
    public let offset: Int
    /// The problem.
    public let reason: Reason

    package init(file: File, tag: LicenseTag? = nil, offset: Int = 0, reason: Reason) {
        (self.file, self.tag, self.offset, self.reason) = (file, tag, offset, reason)
    }
}

/// The problem that an ``IdentityWarning`` reports.
@nonexhaustive
public enum IdentityWarningReason: Hashable, Sendable {
    /// The card refused to read the file, with this status word if it gave one.
    case refused(UInt16?)
    /// The card left before all of the file was read.
    case lost
    /// The document says something else than what was typed.
    case otherDocument
    /// The data objects are not those that the file must have; nothing of it is shown.
    case layout
    /// A value is not text, not a date, or not a code.
    case value
    /// A text is not UTF-8 and was read as Shift_JIS.
    case shiftJIS
    /// A check digit of the machine-readable zone is wrong.
    case checkDigit
    /// There is this number of photos; the first is shown.
    case severalPhotos(Int)
    /// The contents are not what is expected of this file.
    case notWhatItShouldBe
    /// This item is missing or malformed.
    case item(MyNumberAttributes.Item)
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
}

extension IdentityWarning: SelfDescribing {
    /// File, item, and problem.
    public var message: LocalizedText {
        let item = tag.map { LocalizedText(", tag \($0)", " タグ \($0)") } ?? LocalizedText("", "")
        return file.name + item + LocalizedText(": ", ": ") + reason.message
    }

    /// An element of `faults` in the document.
    ///
    /// - Parameter hasTag: whether it has the tag of the item.
    func json(_ language: Language, hasTag: Bool) -> JSONValue {
        var object = JSONObject([("file", .string(file.rawValue))])
        if hasTag { object["tag"] = .text(tag?.description ?? reason.tag) }
        object["reason"] = .string(reason.word)
        object["message"] = .string(message[language])
        return .object(object)
    }
}

extension IdentityWarningReason: SelfDescribing {
    /// The problem.
    public var message: LocalizedText { facts.message }

    /// The identifier for machine use.
    package var word: String { facts.word }

    /// The tag of the item of a My Number card that it concerns; `nil` for the whole file.
    fileprivate var tag: String? { if case .item(let item) = self { item.rawValue } else { nil } }

    private var facts: (word: String, message: LocalizedText) {
        switch self {
        case .refused(let status):
            let code = status.map { Hex.encode($0, digits: 4) }
            return (
                "refused",
                LocalizedText("the card refused to read it", "カードが読み取りを拒否しました")
                    + (code.map { LocalizedText(": status \($0)", ": ステータス \($0)") } ?? LocalizedText("", ""))
            )
        case .lost: return ("lost", LocalizedText("the card left before all of it was read", "読み終わる前にカードが離れました"))
        case .otherDocument:
            return (
                "otherDocument",
                LocalizedText(
                    "not what was typed: the chip belongs to another document", "入力した内容と異なります（別の文書の IC です）")
            )
        case .layout:
            return (
                "layout",
                LocalizedText("its data objects are not those that it must have", "データオブジェクトの並びが仕様と異なります")
            )
        case .value: return ("value", LocalizedText("a value is malformed", "正しくない値があります"))
        case .shiftJIS:
            return ("shiftJIS", LocalizedText("read as Shift_JIS, not UTF-8", "UTF-8 ではなく Shift_JIS として読みました"))
        case .checkDigit: return ("checkDigit", LocalizedText("a check digit is wrong", "検査数字が合いません"))
        case .severalPhotos(let count):
            return (
                "severalPhotos",
                LocalizedText("it has \(count) photos; this is the first", "写真が \(count) 枚あります（表示は 1 枚目）")
            )
        case .notWhatItShouldBe:
            return ("notWhatItShouldBe", LocalizedText("unexpected contents", "内容が正しくありません"))
        case .item(let item):
            let tag = item.rawValue
            return ("item", LocalizedText("item \(tag) is missing or malformed", "項目 \(tag) がないか、正しくありません"))
        default: return itemFacts
        }
    }

    /// Those of items of a license.
    private var itemFacts: (word: String, message: LocalizedText) {
        switch self {
        case .lengthMissing: return ("lengthMissing", LocalizedText("the length is missing", "長さがありません"))
        case .lengthForm(let byte):
            let hex = Hex.encode(byte, digits: 2)
            return (
                "lengthForm",
                LocalizedText("\(hex) is not a valid first byte of a length", "\(hex) で始まる長さはありません")
            )
        case .pastEnd(let length, let left):
            return (
                "pastEnd",
                LocalizedText(
                    "its \(length) bytes exceed the end of the file (\(left) bytes left)",
                    "\(length) バイトの値がファイルの終わりを超えています（残り \(left) バイト）")
            )
        case .wrongLength(let length):
            return (
                "wrongLength",
                LocalizedText("\(length) bytes is the wrong length for this item", "この項目の長さは \(length) バイトではありません")
            )
        case .notADate: return ("notADate", LocalizedText("invalid date", "日付が正しくありません"))
        case .notText:
            return ("notText", LocalizedText("contains characters outside JIS X 0201", "JIS X 0201 にない文字があります"))
        case .unknownItem: return ("unknownItem", LocalizedText("unknown item", "未知の項目です"))
        case .repeated:
            return ("repeated", LocalizedText("duplicate item; the first one is used", "重複しています（最初のものを使います）"))
        case .differsFromCommonData:
            return ("differsFromCommonData", LocalizedText("differs from MF/EF01", "MF/EF01 の値と異なります"))
        case .outOfOrder:
            return ("outOfOrder", LocalizedText("dated earlier than the entry before it", "前の追記より古い日付です"))
        default: return ("empty", LocalizedText("no contents", "中身がありません"))
        }
    }
}
