// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The files of an electronic passport as programs save them, told apart by their bytes, never by their names.
///
/// Taken are bare files and Base64 of them, EF.SOD with or without its tag, JSON objects with Base64 by name as NFCPassportReader
/// writes them, dumps, and the evidence that `kazasu passport --save` keeps.
package struct SavedPassport {
    /// Why files do not make up a passport.
    package enum Fault: Error, Hashable {
        /// Two different files of one name, such as `DG1`.
        case different(String)
        /// A part of the evidence is malformed.
        case evidence(DocumentError)
    }

    /// Of which kind a file is.
    private enum Kind: Hashable {
        case application(FileIdentifier)
        case master(FileIdentifier)

        /// The name in file names and messages.
        var name: String { SavedPassport.name(of: id, isMaster: isMaster) }

        private var id: FileIdentifier {
            switch self {
            case .application(let id), .master(let id): id
            }
        }

        private var isMaster: Bool { if case .master = self { true } else { false } }
    }

    /// The longest file, plain, in Base64, or several of them in JSON.
    package static let longestFile = 4 << 20
    /// The longest file of a passport that is taken.
    private static let longestGroup = 1 << 18
    /// Base64 in JSON in a file: no more levels.
    private static let mostLevels = 2

    private var files: [Kind: [UInt8]] = [:]
    private var evidence: PassportEvidence?
    private var challenge: [UInt8]?
    private var signature: [UInt8]?
    /// The names of files behind which there was padding, in the order in which they were added.
    package private(set) var padded: [String] = []

    package init() {}

    /// The name of a file of a passport, as it is saved: `EF_COM`, `DG1`, `EF_SOD`, `EF_CardAccess`, `EF_CardSecurity`.
    ///
    /// - Parameter isMaster: whether it is in the master file.
    package static func name(of id: FileIdentifier, isMaster: Bool) -> String {
        switch id {
        case PassportFile.cardAccess: return "EF_CardAccess"
        case PassportFile.cardSecurity where isMaster: return "EF_CardSecurity"
        case PassportFile.security.id: return "EF_SOD"
        case PassportFile.index.id: return "EF_COM"
        default: return "DG\(id.rawValue & 0xFF)"
        }
    }

    /// Takes what a file has of a passport.
    ///
    /// - Returns: whether it has anything.
    /// - Throws: ``Fault``.
    package mutating func add(_ bytes: [UInt8]) throws(Fault) -> Bool { try add(bytes, level: 0) }

    private mutating func add(_ bytes: [UInt8], level: Int) throws(Fault) -> Bool {
        let start = bytes.prefix(64).first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if start == UInt8(ascii: "{") || bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            guard level == 0, case .object(let object)? = try? JSONValue(parsing: bytes) else { return false }
            return try add(object)
        }
        if let (kind, file) = Self.file(in: bytes) {
            if file.count < bytes.count, !padded.contains(kind.name) { padded.append(kind.name) }
            try set(kind, file)
            return true
        }
        guard level < Self.mostLevels, let inner = Self.base64(bytes) else { return false }
        return try add(inner, level: level + 1)
    }

    /// An object of Base64 by name, or evidence.
    private mutating func add(_ object: JSONObject) throws(Fault) -> Bool {
        if case .string(PassportEvidence.schema)? = object["schema"] {
            try set(evidence: .object(object))
            return true
        }
        if let dump = try? CardDump(json: .object(object)) { return try add(dump) }
        var isFound = false
        for member in object.members {
            switch member.value {
            case .object(let inner):
                guard case .string(PassportEvidence.schema)? = inner["schema"] else { continue }
                try set(evidence: member.value)
                isFound = true
            case .string(let text):
                guard let bytes = Self.base64(Array(text.utf8)) else { continue }
                switch member.key {
                case "AAChallenge": challenge = bytes
                case "AASignature": signature = bytes
                default: if try add(bytes, level: 1) { isFound = true }
                }
            default: continue
            }
        }
        return isFound
    }

    /// What was read of a passport, as `-o` writes it.
    private mutating func add(_ dump: CardDump) throws(Fault) -> Bool {
        guard let application = dump.application(PassportFile.application) else { return false }
        var isFound = false
        for file in application.files where file.state == .read {
            try set(.application(file.id), file.data)
            isFound = true
        }
        for file in dump.application(nil)?.files ?? [] where file.state == .read {
            try set(.master(file.id), file.data)
        }
        return isFound
    }

    private mutating func set(_ kind: Kind, _ file: [UInt8]) throws(Fault) {
        guard files[kind] ?? file == file else { throw .different(kind.name) }
        files[kind] = file
    }

    private mutating func set(evidence value: JSONValue) throws(Fault) {
        let found: PassportEvidence
        do throws(DocumentError) {
            found = try PassportEvidence(json: JSONCursor(value))
        } catch {
            throw .evidence(error)
        }
        guard evidence ?? found == found else { throw .different("evidence.json") }
        evidence = found
    }

    // MARK: What was found

    /// The files as a dump; its card is not known.
    package var dump: CardDump {
        var application = ApplicationDump(aid: PassportFile.application)
        var master = ApplicationDump(aid: nil)
        for (kind, data) in files {
            switch kind {
            case .application(let id): application.files.append(FileDump(id: id, data: data))
            case .master(let id): master.files.append(FileDump(id: id, data: data))
            }
        }
        application.files.sort { $0.id < $1.id }
        master.files.sort { $0.id < $1.id }
        return CardDump(
            card: .typeB(pupi: [0, 0, 0, 0], applicationData: [0, 0, 0, 0], protocolInfo: [0, 0, 0]),
            applications: [application] + (master.files.isEmpty ? [] : [master]), complete: false)
    }

    /// The report of the files, with what replays the check of the chip.
    package var report: PassportReport? {
        guard !files.isEmpty, var report = PassportDecoder.decode(dump) else { return nil }
        report.access = evidence?.access
        var chip = evidence?.chip
        if chip?.active == nil, let challenge, let signature, !challenge.isEmpty, !signature.isEmpty {
            chip = chip ?? ChipEvidence()
            chip?.isOffline = true
            chip?.active = .answered(challenge: challenge, signature: signature)
        }
        report.evidence = chip
        report.isFromFiles = true
        return report
    }

    // MARK: Forms

    /// The data groups by their tags.
    private static let groups: [UInt8: UInt16] = Dictionary(
        uniqueKeysWithValues: zip(PassportGroups.tags, 0x0101...0x0110))

    /// The file of a passport that is all of these bytes but padding.
    private static func file(in bytes: [UInt8]) -> (Kind, [UInt8])? {
        guard let header = try? BERHeader(bytes), header.totalLength <= min(bytes.count, longestGroup),
            let first = bytes.first, let last = bytes[header.totalLength...].last ?? Optional(0),
            last == 0 || last == 0xFF, bytes[header.totalLength...].allSatisfy({ $0 == last })
        else { return nil }
        let file = Array(bytes.prefix(header.totalLength))
        let object = BERTLV(header.tag, Array(file.dropFirst(header.size)))
        switch first {
        case 0x60 where object[0x5C] != nil: return (.application(PassportFile.index.id), file)
        // In BER, lengths in it may be indefinite.
        case 0x77 where object.value.first == 0x30: return (.application(PassportFile.security.id), file)
        case 0x30:
            guard let kind = signed(object) else { return nil }
            // EF.SOD has a tag of its own around it.
            return (kind, kind == .application(PassportFile.security.id) ? BERTLV(0x77, file).encoded : file)
        case 0x31:
            guard let entry = object[0x30], entry[0x06] != nil else { return nil }
            return (.master(PassportFile.cardAccess), file)
        default:
            guard let id = groups[first], object.children?.isEmpty == false else { return nil }
            return (.application(FileIdentifier(rawValue: id)), file)
        }
    }

    /// 1.2.840.113549.1.7.2.
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    /// 0.4.0.127.0.7.3.2.1: the content of EF.CardSecurity.
    private static let cardSecurity: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x03, 0x02, 0x01]
    /// 2.23.136.1.1.2 and 2.23.136.1.1.3: a master list, and a list of deviations.
    private static let lists: [[UInt8]] = [
        [0x67, 0x81, 0x08, 0x01, 0x01, 0x02], [0x67, 0x81, 0x08, 0x01, 0x01, 0x07],
    ]

    /// Which of the signed files it is, by what was signed; `nil` for others, such as lists of certificates.
    private static func signed(_ object: BERTLV) -> Kind? {
        let parts = BERTLVList(tolerant: object.value).objects
        guard parts.count >= 2, parts[0].tag == 0x06, parts[0].value == signedData,
            let content = content(of: parts[1].value)
        else { return nil }
        if content == cardSecurity { return .master(PassportFile.cardSecurity) }
        return lists.contains(content) ? nil : .application(PassportFile.security.id)
    }

    /// The type of what was signed: SEQUENCE { version, digests, SEQUENCE { type, [0] content } … }.
    private static func content(of signed: [UInt8]) -> [UInt8]? {
        guard let parts = BERTLVList(tolerant: signed)[0x30].map({ BERTLVList(tolerant: $0.value).objects }),
            parts.count >= 3, parts[2].tag == 0x30, let inner = Optional(BERTLVList(tolerant: parts[2].value).objects),
            inner.count == 2, inner[0].tag == 0x06, inner[1].tag == 0xA0
        else { return nil }
        return inner[0].value
    }

    /// Base64 in any lines; `nil` for anything else.
    private static func base64(_ bytes: [UInt8]) -> [UInt8]? {
        let digits = bytes.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard !digits.isEmpty, digits.allSatisfy(Base64.isDigit) else { return nil }
        return Base64.decode(String(decoding: digits, as: UTF8.self))
    }
}
