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
            self.init(.kazasuUnknownReader, error)
            if let nearest = ReaderName.hint(for: id) { hint = nearest }
        case .reader(let error, _): self.init(error)
        case .unreadableFile(let path, let errno): self = Files.unreadable(path, errno)
        case .badFile(let path, let error): self.init(error, path: path)
        case .noSimulatedReader: self.init(.kazasuNoSimulatedReader, error)
        case .cannotLink: self.init(.kazasuCannotLink, error)
        case .noCard: self = .noCard()
        case .heard(let heard): self.init(CommandError.code(heard), error)
        case .severalCards: self.init(.kazasuSeveralCards, error)
        case .wrongCard(let card): self.init(card)
        case .reading(let error): self.init(error, keepingWhatWasRead: keepingWhatWasRead)
        case .refused: self.init(.kazasuRefused, error)
        case .decoding(let error): self.init(error)
        case .fileCard(let error): self.init(error)
        case .apdu(let error): self.init(error)
        case .tag(let error): self.init(error)
        case .lite(let error): self.init(error)
        case .classic(let error): self.init(error)
        case .desfire(let error): self.init(error)
        case .standard(let error): self.init(error)
        case .blockWrite(let error): self.init(error)
        case .keyChange(let error): self.init(error)
        case .provision(let error): self.init(error)
        case .provisionDESFire(let error): self.init(error)
        case .cancelled: self.init(ReadingError.cancelled, keepingWhatWasRead: keepingWhatWasRead)
        }
    }

    /// A card is present, but not one that the command can use.
    package init(_ card: WrongCard) {
        self.init(.kazasuWrongCard, card, values: [CommandError.hint(card)])
    }

    /// No card came in time.
    package static func noCard() -> CommandError {
        CommandError(.kazasuNoCard, KazasuError.noCard, values: [longerWait])
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
            return CommandError(.kazasuNoReader, error, values: [hint(.absent)])
        }
        return CommandError(
            .kazasuOnlyPort, KazasuError.noReader([ReaderListing(id: port.id, state: .unknown)]),
            values: [Caller.current.option("reader", port.id)])
    }

    /// The command that reads the card, where it is known; else the one that identifies it.
    package static func hint(_ card: WrongCard) -> String {
        switch card.reason {
        case .kind where card.isWithoutLicense:
            let command = Caller.current.command("mynumber")
            return tr(
                "when the card is renewed, the license must be written to it again; \(command) reads the card itself",
                "カードを更新したあとは、免許情報の再登録が必要です。カード自体は \(command) で読めます")
        case .otherThanDump: return Remedy.sameCard.text()
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
        case .cardLost: self.init(.readingCardLost, error, suffix: kept)
        case .radio: self.init(.readingRadio, error, suffix: kept)
        case .badAnswer: self.init(.readingBadAnswer, error, suffix: kept)
        case .cardSilent: self.init(.readingCardSilent, error, suffix: kept)
        case .reader(let error): self.init(error, suffix: kept)
        case .cancelled: self = .cancelled(kept)
        }
    }

    /// Why a reader failed.
    ///
    /// - Parameter isOpening: whether the reader was not in use yet; a reader that is lost later cut the reading short.
    package init(_ error: TransportError, suffix: String = "", isOpening: Bool = false) {
        switch error {
        case .readerFailed(let detail) where detail.code == .tooHot: self.init(.readerTooHot, error, suffix: suffix)
        case .readerUnavailable(.absent, _) where !isOpening, .readerTimeout, .readerFailed:
            self.init(.readerFailed, error, suffix: suffix)
        case .readerUnavailable(let reason, let detail):
            self.init(.noReader, reason.rawValue, error, suffix: suffix, hint: CommandError.hint(reason, detail))
        case .noAnswer, .cardReleased: self.init(.readerNoAnswer, error, suffix: suffix)
        case .corrupted: self.init(.readerCorrupted, error, suffix: suffix)
        case .heard(let heard): self.init(CommandError.code(heard), error, suffix: suffix)
        case .frameTooLong: self.init(.readerFrameTooLong, error)
        case .answerTooLong: self.init(.readerAnswerTooLong, error)
        case .cardTooSlow: self.init(.readerCardTooSlow, error, suffix: suffix)
        case .unsupported: self.init(.readerUnsupported, error)
        case .cancelled: self = .cancelled(suffix)
        case .outOfScript(let detail):
            let isMasked = detail.code == .transcriptLeavesOut
            self.init(isMasked ? .readerMaskedRecording : .readerOutOfScript, error, suffix: suffix)
        }
    }

    /// Something answered, but no card could be selected.
    private static func code(_ heard: Heard) -> Code {
        if case .refused = heard { .heardRefusal } else { .heard }
    }

    /// The card refused.
    ///
    /// - Parameter what: what it refused, as in "service 090F".
    package init(refusal: RefusalReason, _ what: String) {
        let message = refusal.message(LocalizedText(what, what))
        self.init(.cardRefused, message[Language.current])
    }

    /// The fix for a reader that cannot be used: where its group alone may open it, the rules are in place already.
    package static func hint(_ reason: UnavailableReason, _ detail: TransportError.Reason?) -> String {
        if let detail, detail.code == .deviceForGroup, let group = detail.values.last,
            group != UdevRules.pcscdGroup,
            let remedy = Check(.notInGroup, detail.values.map { LocalizedText($0, $0) }).hint
        {
            return remedy
        }
        if detail?.code == .hanging { return Remedy.answer.text() }
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
        case .notJSON(.endsEarly, 1, 1): self.init(.fileEmpty, values: [name])
        case .unknownSchema("kazasu.card/1", _): self.init(.fileUnknownSchema, values: [name])
        case .unknownFormat: self.init(.fileUnknownFormat, "\(name): \(error.words)")
        case .notImported: self.init(.fileNotImported, "\(name): \(error.words)")
        case .unknownSchema(let found, _) where found.hasPrefix("kazasu."):
            self.init(.fileOutput, "\(name): \(error.words)")
        default: self.init(.fileMalformed, "\(name): \(error.words)")
        }
    }
}
