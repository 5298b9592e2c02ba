// SPDX-License-Identifier: Apache-2.0

package import Kazasu

extension CommandError {
    /// Why a command to an ISO 7816 card gave no result.
    ///
    /// - Parameter what: the object of the command, as in "the application"; the instruction by default.
    package init(_ error: ISO7816Error, _ what: String? = nil) {
        let message = error.message(about: what.map { LocalizedText($0, $0) })[Language.current]
        switch error {
        case .transport(let error): self.init(error)
        case .malformed: self.init(.apduMalformed, message)
        case .status: self.init(.apduStatus, message)
        case .invalidCommand: self.init(.apduInvalidCommand, message)
        case .guarded(let instruction): self = .guarded(instruction)
        case .selectionLost: self.init(.apduSelectionLost, message)
        case .otherCard: self.init(.apduOtherCard, message)
        }
    }

    /// A PIN command that only the guard may send.
    static func guarded(_ instruction: Instruction) -> CommandError {
        CommandError(.apduGuarded, ISO7816Error.guarded(instruction))
    }

    /// A command for the reader itself, which could carry anything to the card past the guard.
    static func forReader() -> CommandError {
        CommandError(.apduForReader)
    }

    /// A command or answer that is longer than the reader can carry.
    ///
    /// - Parameters:
    ///   - error: any error of an exchange.
    ///   - what: the object of the command.
    ///   - limits: those of the reader.
    /// - Returns: `nil` for other errors.
    package static func tooLong(_ error: ISO7816Error, _ what: String, limits: APDULimits) -> CommandError? {
        switch error {
        case .transport(.frameTooLong(let length, let limit)):
            CommandError(.apduTooLong, values: [what, "\(length)", "\(limit)"])
        case .transport(.answerTooLong): CommandError(.apduAnswerTooLong, values: [what, "\(limits.longestResponse)"])
        default: nil
        }
    }

    /// Why a license or a My Number card was not read, or not completely.
    package init(_ error: FileCardReadingError) {
        switch error {
        case .otherCard: self.init(.documentOtherCard, error)
        case .pinSettingUnreadable: self.init(.documentPinSettingUnreadable, error)
        case .card(.transport(.cancelled)): self = .cancelled()
        case .card(let error): self.init(error)
        case .pin(let error): self.init(error)
        case .secure(let error): self.init(error)
        case .unknownType: self.init(.documentUnknownType, error)
        case .unsupported: self.init(.documentUnsupported, error)
        case .wrongPassportKey(nil): self.init(.documentWrongPassportKey, error)
        case .wrongPassportKey(let left?):
            self.init(.documentWrongCountedKey, error)
            triesLeft = if case .count(let count) = left { count } else { 0 }
        case .lastTry: self.init(.documentLastTry, error)
        case .noPACE: self.init(.documentNoPACE, error)
        case .paceRequired: self.init(.documentPACE, error)
        }
    }

    /// Why a protected exchange gave no result.
    package init(_ error: SecureMessagingError) {
        switch error {
        case .card(.transport(.cancelled)): self = .cancelled()
        case .card(let error): self.init(error)
        case .wrongNumber: self.init(.secureWrongNumber, error)
        case .malformed(.code): self.init(.secureChecksum, error)
        case .malformed: self.init(.secureMalformed, error)
        case .crypto(let error): self.init(error)
        }
    }

    /// Why a cryptographic function gave no result.
    package init(_ error: CryptoError) {
        switch error {
        case .libraryMissing: self.init(.cryptoLibraryMissing, error)
        case .keyLength, .dataLength, .refused, .unsupported: self = .bug(error.words)
        }
    }

    /// Why a PIN was not sent, or was sent without success.
    package init(_ error: PINGuardError) {
        switch error {
        case .form: self.init(.pinForm, error)
        case .alreadySent: self.init(.pinAlreadySent, error)
        case .earlierFailure: self.init(.pinEarlierFailure, error)
        case .locked, .wrong(_, .locked): self.init(.pinLocked, error)
        case .lastTry: self.init(.pinLastTry, error)
        case .triesUnreadable(_, let cause):
            let cause = CommandError(cause)
            self.init(cause.status, cause.reason, error, hint: cause.hint)
        case .wrong: self.init(.pinWrong, error)
        case .notVerifiable, .refused: self.init(.pinNotVerifiable, error)
        case .interrupted(_, let cause, _, _):
            let cause = CommandError(cause)
            let isStopped = [.interrupted, .terminated].contains(cause.status)
            self.init(isStopped ? cause.status : .interruptedReading, "pinInterrupted", error, hint: cause.hint)
        }
    }
}

extension StatusWord {
    /// The number and what it means.
    package var words: String { text[Language.current] }
}

// MARK: Tags

extension CommandError {
    /// Why a tag was not read or written.
    package init(_ error: TagError) {
        switch error {
        case .tagLost: self.init(ReadingError.cardLost)
        case .cancelled: self = .cancelled()
        case .transport(let error): self.init(error)
        case .badAnswer: self.init(.tagBadAnswer, error)
        case .refused: self.init(.tagRefused, error)
        case .felica(.status(_)): self.init(.tagStatus, error)
        case .felica(let error): self.init(ReadingError.badAnswer(error))
        case .iso7816(let error): self.init(error)
        case .noNDEF(let absence):
            self.init(.tagNoNDEF, error)
            reason = absence.rawValue
        case .notType2: self.init(.tagNotType2, error)
        case .notWritable(.readOnly): self.init(.tagReadOnly, error)
        case .notWritable(.locked): self.init(.tagLocked, error)
        case .notWritable(.passwordProtected): self.init(.tagPasswordProtected, error)
        case .notWritable(.secret): self.init(.tagSecretPage, error)
        case .notWritable(.permanent): self.init(.tagPermanentPage, error)
        case .tooLong: self.init(.tagTooLong, error)
        case .notAMessage: self.init(.tagNotAMessage, error)
        case .takesNoKey: self.init(.tagTakesNoKey, error)
        case .keyRefused: self.init(.tagKeyRefused, error)
        case .key(let reason): self = CommandError.key(reason, error)
        case .crypto(let error): self.init(error)
        case .password(let reason): self = CommandError.password(reason, error)
        case .notVerified: self.init(.tagNotVerified, error)
        }
    }

    /// Why a key did not open a tag.
    private static func key(_ reason: TagKeyError, _ error: TagError) -> CommandError {
        switch reason {
        case .lastTry, .manyFailures: return lastTry(error)
        case .failedBefore: return CommandError(.tagKeyFailedBefore, error)
        case .noSuchKey: return CommandError(.tagKeyNoSuchKey, error)
        case .otherLength: return CommandError(.tagKeyLength, error)
        case .delayed: return CommandError(.tagKeyDelayed, error)
        case .locked: return CommandError(.tagKeyLocked, error)
        case .interrupted(let cause): return interrupted(.tagKeyInterrupted, cause, error)
        case .writingUnsupported: return CommandError(.tagKeyWritingUnsupported, error)
        }
    }

    /// Why a password did not open a tag.
    private static func password(_ reason: Type2PasswordError, _ error: TagError) -> CommandError {
        switch reason {
        case .notSupported: return CommandError(.tagPasswordNotSupported, error)
        case .lastTry: return lastTry(error)
        case .failedBefore: return CommandError(.tagPasswordFailedBefore, error)
        case .wrong: return CommandError(.tagPasswordWrong, error)
        case .locked: return CommandError(.tagPasswordLocked, error)
        case .otherAcknowledgement: return CommandError(.tagPasswordOtherAcknowledgement, error)
        case .interrupted(let cause): return interrupted(.tagPasswordInterrupted, cause, error)
        }
    }

    private static func lastTry(_ error: TagError) -> CommandError {
        return CommandError(.tagLastTry, error)
    }

    private static func interrupted(_ code: Code, _ cause: TransportError, _ error: TagError) -> CommandError {
        cause == .cancelled ? .cancelled() : CommandError(code, error)
    }

    /// The card is of a kind that cannot be read without a key.
    package static func notDumped(_ card: WrongCard) -> CommandError {
        var error = CommandError(.nothingOpen)
        error.hint = hint(card)
        return error
    }
}

// MARK: MIFARE DESFire

extension CommandError {
    /// Why a DESFire was not read or written.
    package init(_ error: DESFireError) {
        switch error {
        case .tag(let error): self.init(error)
        case .notDESFire: self.init(.desfireNotDESFire, error)
        case .noSuchApplication, .noSuchFile: self.init(.desfireNoSuchFile, error)
        case .refused: self.init(.desfireRefused, error)
        case .wrongKey: self.init(.desfireWrongKey, error)
        case .noSuchKey: self.init(.desfireNoSuchKey, error)
        case .keyLength: self.init(.desfireKeyLength, error)
        case .otherMethod: self.init(.desfireOtherMethod, error)
        case .notAllowed, .withheld: self.init(.desfireNotAllowed, error)
        case .outOfRange: self.init(.desfireOutOfRange, error)
        case .otherType: self.init(.desfireOtherType, error)
        case .notVerified: self.init(.desfireNotVerified, error)
        case .answerLost: self.init(.desfireAnswerLost, error)
        }
    }
}

// MARK: FeliCa Lite

extension CommandError {
    /// Why a FeliCa Lite or Lite-S was not authenticated, read or issued.
    package init(_ error: LiteError) {
        switch error {
        case .reading(let error): self.init(error)
        case .refused: self.init(.liteRefused, error)
        case .notGenuine: self.init(.liteNotGenuine, error)
        case .otherKey: self.init(.liteOtherKey, error)
        case .notLiteS: self.init(.liteNotLiteS, error)
        case .factoryKey: self.init(.liteFactoryKey, error)
        case .locked: self.init(.liteLocked, error)
        case .writesUsedUp: self.init(.liteWritesUsedUp, error)
        case .readerTooSmall: self.init(.liteReaderTooSmall, error)
        case .otherCard: self.init(.liteOtherCard, error)
        case .changed: self.init(.liteChanged, error)
        case .keptPower: self.init(.liteKeptPower, error)
        case .unstable: self.init(.liteUnstable, error)
        }
    }
}
