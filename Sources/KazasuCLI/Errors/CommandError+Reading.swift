// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import CardReading
import FeliCa
package import NFCTransport

extension CommandError {
    /// Why a reading ended early.
    package init(_ error: ReadingError, keepingWhatWasRead: Bool = false) {
        let kept =
            keepingWhatWasRead ? tr("; the data read so far is kept", "。それまでに読んだ分は残っています") : ""
        switch error {
        case .cardLost:
            self.init(
                .interruptedReading, "cardLost", tr("the card left the reader", "カードがリーダーから離れました") + kept,
                hint: CommandError.leaveIt)
        case .radio:
            self.init(
                .interruptedReading, "radioError",
                tr("the card's answers were corrupted repeatedly", "カードの応答が何度も壊れて届きました") + kept,
                hint: CommandError.moveIt)
        case .badAnswer(let error):
            self.init(
                .interruptedReading, "badAnswer",
                tr("the card's answer violates the protocol", "カードの応答が規格に合いません") + CommandError.place(error)
                    + kept,
                hint: CommandError.moveIt)
        case .reader(let error): self.init(error, suffix: kept)
        case .cancelled: self = .cancelled(kept)
        @unknown default: self.init(.bug, "unknown", "\(error)")
        }
    }

    /// Why a reader failed.
    ///
    /// - Parameter isOpening: whether the reader was not in use yet; a reader that is lost later cut the reading
    ///   short.
    package init(_ error: TransportError, suffix: String = "", isOpening: Bool = false) {
        switch error {
        case .readerUnavailable(.absent, let detail) where !isOpening:
            self.init(
                .interruptedReading, "readerFailed", detail.text[Language.current] + suffix, hint: CommandError.replug)
        case .readerUnavailable(let reason, let detail):
            self.init(
                .noReader, reason.rawValue,
                CommandError.sentence(reason, detail) + suffix, hint: CommandError.hint(reason))
        case .readerTimeout:
            self.init(
                .interruptedReading, "readerFailed",
                tr("the reader stopped answering", "リーダーが応答しなくなりました") + suffix,
                hint: CommandError.replug)
        case .readerFailed(let reason):
            let detail = reason.text[Language.current]
            self.init(
                .interruptedReading, "readerFailed",
                tr("the reader reported an error: \(detail)", "リーダーが異常を知らせました（\(detail)）") + suffix,
                hint: CommandError.replug)
        case .noAnswer, .cardReleased:
            self.init(
                .interruptedReading, "cardLost", tr("the card left the reader", "カードがリーダーから離れました") + suffix,
                hint: CommandError.leaveIt)
        case .corrupted:
            self.init(
                .interruptedReading, "radioError", tr("the card's answer was corrupted", "カードの応答が壊れて届きました") + suffix,
                hint: CommandError.moveIt)
        case .frameTooLong(let length, let limit):
            self.init(
                .usage, "frameTooLong",
                tr(
                    "a frame of \(length) bytes is longer than the \(limit) that the reader can send",
                    "\(length) バイトのフレームはリーダーの上限 \(limit) を超えます"),
                hint: tr("send a shorter packet", "短いパケットにしてください"))
        case .answerTooLong:
            self.init(
                .interruptedReading, "answerTooLong",
                tr("the card's answer is longer than the reader can pass on", "カードの応答がリーダーの上限を超えます"),
                hint: tr("read fewer blocks at a time", "一度に読むブロックを減らしてください"))
        case .unsupported(let reason):
            let detail = reason.text[Language.current]
            self.init(
                .noReader, "unsupported",
                tr("the reader cannot do this: \(detail)", "リーダーがこの機能に対応していません（\(detail)）"),
                hint: tr("use another reader: 'kazasu readers' lists them", "別のリーダーを使ってください: 'kazasu readers'"))
        case .cancelled: self = .cancelled(suffix)
        case .outOfScript(let reason):
            let detail = reason.text[Language.current]
            self.init(
                .badFile, "outOfScript",
                tr("this recording does not match the command (\(detail))", "記録とコマンドが一致しません（\(detail)）") + suffix,
                hint: tr(
                    "use the command and options that it was recorded with", "記録したときと同じコマンドとオプションを指定してください"))
        @unknown default: self.init(.bug, "unknown", "\(error)")
        }
    }

    /// Why a document could not be read.
    package init(_ error: DocumentError, path: String) {
        let what: String
        switch error {
        case .notJSON(.endsEarly, 1, 1):
            self.init(
                .badFile, "badFile", tr("\(Files.name(path)) is empty", "\(Files.name(path)) は空です"),
                hint: tr("give a dump, as 'kazasu dump -o FILE' writes it", "'kazasu dump -o ファイル' で作ったダンプなどを指定してください"))
            return
        case .notJSON(let reason, let line, let byte):
            what = tr(
                "not JSON (line \(line), byte \(byte)\(reason.text.english))",
                "JSON ではありません（\(line) 行目 \(byte) バイト目\(reason.text.japanese)）")
        case .missing(let key): what = tr("\(key) is missing", "\(key) がありません")
        case .malformed(let key, let expected):
            what = tr(
                "\(key.isEmpty ? "the document" : key): expected \(expected.text.english)",
                "\(key.isEmpty ? "文書" : key) の値が正しくありません（\(expected.text.japanese)）")
        case .unknownSchema(let found, let supported):
            what = tr(
                "unsupported schema \(found) (this version reads \(supported))",
                "スキーマ \(found) には対応していません（読めるのは \(supported)）")
        case .unknownFormat:
            self.init(
                .badFile, "badFile",
                tr(
                    "\(Files.name(path)): not a dump in any known format",
                    "\(Files.name(path)): 対応している形式のダンプではありません"),
                hint: tr("Docs/formats.md lists the formats", "対応する形式は Docs/formats.md にあります"))
            return
        case .notImported(let kind):
            self.init(
                .badFile, "notImported",
                tr(
                    "\(Files.name(path)): importing this kind of card is not supported (\(kind))",
                    "\(Files.name(path)): この種類のカードの取り込みには対応していません（\(kind)）"),
                hint: tr("Docs/formats.md lists what is imported", "取り込めるものは Docs/formats.md にあります"))
            return
        case .tooLong(let bytes, let limit):
            what = tr(
                "\(bytes) bytes exceed the limit of \(limit)", "\(bytes) バイトは上限 \(limit) を超えます")
        case .malformedLine(let line, let expected):
            what = tr(
                "line \(line): expected \(expected.text.english)",
                "\(line) 行目が正しくありません（\(expected.text.japanese)）")
        @unknown default: what = "\(error)"
        }
        self.init(.badFile, "badFile", "\(Files.name(path)): \(what)", hint: CommandError.hint(error))
    }

    /// How to proceed with a document of another kind than requested.
    private static func hint(_ error: DocumentError) -> String {
        switch error {
        case .unknownSchema("kazasu.card/1", _):
            tr(
                "this is a virtual card file; use it with --reader virtual:FILE",
                "仮想カードのファイルです。--reader virtual:ファイル で読めます")
        case .unknownSchema(let found, _) where found.hasPrefix("kazasu."):
            tr(
                "this is command output, not a dump; create a dump with 'kazasu dump -o FILE'",
                "ダンプではなく出力結果です。ダンプは 'kazasu dump -o ファイル' で作れます")
        default: tr("fix the file at that position, or create it again", "その箇所を直すか、ファイルを作り直してください")
        }
    }

    /// The card refused.
    package init(refusal: RefusalReason, _ what: String) {
        switch refusal {
        case .flags(let flags):
            let meaning = flags.flag2.meaning.map { " (\($0[Language.current]))" } ?? ""
            self.init(
                .refused, "refused",
                tr(
                    "the card refused \(what): status \(flags)\(meaning)",
                    "\(what) はカードに拒否されました: ステータス \(flags)\(meaning)"), hint: CommandError.look)
        case .silence:
            self.init(
                .refused, "refused",
                tr("the card does not answer requests for \(what)", "\(what) の読み出しにカードが応答しません"),
                hint: CommandError.look)
        }
    }

    /// Interrupted by a signal.
    package static func cancelled(_ suffix: String = "") -> CommandError {
        CommandError(Interrupt.status, "interrupted", tr("interrupted", "中断しました") + suffix)
    }

    /// A bug: a state that no input should cause.
    package static func bug(_ what: String) -> CommandError {
        CommandError(
            .bug, "bug", tr("a bug in Kazasu: ", "Kazasu の不具合: ") + what,
            hint: tr("please report it with the output of --trace and --redact", "--trace と --redact の出力を添えてご報告ください"))
    }

    private static func place(_ error: FeliCaError) -> String {
        guard case .malformed(let command, let flaw) = error else { return "" }
        return tr(" (\(command.title): \(flaw.words))", "（\(command.title): \(flaw.words)）")
    }

    private static func sentence(_ reason: UnavailableReason, _ detail: TransportError.Reason) -> String {
        let detail = detail.text[Language.current]
        return switch reason {
        case .absent: detail
        case .busy: tr("the reader is in use: \(detail)", "リーダーは使用中です（\(detail)）")
        case .permission: tr("no permission to use the reader: \(detail)", "リーダーを開く権限がありません（\(detail)）")
        case .unsupported: tr("the reader cannot be used: \(detail)", "このリーダーは使えません（\(detail)）")
        }
    }

    private static let leaveIt = tr("leave it on the reader until the command ends", "終わるまでカードを置いたままにしてください")
    private static let moveIt = tr(
        "move the card a little, away from metal and other cards", "カードの位置をずらし、金属や他のカードから離してください")
    private static let replug = tr("unplug it and plug it back in", "リーダーを差し直してください")
    private static let look = tr("'kazasu scan' shows what is open", "'kazasu scan' で読めるものを確認できます")

    /// The fix for a reader that cannot be used.
    package static func hint(_ reason: UnavailableReason) -> String {
        switch reason {
        case .absent:
            tr(
                "'kazasu readers' lists connected readers; --reader virtual:FILE works without one",
                "'kazasu readers' で接続中のリーダーを確認できます。--reader virtual:ファイル ならリーダーは不要です")
        case .busy:
            tr(
                "quit the other program that uses it (pcscd, another kazasu), then try again",
                "リーダーを使っている他のプログラム（pcscd、別の kazasu など）を終えてください")
        case .permission:
            tr(
                "give your user access: 'sudo usermod -aG dialout $USER' for a serial port, 'sudo kazasu doctor --fix' for USB",
                "アクセス権を与えてください: シリアルなら 'sudo usermod -aG dialout $USER'、USB なら 'sudo kazasu doctor --fix'")
        case .unsupported:
            tr(
                "use an ID that 'kazasu readers' prints, such as pn532_uart:/dev/ttyUSB0 or acr122_usb:003:005",
                "'kazasu readers' の表示どおりに指定してください（例: pn532_uart:/dev/ttyUSB0、acr122_usb:003:005）")
        }
    }
}

extension FeliCaError.Reason {
    /// The fault in an answer, for display and without personal data.
    package var words: String {
        switch self {
        case .empty: tr("it is empty", "空の応答")
        case .length, .tooShort, .trailingBytes: tr("its length is wrong", "長さの誤り")
        case .responseCode: tr("its response code is wrong", "レスポンスコードの誤り")
        case .idm: tr("it carries another card's IDm", "別のカードの IDm")
        case .count: tr("its count is wrong", "個数の誤り")
        case .value, .echo: tr("a value in it is wrong", "値の誤り")
        @unknown default: tr("it is wrong", "誤った応答")
        }
    }
}

extension CommandCode {
    /// The manual's name for the command, or its code.
    package var title: String { name ?? "\(self)" }
}
