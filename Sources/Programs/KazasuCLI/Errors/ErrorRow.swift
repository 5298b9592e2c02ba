// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// What the program says about an error: exit status, identifier, perhaps a sentence, and the remedy. A row of
/// `Data/errors.tsv`; an error of the library describes itself and has no sentence there.
///
/// A remedy names commands, options and pages as values, so that each caller reads its own words for them:
///
/// | In the table | Becomes |
/// | --- | --- |
/// | `{0}`, `{1}` | a value |
/// | `{0_}` | a value, with a space after it where Japanese has one |
/// | `{$ledger sum --by=station <--format csv>}` | ``Caller/command(_:_:)``; in `<>` what only a command line has |
/// | `{--key-from}`, `{--retry!}` | an option; a flag that is set |
/// | `{tags.md}` | a page |
/// | `@move` | the remedy of that name, alone in its cell |
struct ErrorRow: Sendable {
    /// `nil` for a remedy of several errors.
    package let status: ExitStatus?
    package let reason: String
    package let sentence: LocalizedText?
    package let hint: LocalizedText?

    package static let table = LookupTable<String, ErrorRow>(
        PackageResources.errors_tsv,
        columns: ["code", "status", "reason", "english", "japanese", "hintEnglish", "hintJapanese"], key: ["code"],
        row: { row throws(FactTableError) in (try row.required("code"), try ErrorRow(row)) })

    private init(_ row: FactRow) throws(FactTableError) {
        let number = try row.decimal("status")
        status = number.flatMap { ExitStatus(rawValue: Int32($0)) }
        reason = try row.text("reason") ?? ""
        guard number == nil ? reason.isEmpty : status != nil && !reason.isEmpty else {
            throw row.fault("status", .unknownWord)
        }
        sentence = try row.name()
        switch (try row.text("hintEnglish"), try row.text("hintJapanese")) {
        case (nil, nil): hint = nil
        case (let english?, nil) where english.hasPrefix("@"): hint = LocalizedText(english, english)
        case (let english?, let japanese?): hint = LocalizedText(english, japanese)
        default: throw row.fault("hintJapanese", .empty)
        }
    }

    /// The remedy in the words of the caller.
    package func remedy(_ values: [String]) -> String? {
        guard let hint = hint?[Language.current] else { return nil }
        if hint.first == "@" { return ErrorRow.table[String(hint.dropFirst())]?.remedy(values) }
        return ErrorRow.filled(hint, values)
    }

    /// A text of the table with its values.
    static func filled(_ text: String, _ values: [String]) -> String {
        var (result, rest) = ("", text[...])
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            result += rest[..<open] + value(name.last == "_" ? name.dropLast() : name, values)
            rest = rest[rest.index(after: close)...]
            if name.last == "_", let next = rest.popFirst() { result = LineBreaker.joined(result, String(next)) }
        }
        return result + rest
    }

    private static func value(_ name: Substring, _ values: [String]) -> String {
        if let place = Int(name) { return values.indices.contains(place) ? values[place] : "" }
        if name.hasPrefix("$") {
            let (words, arguments) = command(name.dropFirst())
            return Caller.current.command(words, arguments)
        }
        guard name.hasPrefix("--") else { return Documents.path(String(name)) }
        let option = name.dropFirst(2)
        return option.hasSuffix("!")
            ? Caller.current.flag(String(option.dropLast())) : Caller.current.option(String(option))
    }

    /// The words of a command and what follows them.
    package static func command(_ text: Substring) -> (words: String, arguments: [CommandArgument]) {
        let begin = text.firstRange(of: " --")?.lowerBound ?? text.endIndex
        let shell = text.firstRange(of: " <")?.lowerBound ?? text.endIndex
        var rest = text[min(begin, shell)...]
        let words = String(text[..<rest.startIndex])
        var arguments: [CommandArgument] = []
        while rest.popFirst() != nil {
            let isShell = rest.first == "<"
            let end = isShell ? rest.firstIndex(of: ">") : rest.firstIndex(of: " ")
            let argument = rest[..<(end ?? rest.endIndex)]
            rest = rest[argument.endIndex...]
            if isShell { rest = rest.dropFirst() }
            let parts = argument.drop { $0 == "-" }.split(separator: "=", maxSplits: 1).map(String.init)
            if isShell {
                arguments.append(.shell(String(argument.dropFirst())))
            } else {
                arguments.append(parts.count == 2 ? .option(parts[0], parts[1]) : .flag(String(argument.dropFirst(2))))
            }
        }
        return (words, arguments)
    }
}

extension CommandError {
    /// An error that describes itself, with what its row adds.
    ///
    /// - Parameters:
    ///   - suffix: follows the sentence.
    ///   - values: what the row's remedy has in place of `{0}`, `{1}` and so on.
    package init(_ code: Code, _ error: some SelfDescribing, suffix: String = "", values: [String] = []) {
        self.init(code, error.words + suffix, values: values)
    }

    /// A failure with a sentence of its own.
    package init(_ code: Code, _ message: String, values: [String] = []) {
        guard let row = ErrorRow.table[code.rawValue], let status = row.status else {
            self = .bug(code.rawValue)
            return
        }
        self.init(status, row.reason, message, hint: row.remedy(values))
    }

    /// A failure that its row describes.
    package init(_ code: Code, values: [String] = []) {
        let sentence = ErrorRow.table[code.rawValue]?.sentence
        self.init(code, ErrorRow.filled(sentence?[Language.current] ?? "", values), values: values)
    }

    /// The rows of `Data/errors.tsv`, as the errors' types have their cases.
    package enum Code: String, CaseIterable, Sendable {
        case kazasuNoSimulatedReader, kazasuCannotLink, kazasuSeveralCards, kazasuRefused, kazasuUnknownReader
        case heard, heardRefusal
        case nothingOpen
        case readingCardLost, readingRadio, readingBadAnswer, readingCardSilent
        case readerTooHot, readerFailed, readerNoAnswer, readerCorrupted, readerFrameTooLong, readerAnswerTooLong
        case readerCardTooSlow, readerUnsupported, readerMaskedRecording, readerOutOfScript
        case fileUnknownSchema, fileUnknownFormat, fileNotImported, fileEmpty, fileOutput, fileMalformed
        case emptyFileName
        case apduMalformed, apduStatus, apduInvalidCommand, apduSelectionLost, apduOtherCard, apduGuarded
        case apduForReader, apduTooLong, apduAnswerTooLong
        case documentOtherCard, documentPinSettingUnreadable, documentUnknownType, documentUnsupported
        case documentWrongPassportKey, documentWrongCountedKey, documentLastTry, documentNoPACE, documentPACE
        case documentEndUnknown
        case secureWrongNumber, secureChecksum, secureMalformed
        case cryptoLibraryMissing
        case pinForm, pinAlreadySent, pinEarlierFailure, pinLocked, pinLastTry, pinWrong, pinNotVerifiable
        case signatureOtherDocument, signatureIncomplete, signatureUnknownAuthority, signatureAbsent, signatureWrong
        case chipCopied, chipNotProved
        case pictureNotOpened, pictureRefused, pictureAbsent
        case tagBadAnswer, tagRefused, tagStatus, tagNotType2, tagTooLong, tagNotAMessage, tagTakesNoKey
        case tagKeyRefused, tagNotVerified, tagKeyFailedBefore, tagKeyNoSuchKey, tagKeyDelayed, tagKeyLocked
        case tagKeyWritingUnsupported, tagPasswordNotSupported, tagPasswordFailedBefore, tagPasswordWrong
        case tagPasswordLocked, tagPasswordOtherAcknowledgement, tagLastTry, tagNoNDEF, tagReadOnly, tagLocked
        case tagPasswordProtected, tagSecretPage, tagPermanentPage, tagKeyInterrupted, tagPasswordInterrupted
        case liteRefused, liteNotGenuine, liteOtherKey, liteNotLiteS, liteFactoryKey, liteLocked, liteWritesUsedUp
        case liteReaderTooSmall, liteOtherCard, liteChanged, liteKeptPower, liteUnstable
        case keysSilent, keysNotStandard, keysUnsupported, keysNone, keysWrong, keysFailedBefore, keysIncomplete
        case keysRefused
        case writeNotAllowed, writeNotNewest, writeTooManyBlocks, writeNoSuchBlock, writePurseRange, writeRefused
        case writeChanged, writeNotReadBack, writeUnconfirmed
        case keyChangeNothingToChange, keyChangeWeakKey, keyChangeSameVersion, keyChangeUnsupported
        case keyChangeNoSuchNode, keyChangeSilent, keyChangeNotVerified, keyChangeKeptPower, keyChangeOtherPlan
        case issueLocked, issueTooFewBlocks, issueNotRegistered
        case setupWrongKey, setupOtherKey, setupFactoryKey, setupAlreadySetUp, setupFrozen, setupLRP,
            setupPermanent
        case setupOtherTag, setupNotVerified
        case classicKeyFile, classicKeyForm, classicKeyMissing, classicNoKey, classicRefused, classicNotAValue
        case classicNotVerified, classicKeysNotProved, classicManufacturer, classicAbsent, classicAccessConditions
        case classicTrailer, classicNeedsBothKeys, classicAccessBits, classicWouldLock
        case desfireNoSuchFile, desfireRefused, desfireWrongKey, desfireNoSuchKey, desfireKeyLength, desfireOtherMethod
        case desfireNothingOpen, desfireNotAllowed, desfireOutOfRange, desfireOtherType, desfireNotVerified
        case desfireAnswerLost
        case ledgerDamaged, ledgerNotALedger, ledgerInaccessible, ledgerDiskFull, ledgerLocked, ledgerNoHome
        case ledgerNoSuchCard, ledgerSeveralCards, ledgerOtherCurrency, ledgerNameInUse, ledgerSameCard
        case ledgerOtherPurses, ledgerSeveralNames, ledgerNoSuchStation, ledgerNotASection, ledgerNoSuchLine
        case ledgerNoSuchRecord, ledgerNoSuchImport, ledgerNothingToUndo, ledgerNoHistory, ledgerOtherCard
        case ledgerColumns, ledgerNoCharacterSet, ledgerForeignJournal, ledgerNewer, ledgerNewerWithCopy
        case outboxPlace, outboxLocked, outboxNewer, outboxForeign, outboxDamaged, outboxFull, outboxReadOnly
        case outboxFailed
        case scriptEmpty, apduUnexpectedStatus, balanceUnknown, classicNoBlock, classicNoMessage
        case classicNotATrailer, classicTrailerForm, decodeOnePhoto, dumpOtherCard, packetNoAnswer
        case historyNone, photoNotOpened, documentCheckNumberForm, documentNoCheckNumber
        case documentEvidenceAlone, documentAccessNumberForm, documentNoZone, documentCardNumberForm
        case keysNotGenuine, keyChangeOtherCard, formatCannotSay, formatNotWritable, liteNoKey, liteKeyForm
        case purseOtherCard, stationsNoHome, optionNotMasked, folderExists, filePipe, fileLink, fileDevice
        case fileTooLong, pictureNotAFile, confirmationYes, confirmationDeclined, confirmationDryRun
        case dumpSeveral, udevMasked, virtualWritesReader, courseTooLong, problemNone, recordingNotMasked
        case argumentsUnknown, serviceMissing, bridgePort, collectNeedsMQTT, ledgerNone, ledgerExportExists
        case ledgerReportTerminal, methodSeveralDumps, feedbackParameter, feedbackNone, outboxNone
        case messagesUnread, sinkFolder, sinkArguments, sinkNoSecret
        case tagBrokenMessage, standardKeyFile, apduNoPIN, apduNoPINSource, passportFileRefused, passportKeyForm
        case passportKeyMistaken, authorityNoCertificate, authorityArchive, authorityDamagedList
        case authorityUnsupportedList, documentNoCardNumber, stationsNotFound, originalityWrong
        case originalityAbsentType2, originalityAbsent, originalityUnknownProduct, originalityRandomUID
        case originalityReader, originalityLibrary, sunIncomplete, sunOtherKey, sunOtherPrefix, sunReplayed
        case sunNoCounter, sunKeyForm, passportNumberAsFile, passportOtherFile, passportNoFile, passportNoFileSent
        case documentExpired, journalEmpty, journalExists, journalNoPlace, journalLocked, journalOfKeyChange
        case mqttNeedsTLS, mqttReservedName, mqttSameName, outboxNoSinks, outboxNoSuchSink, parameterWrong
        case ledgerNoTemporaryFolder, ledgerUnreadable, ledgerNotAFile, ledgerNotCopied, askForm, lightUnwritable
        case lineBusy, lineForbidden, lineUnreadable, knownCardsFile, sinkUnreadable
        case knownCardsNoName, knownCardsNotATable, fileNotUTF8, settingsValue, settingsTwice, settingsNotYAML
        case settingsNotOptions, settingsOneValue, settingsFlag, settingsTextOrList, settingsTextOrNumber
        case settingsUnknown, webhookBodyNotUTF8, webhookBodyEmpty, webhookBodyNotJSON, webhookBodyField
        case desfireKeyForm, desfireDataForm
        case sinkNotExecutable, sinkTwice, keyboardUnusable, webhookOrder, listenBusy
        case listenForbidden, listenFailed, listenNotASocket
        case scriptLine, tagKeyForm, tagKeyLength, tagRuleAlone, messageUnencodable, tagKeyOrPassword, tagPasswordForm
        case setupKeyFile, setupMasterFile, setupRandomUID, desfireNotDESFire, kazasuWrongCard, kazasuNoCard
        case kazasuNoReader, kazasuOnlyPort, cardRefused, cardNotDecoded, dumpNotDecoded, dumpOfOtherCard
        case udevNotRoot, udevNotRegular, udevLink, hostOtherTag, hostOtherCard, fileUnreadable, fileInUse
        case fileDatabase, seenLocked, seenMalformed, confirmationNoTerminal, confirmationNotGiven, issueDeclined
        case commandUnknown, optionUnknown, commandLine, unwritable, unwritableFull, unwritableClosed
        case unwritableFolder, unwritablePath, unwritableDisk, unwritablePipe, collectForeign, collectUnusable
    }
}

/// The remedies that the code adds by itself, each a row of the table without a status.
package enum Remedy: String, CaseIterable, Sendable {
    case afterCommand, answer, checkPIN, compareFront, contents, continueWith, decodeSays, didYouMean, identify
    case importDumps, keptInFile, keptOnOutput, keyOrder, lastTryOfLicense, listCommands, listOptions, notSentAgain
    case numberInArguments, otherName, otherService, quoteAll, sameCard, saveAsText, saveAsUTF8, scan, secretForm
    case stationTable, staysLocal, unlessChanged, unlockAtCityHall, unlockAtPolice
    case webhookBodies, webhookFields

    /// The remedy in the words of the caller.
    ///
    /// - Parameter values: what it has in place of `{0}`, `{1}` and so on.
    package func text(_ values: String...) -> String { ErrorRow.table[rawValue]?.remedy(values) ?? "" }
}
