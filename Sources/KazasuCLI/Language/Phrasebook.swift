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
