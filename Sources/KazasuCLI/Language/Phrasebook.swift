// SPDX-License-Identifier: Apache-2.0

import CardModel

/// The details of errors that the layers below tell in English, in the language of this run. What is not here stays in
/// English, within brackets.
enum Phrasebook {
    /// A phrase and its translation; `*` stands for what changes, in the same order in both.
    private static let phrases: [(english: String, japanese: String)] = [
        // Readers
        ("* may be opened by members of the group *", "* を開けるのはグループ * のメンバーだけです"),
        ("* may not be opened", "* を開く権限がありません"), ("* is in use by another program", "* は他のプログラムが使用中です"),
        ("* does not exist", "* がありません"), ("there is no device at * (error *)", "* に装置がありません（エラー *）"),
        ("* cannot be opened (error *)", "* を開けません（エラー *）"), ("* is no device", "* は装置ではありません"),
        ("no reader answers at *", "* にリーダーが応答しません"), ("the reader was unplugged", "リーダーが抜かれました"),
        ("libnfc finds no reader as *", "libnfc は * にリーダーを見つけられません"),
        ("libnfc opens no reader as *", "libnfc は * を開けません"),
        ("libnfc reads no FeliCa card through its driver *", "libnfc のドライバー * では FeliCa を読めません"),
        ("another program holds it, perhaps pcscd", "他のプログラム（pcscd など）が使用中です"),
        ("the kernel driver * holds it", "カーネルのドライバー * が使用中です"),
        ("the reader gives no valid answer any more", "リーダーの応答が正しくありません"),
        ("libnfc reported error *", "libnfc のエラー *"), ("none is plugged in", "接続されていません"),
        ("the field did not come on in time (chip status 0A)", "電波を出せません（チップの状態 0A）"),
        ("the reader is too hot (chip status 0D)", "リーダーが過熱しています（チップの状態 0D）"),
        ("the reader's field draws too much current (chip status 2D)", "電流が多すぎます（チップの状態 2D）"),
        // PaSoRi
        ("another program holds it", "他のプログラムが使用中です"),
        ("no reader * is plugged in", "リーダー * は接続されていません"),
        ("it does not answer as a PaSoRi does", "PaSoRi としての応答がありません"),
        ("it has not the USB interface of a PaSoRi", "PaSoRi の USB インターフェースがありません"),
        ("it has no USB configuration", "USB の構成がありません"),
        ("the kernel driver does not give it away", "カーネルのドライバーが手放しません"),
        ("it cannot be claimed (libusb error *)", "占有できません（libusb のエラー *）"),
        ("libusb finds no USB", "libusb が USB を見つけられません"), ("libusb reported error *", "libusb のエラー *"),
        ("a USB transfer was refused", "USB 転送が拒否されました"), ("a USB transfer was too long", "USB 転送が長すぎます"),
        ("the reader is too hot", "リーダーが過熱しています"), ("the reader's field is off", "電波が出ていません"),
        ("another reader's field is in the way", "近くの別のリーダーの電波が妨げています"),
        ("the reader refuses a setting (status *)", "リーダーが設定を拒否しました（状態 *）"),
        ("the reader reported status *", "リーダーの状態 *"), ("the field stays on", "電波を止められません"),
        ("after *: comes serial=NUMBER or port=PATH, as in *", "*: の後には serial=番号 または port=パス が続きます（例: *）"),
        // PC/SC
        ("pcscd does not run", "pcscd が動いていません"), ("pcscd was stopped", "pcscd が停止しました"),
        ("pcscd knows no reader", "pcscd にリーダーがありません"),
        ("pcscd knows no reader of this name", "pcscd にこの名前のリーダーはありません"),
        ("pcscd refuses this user (a polkit rule may allow it)", "pcscd の使用が許可されていません（polkit の設定が必要です）"),
        ("this name means several readers: *", "この名前のリーダーが複数あります: *"),
        ("another program uses the card through pcscd", "他のプログラムが pcscd でカードを使用中です"),
        ("a card with contacts is in the reader", "接触型のカードが入っています"),
        ("this reader passes no FeliCa packets on through PC/SC", "このリーダーは PC/SC では FeliCa のコマンドを通しません"),
        (
            "this reader passes no such command of a Type 2 Tag on through PC/SC",
            "このリーダーは PC/SC では Type 2 Tag のこのコマンドを通しません"
        ),
        ("the reader cannot speak with this card (PC/SC *)", "リーダーがこのカードと通信できません（PC/SC *）"),
        ("cards of this kind", "この種類のカード"),
        // Connection strings
        ("this is no connection string of libnfc: *", "libnfc の接続文字列ではありません: *"),
        ("after *: comes the path of its device, as in *", "*: の後に装置のパスが必要です（例: *）"),
        ("it is longer than * bytes", "* バイトを超えています"), ("there is a colon too many", "コロンが多すぎます"),
        ("the speed is not a number", "速度が数字ではありません"), ("libnfc knows no speed but *", "使える速度は * です"),
        ("a PN532 knows no speed but *", "PN532 で使える速度は * です"),
        ("a USB reader is named by bus and device number, as in *", "USB リーダーはバスと装置の番号で指定します（例: *）"),
        // Transcripts
        ("the transcript is at its end, but * came", "記録の終わりの後に * が来ました"),
        ("line *: expected *, but * came", "* 行目は * ですが、* が来ました"), ("the member *", "キー * が必要です"),
        // Documents
        ("the document", "文書"),
        ("line *, byte *: nested deeper than *", "* 行目 * バイト目で入れ子が * 段を超えています"),
        ("line *, byte *: more than * values", "* 行目 * バイト目で値が * 個を超えています"),
        ("line *, byte *: not UTF-8", "* 行目 * バイト目が UTF-8 ではありません"),
        ("line *, byte *: the number is too large", "* 行目 * バイト目の数が大きすぎます"),
        ("line *, byte *: the text ends too early", "* 行目 * バイト目で文書が途切れています"),
        ("line *, byte *", "* 行目 * バイト目"), ("an object", "オブジェクト"), ("an array", "配列"), ("a string", "文字列"),
        ("true or false", "true または false"), ("a whole number", "整数"), ("16 bytes", "16 バイト"),
        ("four hexadecimal digits", "16 進 4 桁"), ("two hexadecimal digits", "16 進 2 桁"),
        ("* hexadecimal digits", "16 進 * 桁"), ("hexadecimal digits", "16 進数"), ("1 to 16 systems", "1～16 個のシステム"),
        // Tables of stations
        ("rows of station codes and names", "駅コードと駅名の行"), ("a date as *", "日付（例: *）"),
        ("area, line and station code (0 to 255), hexadecimal", "16 進の地区・線区・駅順（0～255）"),
        ("area, line and station code (0 to 255), decimal", "10 進の地区・線区・駅順（0～255）"),
        ("operator and stop code (0 to 65535), hexadecimal", "16 進の事業者・停留所（0～65535）"),
        ("operator and stop code (0 to 65535), decimal", "10 進の事業者・停留所（0～65535）"),
        ("no such member; known are *", "知らないキーです。使えるのは *"),
    ]

    static func translated(_ text: String) -> String {
        Language.current == .japanese ? japanese(text[...], depth: 0) : text
    }

    /// What stands for `*` is translated as well, at most twice.
    private static func japanese(_ text: Substring, depth: Int) -> String {
        for phrase in formats + drivers + phrases {
            guard let found = match(phrase.english, text) else { continue }
            var parts = found[...]
            return phrase.japanese.split(separator: "*", omittingEmptySubsequences: false)
                .map(String.init).reduce(nil as String?) { result, piece in
                    guard let result else { return piece }
                    let part = parts.popFirst() ?? ""
                    return result + (depth < 2 ? japanese(part, depth: depth + 1) : String(part)) + piece
                } ?? ""
        }
        return String(text)
    }

    /// What stands where the pattern has `*`; `nil` when the text does not fit.
    private static func match(_ pattern: String, _ text: Substring) -> [Substring]? {
        let pieces = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = pieces.first, let last = pieces.last, text.hasPrefix(first) else { return nil }
        guard pieces.count > 1 else { return text == first ? [] : nil }
        var rest = text.dropFirst(first.count)
        var parts: [Substring] = []
        for piece in pieces.dropFirst().dropLast() {
            guard let range = rest.firstRange(of: piece) else { return nil }
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        guard rest.hasSuffix(last) else { return nil }
        return parts + [rest.dropLast(last.count)]
    }
}

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
            "its serial line does not carry * baud; once the reader was unplugged and plugged in again, *=115200 "
                + "avoids that",
            "シリアル回線が * baud に対応していません。リーダーを差し直し、*=115200 を指定すると避けられます"
        ),
        // Virtual readers
        ("polling at * kbit/s", "* kbit/s のポーリング"),
    ]
}

extension Phrasebook {
    /// What the readers of dump files say, longer phrases before those that they begin with.
    static let formats: [(english: String, japanese: String)] = [
        ("* bytes in hexadecimal or in base64", "16 進または base64 の * バイト"),
        ("* bytes in hexadecimal", "16 進の * バイト"), ("* bytes in base64", "base64 の * バイト"),
        ("an IDm of 8 bytes", "8 バイトの IDm"), ("a PMm of 8 bytes", "8 バイトの PMm"),
        ("a card with its IDm", "IDm のあるカード"), ("* * before this line, not *", "この行までに * 個の *（実際は * 個）"),
        ("a block after a line with an asterisk", "* の行の後のブロック"),
        ("a block before a line with an asterisk", "* の行の前のブロック"), ("a block after its service", "サービスの後のブロック"),
        ("a block number above the one before", "前の行より大きいブロック番号"),
        ("a block number from 0 to *", "0～* のブロック番号"), ("a block number of at most FFFF", "FFFF 以下のブロック番号"),
        ("a block number that stands once", "重複しないブロック番号"), ("a block number", "ブロック番号"),
        ("a block of a service", "サービスのブロック"),
        ("no system beside the blocks of a FeliCa Lite", "FeliCa Lite のブロックと並ばないシステム"),
        ("a block of the service named before it", "直前に書かれたサービスのブロック"),
        ("a block that stands once", "重複しないブロック"), ("blocks that stand once", "重複しないブロック"),
        ("a card type Suica or Japan Transit IC", "カード種別 Suica か Japan Transit IC"),
        ("a code in the order of the wire with the number *", "番号 * の、通信のバイト順のコード"),
        ("a code with the number *", "番号 * のコード"), ("a code of four hexadecimal digits", "16 進 4 桁のコード"),
        ("a code of two bytes", "2 バイトのコード"),
        ("a command that selects a service before blocks are read", "ブロックを読む前にサービスを選ぶコマンド"),
        ("a count", "個数"), ("a decimal number from 0 to 255 as its name", "名前は 10 進の 0～255"),
        ("a decimal number as its name", "名前は 10 進数"), ("a decimal service code as its name", "名前は 10 進のサービスコード"),
        ("a decimal system code as its name", "名前は 10 進のシステムコード"), ("a field *", "項目 *"),
        ("a line of nfcpy's dump", "nfcpy のダンプの行"), ("a line that names the system", "システムを示す行"),
        ("a number of at most four hexadecimal digits", "16 進 4 桁以内の数"),
        ("a record of a transit card's history (service 090F)", "交通系カードの履歴（サービス 090F）"),
        ("a service code whose low six bits are the attribute", "下位 6 ビットが属性と一致するサービスコード"),
        ("a service for the blocks", "ブロックのサービス"), ("a service in a system", "システムの中のサービス"),
        ("a system before its services", "サービスの前のシステム"),
        ("a system code of four hexadecimal digits as its name", "名前は 16 進 4 桁のシステムコード"),
        ("four hexadecimal digits as its name", "名前は 16 進 4 桁"),
        ("a system or a block before the end", "ファイルの終わりまでにシステムかブロック"),
        ("area or service_group", "area か service_group"), ("area or service", "area か service"),
        ("at most two systems of a FeliCa Lite", "FeliCa Lite のシステムは 2 個まで"),
        ("at most 16 systems", "16 個以下のシステム"),
        ("at most * blocks", "* 個以下のブロック"), ("blocks of 16 bytes, then 90 00", "16 バイトのブロックと 90 00"),
        ("codes as 0x090F", "0x090F の形のコード"), ("data format 1 or 2", "データ形式 1 か 2"),
        ("fewer repeated blocks", "もっと少ない繰り返し"),
        ("services that tell the system before the end of the log", "記録の終わりまでにシステムがわかるサービス"),
        ("system, area or service", "system、area、service のどれか"), ("a device type", "デバイス種別"),
        ("the device type FeliCa", "デバイス種別 FeliCa"),
        ("the number and attribute of a service", "サービスの番号と属性"), ("version 2, 3 or 4", "バージョン 2、3、4 のどれか"),
        ("Public or Private, as the code of the service says", "サービスのコードに合う Public か Private"),
        ("a FeliCa packet as long as its first byte says", "先頭のバイトと長さが合う FeliCa パケット"),
        ("a FeliCa packet in hexadecimal", "16 進の FeliCa パケット"), ("a whole FeliCa packet", "欠けのない FeliCa パケット"),
        ("the answer to the command before it", "直前のコマンドへの応答"), ("COMMAND or RESPONSE", "COMMAND か RESPONSE"),
        ("a page that stands once", "重複しないページ"), ("at most 65536 pages", "65536 個以下のページ"),
        ("at least one page", "1 個以上のページ"), ("a list of * bytes", "* バイトの配列"),
        ("4, 7 or 10 bytes in hexadecimal", "16 進の 4、7、10 バイト"), ("pages", "ページ"), ("areas", "エリア"),
        ("services", "サービス"), ("systems", "システム"), ("blocks", "ブロック"),
        ("a block with its decimal address", "10 進のアドレスがあるブロック"), ("a decimal code", "10 進のコード"),
        ("a block in a service", "サービスの中のブロック"), ("at most * records", "* 件以下の履歴"),
        ("elements nested less than * deep", "入れ子が * 段より浅い要素"),
        ("scanned_at in milliseconds since 1970", "1970 年からのミリ秒の scanned_at"), ("XML (*)", "XML（*）"),
        ("UTF-8", "UTF-8"), ("a closing quote", "閉じる引用符"),
    ]
}
