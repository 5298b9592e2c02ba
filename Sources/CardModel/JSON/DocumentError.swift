// SPDX-License-Identifier: Apache-2.0

/// Why a document could not be read. `key` is the path of the value, as in `felica.systems[0].systemCode`.
@nonexhaustive
public enum DocumentError: Error, Hashable, Sendable {
    /// The text is not JSON, or ends too early; line and byte count from 1.
    case notJSON(Reason, line: Int, byte: Int)
    /// A value that must be there is not.
    case missing(key: String)
    /// A value is of another kind or form than it must be; the key is empty for the document as a whole.
    case malformed(key: String, expected: Expectation)
    /// The document is of a schema or version that this program does not read.
    case unknownSchema(found: String, supported: String)
    /// The file has none of the known formats.
    case unknownFormat
    /// The file is of a format that is known, but holds another kind of card, as the format names it.
    case notImported(kind: String)
    /// The document is longer than any card's could be.
    case tooLong(bytes: Int, limit: Int)
    /// A line of a line-oriented document is not what it must be; lines count from 1.
    case malformedLine(line: Int, expected: Expectation)
}

extension DocumentError {
    /// What is wrong with a JSON text.
    public enum Reason: String, Hashable, Sendable {
        case syntax, endsEarly, notUTF8, tooDeep, tooManyValues, numberTooLarge
    }

    /// What a value or a line has to be: a code and its values. Only the command line words it.
    public struct Expectation: Hashable, Sendable {
        /// What has to be there.
        public let code: Code
        /// The values of the code, such as a count.
        public let values: [String]
        /// The value within a line that is meant; `nil` for the line as a whole.
        public var key: String?

        /// An expectation.
        package init(_ code: Code, _ values: String...) {
            self.init(code, values: values)
        }

        /// An expectation.
        package init(_ code: Code, values: [String], key: String? = nil) {
            self.code = code
            self.values = values
            self.key = key
        }

        /// What has to be there.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            // Without values.
            case hexStation, decimalStation, hexBusStop, decimalBusStop
            case object, array, string, bool, integer, milliseconds, hex, shortHexNumber, decimalName, decimalByteName
            case decimalServiceName, decimalSystemName, counterName, pageName, serviceName, nodeName, instructionName
            case commandName, parametersName, uniqueBlock, uniquePage, uniquePIN, onePage, utf8, noDocumentType
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

            // With one value: a number, or a name.
            case number, form, bytesInBase64, bytesInHexOrBase64, byteList, hexDigits, hexName, atMostSystems
            case atMostBlocks, atMostPages, atMostRecords, atMostBytes, atMostApplications, systemCount, cardCount
            case xml, xmlDepth, blockNumberUpTo, wireCode, numberedCode, field, fieldOnly, member

            // With a list of values that are possible.
            case oneOf, bytes, bytesInHex, oneOfNames, knownCommand, knownPINs, knownMember

            // With two values: how many there should be, and how many there are.
            case areasBefore, servicesBefore, systemsBefore, blocksBefore, pagesBefore
        }
    }
}

/// What is wrong with a JSON text, and where.
struct JSONError: Error {
    let kind: DocumentError.Reason
    /// The index of the first byte that no JSON text has there.
    let index: Int

    /// The error with the line and the byte.
    func documentError(in bytes: ArraySlice<UInt8>) -> DocumentError {
        let before = bytes[..<min(max(index, bytes.startIndex), bytes.endIndex)]
        let newline = UInt8(ascii: "\n")
        let line = before.count { $0 == newline } + 1
        let start = before.lastIndex(of: newline).map { $0 + 1 } ?? bytes.startIndex
        let reason = kind == .syntax && index >= bytes.endIndex ? .endsEarly : kind
        return .notJSON(reason, line: line, byte: before.endIndex - start + 1)
    }
}

/// The way to a value of a document; the text of it is made for errors only.
final class JSONPlace: Sendable {
    private let step: JSONCursor.Step
    private let parent: JSONPlace?

    init(_ step: JSONCursor.Step, in parent: JSONPlace?) {
        self.step = step
        self.parent = parent
    }

    /// As in `felica.systems[0].systemCode`; empty for the whole document.
    var text: String {
        let before = parent?.text ?? ""
        return switch step {
        case .document: ""
        case .member(let key): before.isEmpty ? key : "\(before).\(key)"
        case .element(let index): "\(before)[\(index)]"
        }
    }
}
