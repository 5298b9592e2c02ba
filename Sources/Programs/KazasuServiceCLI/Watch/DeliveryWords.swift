// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// Why a delivery failed, or an asker did not decide, for people. Programs get the code that the outbox stores: a word, with a number where there is
/// one, as in `exit3`.
enum DeliveryWords {
    static func text(_ code: String) -> String {
        let digits = code.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let word = String(code.dropLast(digits))
        let number = Int(code.suffix(digits)) ?? 0
        return text(word, number) ?? code
    }

    private static func text(_ word: String, _ number: Int) -> String? {
        switch word {
        case "exit": tr("exit status \(number)", "終了ステータス \(number)")
        case "signal": tr("killed by signal \(number)", "シグナル \(number) で終了")
        case "noInterpreter": tr("the program in its #! line does not exist", "#! 行のプログラムがありません")
        case "status": tr("HTTP status \(number)", "HTTP ステータス \(number)")
        case "errno": SystemMessage.text(Int32(clamping: number))
        case "timeout": tr("timed out", "タイムアウト")
        case "noConnection", "unreachable": tr("no connection", "接続できません")
        case "disconnected": tr("the connection was lost", "接続が切れました")
        case "unknownHost", "unresolved": tr("unknown host", "ホスト名が見つかりません")
        case "certificate": tr("the certificate is not trusted", "証明書を信頼できません")
        case "loginRefused": tr("the broker refused the login", "ブローカーがログインを拒否しました")
        case "takenOver": tr("another client with the same name took over", "同じ名前の別のクライアントに置き換わりました")
        case "settings": tr("the TLS files or settings cannot be used", "TLS のファイルまたは設定が使えません")
        case "tls": tr("TLS failed; check the certificate", "TLS に失敗しました。証明書を確認してください")
        case "curl": tr("network error \(number) of libcurl", "通信エラー（libcurl \(number)）")
        case "cancelled": tr("interrupted", "中断しました")
        case "noMemory": tr("out of memory", "メモリー不足")
        case "tooLarge": tr("too large for the broker", "ブローカーの上限を超える大きさです")
        case "notAllowed": tr("the broker does not allow its topic", "ブローカーがこのトピックへの送信を許可していません")
        case "refused" where number > 0: tr("the broker refused it (\(number))", "ブローカーが拒否しました（\(number)）")
        case "refused": tr("the broker refused it", "ブローカーが拒否しました")
        case "damaged": tr("the ledger is damaged", "台帳が壊れています")
        case "newer": tr("the ledger is from a newer version of Kazasu", "台帳はより新しい Kazasu のものです")
        case "notALedger": tr("the file is not a ledger", "台帳ではないファイルです")
        case "diskFull": tr("the disk is full", "ディスクに空きがありません")
        case "locked": tr("another program uses the ledger", "台帳は別のプログラムが使用中です")
        case "sqlite": tr("SQLite error \(number)", "SQLite のエラー \(number)")
        case "notGenuine": tr("the card did not prove its key", "カードの鍵を確認できません")
        case "otherCard": tr("the card has no such key", "対象外のカードです")
        case "unknownCard": tr("unknown card", "未登録のカード")
        case "cardLost": tr("the card left too soon", "カードが離れました")
        case "failed": tr("failed", "失敗しました")
        default: nil
        }
    }
}
