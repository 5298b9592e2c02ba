// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
package import CardModel

extension DecodingWarning {
    /// The message for display.
    package var words: String { message[Language.current] }

    /// The message in both languages.
    package var message: LocalizedText {
        switch self {
        case .balanceDiffersFromHistory:
            LocalizedText("the balance differs from the newest history record", "残高が最新の履歴の残高と一致しません")
        case .transactionsNotInHistory:
            LocalizedText(
                "the card counted transactions that are missing from its history (an entry without an exit, or an "
                    + "interrupted write)", "履歴にない取引があります（入場中、または書き込みの中断）")
        case .balanceFromHistory: LocalizedText("the balance comes from the newest history record", "残高は最新の履歴によるものです")
        case .historyIncomplete: LocalizedText("part of the history was not read", "履歴の一部を読み取れていません")
        case .duplicateRecord: LocalizedText("duplicate history records are shown once", "重複する履歴は 1 件にまとめています")
        case .numberNotDecimal: LocalizedText("the card number contains non-decimal digits", "カード番号に 10 進数でない桁があります")
        case .invalidDate: LocalizedText("the date is invalid", "日付が正しくありません")
        case .invalidTime: LocalizedText("the time is invalid", "時刻が正しくありません")
        case .serialGap:
            LocalizedText("older records are missing, so the amount is unknown", "直前の履歴が欠けているため、金額は不明です")
        case .serialOrder:
            LocalizedText("the serial numbers are out of order, so the amount is unknown", "通番の順序が正しくないため、金額は不明です")
        case .olderRecordMissing:
            LocalizedText("the previous record was not read, so the amount is unknown", "直前の履歴を読み取れていないため、金額は不明です")
        case .layoutNotPublished:
            LocalizedText("the data format of this card is not published", "このカードのデータ形式は公開されていません")
        case .oneSource:
            LocalizedText("only one source describes the data format of this card", "このカードのデータ形式の情報源は 1 つだけです")
        case .readingsDiffer: LocalizedText("sources disagree, so no value is chosen", "情報源により解釈が異なるため、値を確定していません")
        case .yearInferred: LocalizedText("the year was inferred from the order of the records", "年は履歴の順序から推定したものです")
        case .yearUnknown: LocalizedText("the card does not store the year", "年はカードに記録されていません")
        case .tenMinuteTime: LocalizedText("the card stores times in steps of ten minutes", "時刻は 10 分単位の記録です")
        case .clockDisputed:
            LocalizedText(
                "one source subtracts six hours from times before 2019; shown as stored",
                "2019 年より前の時刻を 6 時間早める情報源があります（カードの値のまま表示しています）")
        case .amountDiffersFromBalances:
            LocalizedText("the recorded amount differs from the change in balance", "記録された金額が残高の差と一致しません")
        case .doubtfulValues:
            LocalizedText(
                "values marked ? are disputed, or known from only one source",
                "？の付いた値は、情報源により解釈が異なるか、情報源が 1 つだけです")
        case .checksumWrong: LocalizedText("a checksum on the card is wrong", "チェックサムが正しくありません")
        }
    }
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
            case .item(let tag): tr("item \(tag) is missing or malformed", "項目 \(tag) がないか、正しくありません")
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
