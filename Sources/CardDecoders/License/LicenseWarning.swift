// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

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

extension LicenseWarning {
    /// The message for display: file, item, and problem.
    public var message: LocalizedText {
        let place = file.rawValue
        let what = reason.message
        guard let tag else { return LocalizedText("\(place): \(what.english)", "\(place): \(what.japanese)") }
        return LocalizedText("\(place), tag \(tag): \(what.english)", "\(place) タグ \(tag): \(what.japanese)")
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

    var message: LocalizedText {
        switch self {
        case .lengthMissing: LocalizedText("the file ends before the length", "長さの前でファイルが終わっています")
        case .lengthForm(let byte):
            LocalizedText(
                "no length begins with \(Hex.encode(byte, digits: 2))",
                "\(Hex.encode(byte, digits: 2)) で始まる長さはありません")
        case .pastEnd(let length, let left):
            LocalizedText(
                "its \(length) bytes go beyond the end of the file, \(left) are left",
                "\(length) バイトの値がファイルの終わりを超えています（残り \(left) バイト）")
        case .wrongLength(let length):
            LocalizedText("no such item has \(length) bytes", "\(length) バイトは、この項目の長さではありません")
        case .notADate: LocalizedText("no day of the calendar", "暦にない日付です")
        case .notText: LocalizedText("not only characters of JIS X 0201", "JIS X 0201 にない文字があります")
        case .unknownItem: LocalizedText("no source knows this item", "未知の項目です")
        case .repeated: LocalizedText("it was there before, the first counts", "重複しています（最初のものを使います）")
        case .differsFromCommonData: LocalizedText("MF/EF01 says otherwise", "MF/EF01 の値と異なります")
        case .outOfOrder:
            LocalizedText("it is dated before an earlier entry", "前の追記より古い日付です")
        case .empty: LocalizedText("nothing is in it", "中身がありません")
        case .refused(let status):
            status.map {
                LocalizedText(
                    "the card refused to read it: status \(Hex.encode($0, digits: 4))",
                    "カードが読み取りを拒否しました: ステータス \(Hex.encode($0, digits: 4))")
            } ?? LocalizedText("the card refused to read it", "カードが読み取りを拒否しました")
        case .lost: LocalizedText("the card left before it was read to its end", "読み終わる前にカードが離れました")
        case .noConverter:
            LocalizedText(
                "characters are shown by their codes, since this system's C library has no converter EUC-JP "
                    + "(on Fedora: install glibc-gconv-extra)",
                "C ライブラリに EUC-JP の変換がないため、文字をコードで表示しています（Fedora では glibc-gconv-extra を導入）")
        }
    }
}
