// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

extension LicenseFault {
    /// The sentence for people: file, item, and what is wrong.
    public var message: LocalizedText {
        let place = file.rawValue
        let what = reason.message
        guard let tag else { return LocalizedText("\(place): \(what.english)", "\(place): \(what.japanese)") }
        return LocalizedText("\(place), tag \(tag): \(what.english)", "\(place) タグ \(tag): \(what.japanese)")
    }
}

extension LicenseFault.Reason {
    /// The word for scripts.
    public var word: String {
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
