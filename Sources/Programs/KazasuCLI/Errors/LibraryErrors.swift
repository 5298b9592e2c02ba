// SPDX-License-Identifier: Apache-2.0

package import Kazasu
import ReaderDiagnosis

// What the command line adds to the sentences of the library's errors: exit status, identifier and remedy.

extension SelfDescribing {
    /// The sentence in the language of this run.
    package var words: String { message[Language.current] }
}

extension CommandError {
    /// An error of the library with its own sentence.
    package init(
        _ status: ExitStatus, _ reason: String, _ error: some SelfDescribing, suffix: String = "", hint: String?
    ) {
        self.init(status, reason, error.words + suffix, hint: hint)
    }

    /// Why there is no reader, no card, or not the requested data.
    package init(_ error: KazasuError, keepingWhatWasRead: Bool = false) {
        switch error {
        case .noReader(let found): self = .noReader(found, error)
        case .unknownReader(let id):
            let list = Caller.current.command("readers")
            self.init(
                .usage, "unknownReader", error,
                hint: ReaderName.hint(for: id)
                    ?? tr(
                        "use rcs380, rcs300, rcs320, rcs310, acr122, pcsc:NAME, pn532:PORT, a libnfc connection string, virtual:FILE or replay:FILE; "
                            + "\(list) lists connected readers",
                        "rcs380、rcs300、rcs320、rcs310、acr122、pcsc:名前、pn532:ポート、libnfc の接続文字列、virtual:ファイル、replay:ファイル が使えます。接続中のリーダーは \(list) で確認できます"
                    ))
        case .reader(let error, _): self.init(error)
        case .unreadableFile(let path, let errno): self = Files.unreadable(path, errno)
        case .badFile(let path, let error): self.init(error, path: path)
        case .noSimulatedReader:
            self.init(
                .noReader, "absent", error,
                hint: tr("/dev/pts must be mounted", "/dev/pts がマウントされている必要があります"))
        case .cannotLink:
            self.init(
                .cannotWrite, "cannotWrite", error,
                hint: tr("use a new path with --link, or omit it", "--link に新しいパスを指定するか、--link を省いてください"))
        case .noCard: self = .noCard()
        case .heard(let heard):
            self.init(.interruptedReading, "notSelected", error, hint: Remedy.after(heard))
        case .severalCards: self.init(.interruptedReading, "multipleCards", error, hint: Remedy.oneCard)
        case .wrongCard(let card): self.init(card)
        case .reading(let error): self.init(error, keepingWhatWasRead: keepingWhatWasRead)
        case .refused: self.init(.refused, "refused", error, hint: Remedy.scan)
        case .decoding(let error): self.init(error)
        case .fileCard(let error): self.init(error)
        case .apdu(let error): self.init(error)
        case .tag(let error): self.init(error)
        case .lite(let error): self.init(error)
        case .classic(let error): self.init(error)
        case .standard(let error): self.init(error)
        case .blockWrite(let error): self.init(error)
        case .keyChange(let error): self.init(error)
        case .provision(let error): self.init(error)
        case .cancelled: self.init(ReadingError.cancelled, keepingWhatWasRead: keepingWhatWasRead)
        }
    }

    /// A card is present, but not one that the command can use.
    package init(_ card: WrongCard) {
        self.init(.otherCard, "otherCard", card, hint: CommandError.hint(card))
    }

    /// No card came in time.
    package static func noCard() -> CommandError {
        CommandError(
            .noCard, "noCard", KazasuError.noCard,
            hint: longerWait)
    }

    private static var longerWait: String {
        let caller = Caller.current
        let seconds = caller.option("timeout", tr("SECONDS", "秒"))
        let most = tr("put one card flat on the reader; ", "カードを 1 枚だけ平らに置いてください。")
        switch caller {
        case .http: return most + tr("\(seconds), at most 60, waits longer", "\(seconds)（60 まで）で長く待てます")
        case .commandLine, .rpc, .python:
            let forever = caller.option("timeout", caller == .commandLine ? "forever" : "\"forever\"")
            return most + tr("\(seconds) or \(forever) waits longer", "\(seconds) または \(forever) で長く待てます")
        }
    }

    /// No reader can be used.
    private static func noReader(_ listings: [ReaderListing], _ error: KazasuError) -> CommandError {
        for listing in listings where !ChipCardServiceError.serves(listing.id) {
            if case .unavailable(let reason, let detail) = listing.state {
                return CommandError(
                    TransportError.readerUnavailable(reason: reason, detail: detail.of(listing.id)), isOpening: true)
            }
        }
        if let name = Doctor(Machine()).readersOfService().first, let fault = ChipCardServiceError.now() {
            return CommandError(
                .noReader, fault.reason.rawValue,
                tr("\(name) needs pcscd: \(fault.message)", "\(name) には pcscd が必要です（\(fault.message)）"),
                hint: fault.remedy)
        }
        for listing in listings where ChipCardServiceError.serves(listing.id) {
            if case .unavailable(let reason, let detail) = listing.state,
                let fault = ChipCardServiceError(.readerUnavailable(reason: reason, detail: detail))
            {
                return CommandError(.noReader, fault.reason.rawValue, fault.message, hint: fault.remedy)
            }
        }
        guard let port = listings.first(where: { !ChipCardServiceError.serves($0.id) }) else {
            return CommandError(.noReader, "absent", error, hint: hint(.absent))
        }
        return CommandError(
            .noReader, "absent", KazasuError.noReader([ReaderListing(id: port.id, state: .unknown)]),
            hint: tr(
                "for a PN532 on a serial port, add \(Caller.current.option("reader", port.id))",
                "シリアルポートの PN532 なら \(Caller.current.option("reader", port.id)) を付けてください"))
    }

    /// The command that reads the card, where it is known; else the one that identifies it.
    static func hint(_ card: WrongCard) -> String {
        switch card.reason {
        case .kind where card.isWithoutLicense:
            let command = Caller.current.command("mynumber")
            return tr(
                "when the card is renewed, the license must be written to it again; \(command) reads the card itself",
                "カードを更新したあとは、免許情報の再登録が必要です。カード自体は \(command) で読めます")
        case .otherThanDump: return tr("put the same card on the reader", "同じカードをかざしてください")
        default: return ReadingCommands(card).hint
        }
    }
}

// MARK: Readers and cards

extension CommandError {
    /// Why a reading ended early.
    package init(_ error: ReadingError, keepingWhatWasRead: Bool = false) {
        let kept = keepingWhatWasRead ? tr("; the data read so far is kept", "。それまでに読んだ分は残っています") : ""
        switch error {
        case .cardLost: self.init(.interruptedReading, "cardLost", error, suffix: kept, hint: Remedy.leave)
        case .radio: self.init(.interruptedReading, "radioError", error, suffix: kept, hint: Remedy.move)
        case .badAnswer: self.init(.interruptedReading, "badAnswer", error, suffix: kept, hint: Remedy.move)
        case .cardSilent: self.init(.interruptedReading, "cardSilent", error, suffix: kept, hint: Remedy.move)
        case .reader(let error): self.init(error, suffix: kept)
        case .cancelled: self = .cancelled(kept)
        }
    }

    /// Why a reader failed.
    ///
    /// - Parameter isOpening: whether the reader was not in use yet; a reader that is lost later cut the reading short.
    package init(_ error: TransportError, suffix: String = "", isOpening: Bool = false) {
        switch error {
        case .readerFailed(let detail) where detail.code == .tooHot:
            self.init(.interruptedReading, "readerFailed", error, suffix: suffix, hint: Remedy.coolDown)
        case .readerUnavailable(.absent, _) where !isOpening, .readerTimeout, .readerFailed:
            self.init(.interruptedReading, "readerFailed", error, suffix: suffix, hint: Remedy.replug)
        case .readerUnavailable(let reason, let detail):
            self.init(.noReader, reason.rawValue, error, suffix: suffix, hint: CommandError.hint(reason, detail))
        case .noAnswer, .cardReleased:
            self.init(.interruptedReading, "cardLost", error, suffix: suffix, hint: Remedy.leave)
        case .corrupted: self.init(.interruptedReading, "radioError", error, suffix: suffix, hint: Remedy.move)
        case .heard(let heard):
            self.init(.interruptedReading, "notSelected", error, suffix: suffix, hint: Remedy.after(heard))
        case .frameTooLong:
            self.init(.usage, "frameTooLong", error, hint: tr("send a shorter packet", "短いパケットにしてください"))
        case .answerTooLong:
            self.init(
                .interruptedReading, "answerTooLong", error,
                hint: tr("read fewer blocks at a time", "一度に読むブロックを減らしてください"))
        case .cardTooSlow: self.init(.interruptedReading, "cardTooSlow", error, suffix: suffix, hint: Remedy.move)
        case .unsupported:
            self.init(
                .noReader, "unsupported", error,
                hint: Remedy.otherReader)
        case .cancelled: self = .cancelled(suffix)
        case .outOfScript(let detail):
            let isMasked = detail.code == .transcriptLeavesOut
            self.init(
                .badFile, "outOfScript", error, suffix: suffix,
                hint: isMasked
                    ? tr(
                        "a masked recording plays searches and lists, but no contents of a card",
                        "伏せた記録で再生できるのは検出と一覧までで、カードの内容は含まれません")
                    : tr(
                        "use the command and options that it was recorded with", "記録したときと同じコマンドとオプションを指定してください"))
        }
    }

    /// The card refused.
    ///
    /// - Parameter what: what it refused, as in "service 090F".
    package init(refusal: RefusalReason, _ what: String) {
        let message = refusal.message(LocalizedText(what, what))
        self.init(.refused, "refused", message[Language.current], hint: Remedy.scan)
    }

    /// The fix for a reader that cannot be used: where its group alone may open it, the rules are in place already.
    package static func hint(_ reason: UnavailableReason, _ detail: TransportError.Reason?) -> String {
        if let detail, detail.code == .deviceForGroup, let group = detail.values.last,
            group != UdevRules.pcscdGroup,
            let remedy = Check(.notInGroup, detail.values.map { LocalizedText($0, $0) }).hint
        {
            return remedy
        }
        if detail?.code == .hanging { return Remedy.answer }
        if let detail, [.libnfcFindsNone, .libnfcOpensNone].contains(detail.code), let name = detail.values.first,
            let hint = withoutLibnfc(name)
        {
            return hint
        }
        return hint(reason)
    }

    /// The driver that reaches a reader of libnfc without it.
    private static func withoutLibnfc(_ name: String) -> String? {
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.first {
        case "pn532_uart" where parts.count > 1 && !parts[1].isEmpty:
            let reader = Caller.current.option("reader", "pn532:\(parts[1])")
            return tr(
                "cut the board's power once, then use \(reader), which never puts it to sleep",
                "ボードの電源を一度切ってから \(reader) を使ってください（スリープさせません）")
        case "acr122_usb":
            let reader = Caller.current.option("reader", "acr122")
            return tr("try \(reader), which does without libnfc", "libnfc を使わない \(reader) を試してください")
        default: return nil
        }
    }

    private static func hint(_ reason: UnavailableReason) -> String {
        switch reason {
        case .absent: absent
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
                "use an ID that \(Caller.current.command("readers")) lists, such as pn532_uart:/dev/ttyUSB0 or acr122_usb:port=1-1.3",
                "\(Caller.current.command("readers")) の表示どおりに指定してください（例: pn532_uart:/dev/ttyUSB0、acr122_usb:port=1-1.3）"
            )
        }
    }

    private static var absent: String {
        let caller = Caller.current
        let list = tr(
            "\(caller.command("readers")) lists connected readers", "\(caller.command("readers")) で接続中のリーダーを確認できます")
        // Nobody names a file of the server.
        if case .http = caller { return list }
        let virtual = caller.option("reader", tr("virtual:FILE", "virtual:ファイル"))
        return list + tr("; \(virtual) works without one", "。\(virtual) ならリーダーは不要です")
    }
}

// MARK: Files

extension CommandError {
    /// Why a document could not be read.
    package init(_ error: DocumentError, path: String) {
        let name = Files.name(path)
        switch error {
        case .notJSON(.endsEarly, 1, 1):
            let dump = Caller.current.command("dump", .output)
            self.init(
                .badFile, "badFile", tr("\(name) is empty", LineBreaker.joined(name, "は空です")),
                hint: tr("give a dump, such as one from \(dump)", "\(dump) で作ったダンプなどを指定してください"))
        case .unknownSchema("kazasu.card/1", _):
            self.init(
                .badFile, "badFile",
                tr("\(name) is a virtual card, not a dump", "\(name) は仮想カードのファイルで、ダンプではありません"),
                hint: tr("use it with --reader virtual:FILE", "--reader virtual:ファイル として使ってください"))
        case .unknownFormat:
            self.init(
                .badFile, "badFile", "\(name): \(error.words)",
                hint: tr(
                    "\(Documents.path("formats.md")) lists the formats", "対応する形式は \(Documents.path("formats.md")) にあります"
                ))
        case .notImported:
            self.init(
                .badFile, "notImported", "\(name): \(error.words)",
                hint: tr(
                    "\(Documents.path("formats.md")) lists what is imported",
                    "取り込めるものは \(Documents.path("formats.md")) にあります"))
        default: self.init(.badFile, "badFile", "\(name): \(error.words)", hint: CommandError.hint(error))
        }
    }

    /// How to proceed with a document of another kind than requested.
    private static func hint(_ error: DocumentError) -> String {
        let dump = Caller.current.command("dump", .output)
        return switch error {
        case .unknownSchema(let found, _) where found.hasPrefix("kazasu."):
            tr(
                "this is command output, not a dump; create a dump with \(dump)",
                "ダンプではなく出力結果です。ダンプは \(dump) で作れます")
        default: tr("fix the file at that position, or create it again", "その箇所を直すか、ファイルを作り直してください")
        }
    }
}

/// Remedies of several errors.
enum Remedy {
    static let leave = tr("leave it on the reader until the command ends", "終わるまでカードを置いたままにしてください")
    static let move = tr("move the card a little, away from metal and other cards", "カードの位置をずらし、金属や他のカードから離してください")
    static let coolDown = tr(
        "let the reader cool down for some minutes, with no card on it", "カードを載せずに数分置き、リーダーを冷ましてください")
    static let oneCard = tr(
        "put one card alone flat on the reader, away from metal", "カードを 1 枚だけ、金属から離して平らに置いてください")
    static func after(_ heard: Heard) -> String {
        if case .refused = heard { otherReader } else { oneCard }
    }

    static let installOpenSSL = tr(
        "install OpenSSL 3 (libssl3 or openssl-libs)", "OpenSSL 3（libssl3 または openssl-libs）を入れてください")
    static let replug = tr("unplug it and plug it back in", "リーダーを差し直してください")
    static let answer = tr(
        "unplug the reader and plug it back in; restart pcscd if it drives the reader",
        "リーダーを差し直してください。pcscd 経由のリーダーなら pcscd を再起動してください")
    static var otherReader: String {
        let readers = Caller.current.command("readers")
        return tr("use another reader: \(readers) lists them", "別のリーダーを使ってください: \(readers)")
    }
    static var saveDump: String {
        let dump = Caller.current.command("dump", .shell("-o card.json"))
        return tr("\(dump) saves its contents", "\(dump) で中身を保存できます")
    }
    static var scan: String {
        let scan = Caller.current.command("scan")
        return tr("\(scan) shows what is open", "\(scan) で読めるものを確認できます")
    }
    static var contents: String {
        let scan = Caller.current.command("scan")
        return tr("\(scan) shows what is on it", "\(scan) で中身を確認できます")
    }
    static var identify: String {
        let poll = Caller.current.command("poll", "applications")
        return tr("\(poll) identifies the card", "\(poll) で種類を確認できます")
    }
    static let checkPIN = tr("check the PIN before the next try", "暗証番号を確かめてからやり直してください")
}
