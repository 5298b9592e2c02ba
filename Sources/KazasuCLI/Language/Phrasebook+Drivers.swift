// SPDX-License-Identifier: Apache-2.0

extension Phrasebook {
    /// What drivers say of readers that are at work, closed or asked too much.
    static let drivers: [(english: String, japanese: String)] = [
        ("the reader was closed", "リーダーは閉じられています"),
        ("an empty frame cannot be sent", "空のフレームは送れません"),
        ("no thread can be started (error *)", "スレッドを開始できません（エラー *）"),
        ("cards of type A and B", "Type A と Type B のカード"),
        ("a card that is not of type A or B", "Type A でも Type B でもないカード"),
        ("this sector", "このセクター"),
        // PaSoRi
        ("it is at work for another program", "他のプログラムのために動作中です"),
        ("another program has a session with it", "他のプログラムがセッションを開いています"),
        ("the reader refused a command (error *)", "リーダーがコマンドを拒否しました（エラー *）"),
        ("the reader's session does not allow this command", "リーダーのセッションがこのコマンドを許しません"),
        // libnfc
        ("the * does not start; unplug it and plug it back in", "* が起動しません。いったん抜いて差し直してください"),
        (
            "this reader brings every card that speaks ISO-DEP into it",
            "このリーダーは ISO-DEP 対応のカードを必ず ISO-DEP に切り替えます"
        ),
        ("chip status *", "チップの状態 *"), ("*: the kernel driver * holds it", "*: カーネルのドライバー * が使用中です"),
        ("it contains a zero byte", "ゼロのバイトが含まれています"),
        (
            "a USB reader is named by bus and device number, as in acr122_usb:003:005",
            "USB リーダーはバスと装置の番号で指定します（例: acr122_usb:003:005）"
        ),
        ("libnfc's driver of this reader cannot do it (*)", "libnfc のドライバーが対応していません（*）"),
        ("libnfc refused the command", "libnfc がコマンドを拒否しました"),
        ("the reader refused the command (chip status *)", "リーダーがコマンドを拒否しました（チップの状態 *）"),
        ("libnfc cannot work in a process with * open files", "開いているファイルが * 個あり、libnfc を使えません"),
        (
            "its serial line does not carry 921600 baud; once the reader was unplugged and plugged in again, *=115200 "
                + "avoids that",
            "シリアル回線が 921600 baud に対応していません。リーダーを差し直し、*=115200 を指定すると避けられます"
        ),
        // Virtual readers
        ("polling at * kbit/s", "* kbit/s のポーリング"),
    ]
}
