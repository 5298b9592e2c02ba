// SPDX-License-Identifier: Apache-2.0

import Kazasu

extension CommandError {
    /// Why a command to an ISO 7816 card gave no result.
    ///
    /// - Parameter what: the object of the command, as in "the application"; the instruction by default.
    init(_ error: ISO7816Error, _ what: String? = nil) {
        let message = error.message(about: what.map { LocalizedText($0, $0) })[Language.current]
        switch error {
        case .transport(let error): self.init(error)
        case .malformed: self.init(.interruptedReading, "badAnswer", message, hint: Remedy.move)
        case .status: self.init(.refused, "refused", message, hint: Remedy.identify)
        case .invalidCommand:
            self.init(
                .usage, "invalidCommand", message,
                hint: tr("send less data, or request a shorter answer", "データか、要求する長さを短くしてください"))
        case .guarded(let instruction): self = .guarded(instruction)
        case .selectionLost: self.init(.interruptedReading, "cardLost", message, hint: Remedy.leave)
        case .otherCard:
            self.init(
                .interruptedReading, "cardChanged", message,
                hint: tr("leave one card on the reader until the command ends", "終わるまで同じカードを置いたままにしてください"))
        }
    }

    /// A PIN command that only the guard may send.
    static func guarded(_ instruction: Instruction) -> CommandError {
        CommandError(
            .refused, "pinGuard", ISO7816Error.guarded(instruction),
            hint: tr(
                "to verify a PIN, write 00200081PIN and add \(Caller.current.option("pin1-from")); 00200081 alone returns the remaining tries",
                "照合するには 00200081PIN と書いて \(Caller.current.option("pin1-from")) を付けてください。00200081 だけなら残り回数を調べます"))
    }

    /// A command for the reader itself, which could carry anything to the card past the guard.
    static func forReader() -> CommandError {
        CommandError(
            .refused, "pinGuard",
            tr(
                "of the class FF commands, only FF CA, FF A4, FF B0 and FF D6 are sent: others could carry a PIN",
                "クラス FF のコマンドのうち、送るのは FF CA・FF A4・FF B0・FF D6 だけです（ほかは暗証番号を含むおそれがあります）"),
            hint: tr("send the command for the card itself", "カード自身へのコマンドを指定してください"))
    }

    /// A command or answer that is longer than the reader can carry.
    ///
    /// - Parameters:
    ///   - error: any error of an exchange.
    ///   - what: the object of the command.
    ///   - limits: those of the reader.
    /// - Returns: `nil` for other errors.
    static func tooLong(_ error: ISO7816Error, _ what: String, limits: APDULimits) -> CommandError? {
        switch error {
        case .transport(.frameTooLong(let length, let limit)):
            CommandError(
                .usage, "frameTooLong",
                tr(
                    "\(what) has \(length) bytes; this reader can send \(limit)",
                    "\(what) は \(length) バイトで、このリーダーが送れる \(limit) バイトを超えます"),
                hint: tr(
                    "send its data in parts of 255 bytes, all but the last with CLA 10 (chaining), or use another reader",
                    "データを 255 バイト以下に分け、最後以外を CLA 10（チェイニング）で送るか、別のリーダーを使ってください"))
        case .transport(.answerTooLong):
            CommandError(
                .interruptedReading, "answerTooLong",
                tr(
                    "the answer to \(what) is longer than the \(limits.longestResponse) bytes that this reader can pass on",
                    "\(what) への応答が、このリーダーの上限 \(limits.longestResponse) バイトを超えます"),
                hint: tr("read less at a time, with a smaller Le", "Le を小さくして、少しずつ読んでください"))
        default: nil
        }
    }

    /// Why a license or a My Number card was not read, or not completely.
    init(_ error: FileCardReadingError) {
        switch error {
        case .otherCard: self.init(.otherCard, "otherCard", error, hint: Remedy.identify)
        case .pinSettingUnreadable:
            self.init(
                .refused, "pinGuard", error,
                hint: tr(
                    "put the card flat on the reader and try again; no try was used",
                    "カードを平らに置いて、もう一度試してください。回数は減っていません"))
        case .card(.transport(.cancelled)): self = .cancelled()
        case .card(let error): self.init(error)
        case .pin(let error): self.init(error)
        case .secure(let error): self.init(error)
        case .unknownType: self.init(.otherCard, "unknownType", error, hint: Remedy.identify)
        case .unsupported:
            let command = Caller.current.command("mynumber")
            self.init(
                .otherCard, "specified", error,
                hint: tr(
                    "\(command) reads the My Number card itself", "マイナンバーカードとしては \(command) で読めます"))
        case .wrongPassportKey(nil):
            self.init(
                .refused, "wrongNumber", error,
                hint: tr(
                    "compare it with what is printed on the document; wrong ones are not counted",
                    "文書の印字と比べてください。間違えても回数は数えられません"))
        case .wrongPassportKey(let left?):
            self.init(
                .refused, "wrongNumber", error,
                hint: tr(
                    "compare it with what is printed on the document before the next try",
                    "次に試す前に、文書の印字と比べてください"))
            triesLeft = if case .count(let count) = left { count } else { 0 }
        case .lastTry:
            let flag = Caller.current.flag("use-last-try")
            self.init(
                .refused, "lastTry", error,
                hint: tr("if you are sure that it is right, add \(flag)", "確実に正しい場合だけ \(flag) を付けてください"))
        case .noPACE:
            let option = Caller.current.option("mrz-from")
            self.init(
                .otherCard, "noPACE", error,
                hint: tr("use \(option) instead", "代わりに \(option) を使ってください"))
        case .paceRequired:
            self.init(
                .otherCard, "pace", error,
                hint: tr(
                    "\(Documents.path("passport.md")) says what can be read",
                    "読めるものは \(Documents.path("passport.ja.md")) を見てください"))
        }
    }

    /// Why a protected exchange gave no result.
    init(_ error: SecureMessagingError) {
        switch error {
        case .card(.transport(.cancelled)): self = .cancelled()
        case .card(let error): self.init(error)
        case .wrongNumber:
            self.init(
                .refused, "wrongNumber", error,
                hint: tr(
                    "compare it with the twelve characters printed at the top right of the card; wrong numbers are not counted",
                    "カード右上の 12 文字と比べてください。間違えても回数は数えられません"))
        case .malformed(.code):
            self.init(
                .interruptedReading, "badAnswer", error,
                hint: tr(
                    "the checksum of the card's answer does not fit; run the command again, and if it happens each time, the card itself answers wrongly: \(Documents.path("contribute.md")) says how to report it",
                    "カードの応答の検証コードが合いません。もう一度実行し、毎回起きる場合はカード側の問題です。報告の手順は \(Documents.path("contribute.ja.md")) にあります"))
        case .malformed: self.init(.interruptedReading, "badAnswer", error, hint: Remedy.move)
        case .crypto(let error): self.init(error)
        }
    }

    /// Why a cryptographic function gave no result.
    init(_ error: CryptoError) {
        switch error {
        case .libraryMissing:
            self.init(.noReader, "libraryMissing", error, hint: Remedy.installOpenSSL)
        case .keyLength, .dataLength, .refused, .unsupported: self = .bug(error.words)
        }
    }

    /// Why a PIN was not sent, or was sent without success.
    init(_ error: PINGuardError) {
        switch error {
        case .form: self.init(.refused, "pinForm", error, hint: Remedy.checkPIN)
        case .alreadySent:
            self.init(
                .refused, "pinSentBefore", error,
                hint: tr("verify each PIN once in a run", "1 回の実行での照合は 1 回だけにしてください"))
        case .earlierFailure: self.init(.refused, "pinNotSent", error, hint: Remedy.checkPIN)
        case .locked, .wrong(_, .locked):
            self.init(
                .refused, "pinLocked", error,
                hint: tr("only the office that issued the card can unlock it", "解除できるのはカードの発行窓口だけです"))
        case .lastTry:
            self.init(
                .refused, "lastTry", error,
                hint: tr(
                    "if you are sure it is correct, add --allow-last-try and type yes on the terminal",
                    "確実に正しい場合だけ --allow-last-try を付け、端末で yes と入力してください"))
        case .triesUnreadable(_, let cause):
            let cause = CommandError(cause)
            self.init(cause.status, cause.reason, error, hint: cause.hint)
        case .wrong: self.init(.refused, "wrongPIN", error, hint: Remedy.checkPIN)
        case .notVerifiable, .refused:
            self.init(
                .refused, "refused", error,
                hint: tr(
                    "the card may not have this PIN, or may expect it in another application",
                    "カードにこの暗証番号がないか、別の場所にある可能性があります"))
        case .interrupted(_, let cause, _, _):
            let cause = CommandError(cause)
            let isStopped = [.interrupted, .terminated].contains(cause.status)
            self.init(isStopped ? cause.status : .interruptedReading, "pinInterrupted", error, hint: cause.hint)
        }
    }
}

extension StatusWord {
    /// The number and what it means.
    var words: String { text[Language.current] }
}

// MARK: Tags

extension CommandError {
    /// Why a tag was not read or written.
    init(_ error: TagError) {
        switch error {
        case .tagLost: self.init(ReadingError.cardLost)
        case .cancelled: self = .cancelled()
        case .transport(let error): self.init(error)
        case .badAnswer:
            self.init(
                .interruptedReading, "badAnswer", error,
                hint: tr("move the tag a little, away from metal and other cards", "タグの位置をずらし、金属や他のカードから離してください"))
        case .refused:
            let info = Caller.current.command("tag info")
            self.init(
                .refused, "refused", error,
                hint: tr(
                    "it may be locked, password-protected or missing; see \(info)",
                    "ロック済み、パスワードが必要、またはページがありません（\(info) を参照）"))
        case .felica(.status(_)): self.init(.refused, "refused", error, hint: Remedy.scan)
        case .felica(let error): self.init(ReadingError.badAnswer(error))
        case .iso7816(let error): self.init(error)
        case .noNDEF(let absence):
            let info = Caller.current.command("tag info")
            self.init(
                .otherCard, absence.rawValue, error,
                hint: tr("\(info) shows what is on the tag", "\(info) でタグの内容を確認できます"))
        case .notType2:
            let command = Caller.current.command("tag info")
            self.init(
                .otherCard, "otherCard", error, hint: tr("\(command) reads this card", "このカードは \(command) で読めます"))
        case .notWritable(let reason):
            let (identifier, hint) = CommandError.remedy(reason)
            self.init(.refused, identifier, error, hint: hint)
        case .tooLong:
            self.init(
                .refused, "tooLong", error, hint: tr("shorten it, or use a larger tag", "短くするか、容量の大きいタグを使ってください"))
        case .notAMessage:
            self.init(
                .badFile, "notAMessage", error,
                hint: tr("supply the bytes of exactly one NDEF message", "NDEF メッセージ 1 つ分のバイト列を指定してください"))
        case .takesNoKey:
            self.init(
                .otherCard, "takesNoKey", error,
                hint: tr(
                    "\(Caller.current.option("key-from")) is for Ultralight C and AES, on a reader that passes the commands on, and for NTAG 424 DNA in AES mode",
                    "\(Caller.current.option("key-from")) は Ultralight C・AES（コマンドを通すリーダーが必要）と AES モードの NTAG 424 DNA 用です"
                ))
        case .keyRefused:
            self.init(
                .refused, "wrongKey", error,
                hint: tr(
                    "check the key and its number (\(Caller.current.option("key-number")))",
                    "鍵と鍵の番号（\(Caller.current.option("key-number"))）を確かめてください"))
        case .key(let reason): self = CommandError.key(reason, error)
        case .crypto(let error): self.init(error)
        case .password(let reason): self = CommandError.password(reason, error)
        case .notVerified:
            self.init(
                .interruptedReading, "notVerified", error,
                hint: tr("write it again; if that fails, the tag may be worn out", "もう一度書き込んでください。直らなければ、タグの寿命かもしれません"))
        }
    }

    /// Why a key did not open a tag.
    private static func key(_ reason: TagKeyError, _ error: TagError) -> CommandError {
        let caller = Caller.current
        switch reason {
        case .lastTry, .manyFailures:
            return lastTry(error)
        case .failedBefore:
            return CommandError(
                .refused, "keyFailedBefore", error,
                hint: tr(
                    "check the key; to use it anyway, add \(caller.flag("retry"))",
                    "鍵を確かめてください。それでも使うには \(caller.flag("retry")) を付けます"))
        case .noSuchKey:
            return CommandError(
                .refused, "noSuchKey", error,
                hint: tr(
                    "\(caller.option("key-number")) says which key; the tag may also have locked it",
                    "\(caller.option("key-number")) で鍵の番号を指定してください。鍵がロックされている可能性もあります"))
        case .delayed:
            return CommandError(
                .refused, "keyDelayed", error,
                hint: tr(
                    "leave the tag in the field and try again later, with the right key",
                    "しばらくタグを置いたままにして、正しい鍵でやり直してください"))
        case .locked:
            return CommandError(
                .refused, "keyLocked", error,
                hint: tr("another key of the tag may still work", "タグの別の鍵なら使えるかもしれません"))
        case .interrupted(let cause):
            return interrupted("keyInterrupted", cause, error)
        case .writingUnsupported:
            return CommandError(
                .refused, "readOnly", error,
                hint: tr("the tag can be read with the key", "鍵による読み取りはできます"))
        }
    }

    /// Why a password did not open a tag.
    private static func password(_ reason: Type2PasswordError, _ error: TagError) -> CommandError {
        let caller = Caller.current
        switch reason {
        case .notSupported:
            return CommandError(
                .otherCard, "takesNoPassword", error,
                hint: tr(
                    "\(caller.option("password-from")) is for NTAG21x and MIFARE Ultralight EV1, on a reader that passes PWD_AUTH on",
                    "\(caller.option("password-from")) は NTAG21x と MIFARE Ultralight EV1 専用です（PWD_AUTH を通すリーダーが必要です）"))
        case .lastTry:
            return lastTry(error)
        case .failedBefore:
            return CommandError(
                .refused, "passwordFailedBefore", error,
                hint: tr(
                    "check the password; to send it anyway, add \(caller.flag("retry"))",
                    "パスワードを確かめてください。それでも送るには \(caller.flag("retry")) を付けます"))
        case .wrong:
            return CommandError(
                .refused, "wrongPassword", error,
                hint: tr("check the order of its bytes; it was sent once", "バイトの並び順を確かめてください（送ったのは 1 回です）"))
        case .locked:
            return CommandError(
                .refused, "passwordLocked", error,
                hint: tr("what it protects cannot be opened any more", "保護されたページは、もう開けません"))
        case .otherAcknowledgement:
            return CommandError(
                .refused, "notGenuine", error,
                hint: tr(
                    "a tag that accepts any password is a copy; check PACK otherwise",
                    "どのパスワードも受け付けるタグは偽物です。そうでなければ PACK を確かめてください"))
        case .interrupted(let cause):
            return interrupted("passwordInterrupted", cause, error)
        }
    }

    private static func lastTry(_ error: TagError) -> CommandError {
        let flag = Caller.current.flag("use-last-try")
        return CommandError(
            .refused, "lastTry", error,
            hint: tr("if you are sure that it is right, add \(flag)", "確実に正しい場合だけ \(flag) を付けてください"))
    }

    private static func interrupted(_ identifier: String, _ cause: TransportError, _ error: TagError) -> CommandError {
        if cause == .cancelled { return .cancelled() }
        let flag = Caller.current.flag("retry")
        return CommandError(
            .interruptedReading, identifier, error,
            hint: tr("put the tag flat on the reader and add \(flag)", "タグを平らに置き、\(flag) を付けてやり直してください"))
    }

    /// The card is of a kind that cannot be read without a key.
    static func notDumped(_ card: WrongCard) -> CommandError {
        CommandError(
            .otherCard, "otherCard",
            tr("nothing on this card can be read without a key", "このカードには、鍵なしで読めるものがありません"),
            hint: hint(card))
    }

    /// The identifier of what keeps a tag from being written, and the remedy.
    private static func remedy(_ reason: TagError.WriteReason) -> (identifier: String, hint: String) {
        let other = tr("use another tag", "別のタグを使ってください")
        return switch reason {
        case .readOnly: ("readOnly", other)
        case .locked: ("locked", other)
        case .passwordProtected:
            (
                "passwordProtected",
                tr(
                    "use \(Caller.current.option("password-from")), or \(Caller.current.option("key-from")) for an Ultralight C or AES",
                    "\(Caller.current.option("password-from")) を指定してください（Ultralight C・AES は \(Caller.current.option("key-from"))）"
                )
            )
        case .secret:
            ("secretPage", tr("Kazasu never writes passwords or keys", "パスワードや鍵の書き込みには対応していません"))
        case .permanent:
            (
                "permanentPage",
                tr(
                    "add \(Caller.current.flag("permanent")) to write it anyway",
                    "それでも書くには \(Caller.current.flag("permanent")) を付けてください")
            )
        }
    }
}

// MARK: FeliCa Lite

extension CommandError {
    /// Why a FeliCa Lite or Lite-S was not authenticated, read or issued.
    init(_ error: LiteError) {
        switch error {
        case .reading(let error): self.init(error)
        case .refused:
            self.init(
                .refused, "refused", error,
                hint: tr(
                    "\(Caller.current.command("lite info")) shows what is locked",
                    "ロックの状態は \(Caller.current.command("lite info")) で確認できます"))
        case .notGenuine:
            self.init(
                .refused, "notGenuine", error,
                hint: tr(
                    "check the key: 32 digits as block 87 has them on the wire, or the master key that it comes from",
                    "鍵を確かめてください（ブロック 87 に送るとおりの 32 桁、またはその元のマスター鍵）"))
        case .otherKey:
            let issue = Caller.current.command("lite issue")
            self.init(
                .refused, "notGenuine", error,
                hint: tr(
                    "use the key that \(issue) was given; nothing was written",
                    "\(issue) に指定した鍵を使ってください（何も書き込んでいません）"))
        case .notLiteS:
            let command = Caller.current.command("lite info")
            self.init(
                .otherCard, "otherCard", error, hint: tr("\(command) reads this card", "このカードは \(command) で読めます"))
        case .factoryKey:
            self.init(
                .usage, "factoryKey", error,
                hint: tr(
                    "use a random key; \(Documents.path("lite-s.md")) shows how to make one",
                    "乱数の鍵を使ってください（作り方は \(Documents.path("lite-s.ja.md"))）"))
        case .locked:
            let resume = Caller.current.command("lite resume", .journal)
            self.init(
                .refused, "locked", error,
                hint: tr("after an interrupted issuance, use \(resume)", "中断した発行の続きなら \(resume) を使ってください"))
        case .writesUsedUp:
            self.init(.refused, "writesUsedUp", error, hint: tr("use another card", "別のカードを使ってください"))
        case .readerTooSmall:
            self.init(
                .noReader, "readerTooSmall", error,
                hint: Remedy.otherReader)
        case .otherCard:
            self.init(
                .otherCard, "otherCard", error,
                hint: tr("put the same card on the reader", "同じカードをかざしてください"))
        case .changed:
            self.init(
                .interruptedReading, "notVerified", error,
                hint: tr(
                    "make sure that no other program writes to the card, then try again",
                    "他のプログラムがこのカードに書き込んでいないことを確かめて、やり直してください"))
        case .keptPower:
            self.init(
                .interruptedReading, "keptPower", error,
                hint: tr("lift the card when asked to, and put it back", "指示が出たらカードを離し、もう一度置いてください"))
        case .unstable: self.init(.interruptedReading, "cardLost", error, hint: Remedy.leave)
        }
    }
}
