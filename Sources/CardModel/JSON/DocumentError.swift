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
    public enum Reason: String, Hashable, Sendable {
        case syntax, endsEarly, notUTF8, tooDeep, tooManyValues, numberTooLarge
    }

    /// The expected form of a value or a line: a code and its values. Only the command line puts it into words.
    public struct Expectation: Hashable, Sendable {
        /// The expected form.
        public let code: Code
        /// The values of the code, such as a count.
        public let values: [String]
        /// The value within the line; `nil` for the line as a whole.
        public var key: String?

        /// Makes an expectation.
        package init(_ code: Code, _ values: String...) {
            self.init(code, values: values)
        }

        /// Makes an expectation.
        package init(_ code: Code, values: [String], key: String? = nil) {
            self.code = code
            self.values = values
            self.key = key
        }

        /// The expected forms.
        public enum Code: String, Hashable, Sendable, CaseIterable {
            // No values.
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

            // One value: a number or a name.
            case number, form, bytesInBase64, bytesInHexOrBase64, byteList, hexDigits, hexName, atMostSystems
            case atMostBlocks, atMostPages, atMostRecords, atMostBytes, atMostApplications, systemCount, cardCount
            case xml, xmlDepth, blockNumberUpTo, wireCode, numberedCode, field, fieldOnly, member

            // A list of possible values.
            case oneOf, bytes, bytesInHex, oneOfNames, knownCommand, knownPINs, knownMember

            // Two values: the expected count and the actual count.
            case areasBefore, servicesBefore, systemsBefore, blocksBefore, pagesBefore
        }
    }
}

/// A fault in a JSON text, and its position.
struct JSONError: Error {
    let kind: DocumentError.Reason
    /// The index of the first byte that is not valid JSON at its position.
    let index: Int

    /// Returns the error with line and byte.
    func documentError(in bytes: ArraySlice<UInt8>) -> DocumentError {
        let before = bytes[..<min(max(index, bytes.startIndex), bytes.endIndex)]
        let newline = UInt8(ascii: "\n")
        let line = before.count { $0 == newline } + 1
        let start = before.lastIndex(of: newline).map { $0 + 1 } ?? bytes.startIndex
        let reason = kind == .syntax && index >= bytes.endIndex ? .endsEarly : kind
        return .notJSON(reason, line: line, byte: before.endIndex - start + 1)
    }
}

/// The path to a value of a document; its text is built only for errors.
final class JSONPlace: Sendable {
    private let step: JSONCursor.Step
    private let parent: JSONPlace?

    init(_ step: JSONCursor.Step, in parent: JSONPlace?) {
        self.step = step
        self.parent = parent
    }

    /// The path, such as `felica.systems[0].systemCode`; empty for the whole document.
    var text: String {
        let before = parent?.text ?? ""
        return switch step {
        case .document: ""
        case .member(let key): before.isEmpty ? key : "\(before).\(key)"
        case .element(let index): "\(before)[\(index)]"
        }
    }
}
