// SPDX-License-Identifier: Apache-2.0

/// Why a document could not be read. `key` is the path of the value, such as `felica.systems[0].systemCode`.
@nonexhaustive
public enum DocumentError: Error, Hashable, Sendable {
    /// The text is not JSON, or ends too early; line and byte count from 1.
    case notJSON(Reason, line: Int, byte: Int)
    /// A required value is missing.
    case missing(key: String)
    /// A value is of the wrong type or form; the key is empty for the document as a whole.
    case malformed(key: String, expected: Expectation)
    /// The document has a schema or version that this program cannot read.
    case unknownSchema(found: String, supported: String)
    /// The file is not in any known format.
    case unknownFormat
    /// The file is in a known format, but contains another kind of card, as the format names it.
    case notImported(kind: String)
    /// The document is longer than any card's could be.
    case tooLong(bytes: Int, limit: Int)
    /// A line of a line-oriented document is malformed; lines count from 1.
    case malformedLine(line: Int, expected: Expectation)
}

extension DocumentError {
    /// The faults of a JSON text.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable {
        case syntax, endsEarly, notUTF8, tooDeep, tooManyValues, numberTooLarge
    }

    /// The expected form of a value or a line: a code and its values.
    public struct Expectation: Hashable, Sendable {
        /// The expected form.
        public let code: Code
        /// The values of the code, such as a count.
        public let values: [String]
        /// The value within the line; `nil` for the line as a whole.
        public var key: String?

        package init(_ code: Code, _ values: String...) {
            self.init(code, values: values)
        }

        package init(_ code: Code, values: [String], key: String? = nil) {
            self.code = code
            self.values = values
            self.key = key
        }

        /// The expected forms; each has a row in `Data/expectations.tsv`.
        @nonexhaustive
        public enum Code: String, Hashable, Sendable, CaseIterable {
            // No values.
            case hexStation, decimalStation, hexBusStop, decimalBusStop
            case object, array, string, bool, integer, milliseconds, hex, shortHexNumber, decimalName, decimalByteName
            case decimalServiceName, decimalSystemName, counterName, pageName, serviceName, nodeName, instructionName
            case passportInformation, accessNumber, residenceNumber, commandName, parametersName, uniqueBlock,
                uniquePage, uniquePIN, uniqueKey, uniqueEntry
            case onePage, utf8, noDocumentType
            case closingQuote, packet, packetInHex, packetLength, matchingAnswer, pin, pmm, idm, cardWithIDm
            case feliCaCard, onePhoneCard, blockAfterAsterisk, blockBeforeAsterisk, blockAfterService, blockInService
            case blockOfService, blockOfNamedService, largerBlockNumber, blockNumber, blockWithAddress, fewerRepeats
            case paddedBlocks, unsharedBlocks, transitCardType, code, twoByteCode, decimalCode, prefixedCodes
            case serviceSelection, count, date, deviceType, feliCaDevice, nfcpyLine, systemLine, protocolInfo
            case historyRecord, serviceOrArea, serviceAttribute, serviceForBlocks, serviceInSystem
            case systemBeforeServices, systemOrBlock, systemOfCard, tellingServices, accessRule, ats, uidOrRandom
            case liteSystems, noSystemBesideLite, dataFormat, flipperVersion, publicOrPrivate, noKey, noPassword
            case jsonObject, oneMoment, oneType, stationRows, stationRadix, scannedAt, errorName, serviceNumber
            case counterValue, nextOffset, simulatedTag
            case ownSystemCode, areaInArea, codeOfOneGroup, uniqueNode, writableService, differentRecords, blocksInAll
            case shallowArea

            // One value: a number or a name.
            case number, form, bytesInBase64, bytesInHexOrBase64, byteList, hexDigits, hexName, atMostSystems
            case atMostBlocks, atMostPages, atMostRecords, recordCount, atMostBytes, atMostApplications, systemCount,
                cardCount
            case xml, xmlDepth, blockNumberUpTo, wireCode, numberedCode, field, fieldOnly, member, enoughBlocks

            // A list of possible values.
            case oneOf, bytes, bytesInHex, oneOfNames, knownCommand, knownPINs, knownMember

            // Two values: the expected count and the actual count.
            case areasBefore, servicesBefore, systemsBefore, blocksBefore, pagesBefore
        }
    }
}

extension DocumentError: SelfDescribing {
    /// What is wrong with the document, without the name of its file.
    public var message: LocalizedText {
        switch self {
        case .notJSON(let reason, let line, let byte):
            LocalizedText(
                "not JSON (line \(line), byte \(byte)\(reason.fault.english))",
                "JSON ではありません（\(line) 行目 \(byte) バイト目\(reason.fault.japanese)）")
        case .missing(let key): LocalizedText("\(key) is missing", "\(key) がありません")
        case .malformed(let key, let expected):
            LocalizedText(
                "\(key.isEmpty ? "the document" : key): expected \(expected.message.english)",
                "\(key.isEmpty ? "文書" : key) の値が正しくありません（\(expected.message.japanese)である必要があります）")
        case .unknownSchema(let found, let supported):
            LocalizedText(
                "unsupported schema \(found) (this version reads \(supported))",
                "スキーマ \(found) には対応していません（読めるのは \(supported)）")
        case .unknownFormat:
            LocalizedText("not a dump in any known format", "対応している形式のダンプではありません")
        case .notImported(let kind):
            LocalizedText(
                "importing this kind of card is not supported (\(kind))", "この種類のカードの取り込みには対応していません（\(kind)）")
        case .tooLong(let bytes, let limit):
            LocalizedText("\(bytes) bytes exceed the limit of \(limit)", "\(bytes) バイトは上限 \(limit) を超えます")
        case .malformedLine(let line, let expected):
            LocalizedText(
                "line \(line): expected \(expected.message.english)",
                "\(line) 行目が正しくありません（\(expected.message.japanese)）")
        }
    }
}

extension DocumentError.Expectation: SelfDescribing {
    package static let messages = MessageTable<Code>(PackageResources.expectations_tsv)

    /// The missing or malformed item, as a phrase that follows "expected". Values are shown unchanged.
    public var message: LocalizedText {
        let message = DocumentError.Expectation.messages.message(code, values)
        guard let key, !key.isEmpty else { return message }
        return LocalizedText("\(key): \(message.english)", "\(key): \(message.japanese)")
    }
}

extension DocumentError.Reason {
    /// What follows the position of the fault; empty where that is enough.
    fileprivate var fault: LocalizedText {
        switch self {
        case .syntax: LocalizedText("", "")
        case .endsEarly: LocalizedText(": the text ends too early", "で文書が途切れています")
        case .notUTF8: LocalizedText(": not UTF-8", "が UTF-8 ではありません")
        case .tooDeep:
            LocalizedText(
                ": nested deeper than \(JSONValue.deepestNesting) levels", "で入れ子が \(JSONValue.deepestNesting) 段を超えています")
        case .tooManyValues:
            LocalizedText(
                ": more than \(JSONValue.mostValues) values", "で値が \(JSONValue.mostValues) 個を超えています")
        case .numberTooLarge: LocalizedText(": the number is too large", "の数が大きすぎます")
        }
    }
}
