// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import Kazasu

extension DecodingWarning {
    /// The message for display.
    package var words: String { message[Language.current] }
}

extension LicenseWarning {
    /// The message for display: file, item, and problem.
    package var words: String {
        guard let tag else { return "\(file.rawValue): \(reason.words)" }
        return tr("\(file.rawValue), tag \(tag): \(reason.words)", "\(file.rawValue) タグ \(tag): \(reason.words)")
    }

    /// An element of `faults` in `kazasu.license/1`.
    package var json: JSONValue {
        [
            "file": .string(file.rawValue), "tag": .text(tag?.description), "reason": .string(reason.word),
            "message": .string(words),
        ]
    }
}

extension LicenseWarning.Reason {
    fileprivate var words: String {
        switch self {
        case .lengthMissing: tr("the length is missing", "長さがありません")
        case .lengthForm(let byte):
            tr(
                "\(Hex.encode(byte, digits: 2)) is not a valid first byte of a length",
                "\(Hex.encode(byte, digits: 2)) で始まる長さはありません")
        case .pastEnd(let length, let left):
            tr(
                "its \(length) bytes exceed the end of the file (\(left) bytes left)",
                "\(length) バイトの値がファイルの終わりを超えています（残り \(left) バイト）")
        case .wrongLength(let length):
            tr("\(length) bytes is the wrong length for this item", "この項目の長さは \(length) バイトではありません")
        case .notADate: tr("invalid date", "日付が正しくありません")
        case .notText: tr("contains characters outside JIS X 0201", "JIS X 0201 にない文字があります")
        case .unknownItem: tr("unknown item", "未知の項目です")
        case .repeated: tr("duplicate item; the first one is used", "重複しています（最初のものを使います）")
        case .differsFromCommonData: tr("differs from MF/EF01", "MF/EF01 の値と異なります")
        case .outOfOrder: tr("dated earlier than the entry before it", "前の追記より古い日付です")
        case .empty: tr("no contents", "中身がありません")
        case .refused(let status): Refusal.words(status)
        case .lost: Refusal.lost
        case .noConverter:
            tr(
                "characters are shown as codes because this system's C library cannot convert EUC-JP "
                    + "(on Fedora: install glibc-gconv-extra)",
                "C ライブラリが EUC-JP を変換できないため、文字をコードで表示しています（Fedora では glibc-gconv-extra を導入してください）")
        }
    }
}

extension MyNumberWarning {
    /// The message for display: file and problem.
    package var words: String {
        let what =
            switch reason {
            case .notWhatItShouldBe: tr("unexpected contents", "内容が正しくありません")
            case .item(let item):
                tr("item \(item.rawValue) is missing or malformed", "項目 \(item.rawValue) がないか、正しくありません")
            case .refused(let status): Refusal.words(status)
            case .lost: Refusal.lost
            }
        return "\(file.name[Language.current]): \(what)"
    }

    /// An element of `faults` in `kazasu.mynumber/1`.
    package var json: JSONValue {
        [
            "file": .string(file.rawValue), "tag": .text(reason.tag), "reason": .string(reason.word),
            "message": .string(words),
        ]
    }
}

/// Why a file of a card was not read.
private enum Refusal {
    static func words(_ status: UInt16?) -> String {
        let code = status.map { Hex.encode($0, digits: 4) }
        return tr("the card refused to read it", "カードが読み取りを拒否しました")
            + (code.map { tr(": status \($0)", ": ステータス \($0)") } ?? "")
    }

    static var lost: String { tr("the card left before all of it was read", "読み終わる前にカードが離れました") }
}
