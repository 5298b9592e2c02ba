// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// Reconstructs a card from the commands sent to it and its responses.
///
/// It interprets Polling, Request Service, Read Without Encryption and Search Service Code; other commands carry
/// nothing that belongs in a dump. Where a block was read more than once, the last response wins.
struct FeliCaLog {
    private var card = ImportedCard()
    /// The IDm of each system as in the log, masked or not.
    private var identities: [[UInt8?]] = []
    /// The system polled last.
    private var current: Int?

    /// Adds a command with its response.
    mutating func add(_ command: LoggedPacket, _ answer: LoggedPacket) throws(DocumentError) {
        guard answer.code == command.code &+ 1 else { throw answer.misplaced }
        if command.code == 0x00 { return try polling(command, answer) }
        guard [0x02, 0x06, 0x0A].contains(command.code) else { return }
        let idm = command.part(2, 8)
        guard idm.count == 8, answer.part(2, 8) == idm else { throw answer.misplaced }
        let system = place(of: idm)
        switch command.code {
        case 0x02: try keyVersions(command, answer, system)
        case 0x06: try blocks(command, answer, system)
        default: try node(answer, system)
        }
    }

    /// Returns the dump.
    ///
    /// - Throws: ``CardModel/DocumentError`` when no card answered, or a system's code is unknown.
    func finish() throws(DocumentError) -> CardDump {
        guard !card.systems.isEmpty else { throw .missing(key: "[].data of an answer to Polling") }
        return try card.dump(unnamed: .missing(key: "[].data of a Polling with a system code"))
    }

    // MARK: Systems

    private mutating func polling(_ command: LoggedPacket, _ answer: LoggedPacket) throws(DocumentError) {
        let asked = try command.byte(2).bigEndian16(try command.byte(3))
        let idm = answer.part(2, 8)
        guard idm.count == 8, let pmm = answer.plain(10, 8).flatMap({ PMm($0) }) else { throw answer.malformed }
        var code: UInt16? = asked >> 8 == 0xFF || asked & 0xFF == 0xFF ? nil : asked
        if try command.byte(4) == 0x01, let told = answer.plain(18, 2), let high = told.first, let low = told.last {
            code = high.bigEndian16(low)
        }
        let known = card.systems.indices.last { index in
            guard identities[index] == idm else { return false }
            return code == nil || card.systems[index].code == nil || card.systems[index].code?.rawValue == code
        }
        let index = known ?? append(idm)
        if let code { card.systems[index].code = SystemCode(rawValue: code) }
        card.systems[index].pmm = pmm
        card.idm = card.idm ?? IDm(idm.compactMap { $0 })
        card.pmm = card.pmm ?? pmm
        current = index
    }

    private mutating func append(_ idm: [UInt8?]) -> Int {
        identities.append(idm)
        card.systems.append(ImportedSystem(code: nil, idm: IDm(idm.compactMap { $0 })))
        return card.systems.count - 1
    }

    /// Returns the index of the system addressed by an IDm; both systems of a FeliCa Lite share one IDm.
    private mutating func place(of idm: [UInt8?]) -> Int {
        if let current, identities[current] == idm { return current }
        return identities.lastIndex(of: idm) ?? append(idm)
    }

    // MARK: Nodes and blocks

    private mutating func node(_ answer: LoggedPacket, _ system: Int) throws(DocumentError) {
        let code: ServiceCode = try answer.wireCode(10)
        // FFFF ends the list.
        guard code.rawValue != 0xFFFF else { return }
        guard answer.bytes.count >= 14 else { return card.systems[system].note(code) }
        let area = AreaDump(start: AreaCode(rawValue: code.rawValue), end: try answer.wireCode(12), keyVersion: nil)
        if !card.systems[system].areas.contains(where: { $0.start == area.start && $0.end == area.end }) {
            card.systems[system].areas.append(area)
        }
    }

    private mutating func keyVersions(
        _ command: LoggedPacket, _ answer: LoggedPacket, _ system: Int
    ) throws(DocumentError) {
        let count = try answer.byte(10)
        guard try command.byte(10) == count else { throw answer.misplaced }
        for number in 0..<Int(count) {
            let code: ServiceCode = try command.wireCode(11 + number * 2)
            let version: KeyVersion = try answer.wireCode(11 + number * 2)
            // FFFF: there is no such node. Areas come from Search Service Code, with their end.
            guard version.rawValue != 0xFFFF, code.kind != nil else { continue }
            card.systems[system].note(code, keyVersion: version)
        }
    }

    private mutating func blocks(
        _ command: LoggedPacket, _ answer: LoggedPacket, _ system: Int
    ) throws(DocumentError) {
        let serviceCount = Int(try command.byte(10))
        var services: [ServiceCode] = []
        for number in 0..<serviceCount { services.append(try command.wireCode(11 + number * 2)) }
        var place = 11 + serviceCount * 2
        let count = Int(try command.byte(place))
        place += 1
        // The card refused.
        guard try answer.byte(10) == 0 else { return }
        guard Int(try answer.byte(12)) == count, answer.bytes.count == 13 + count * 16 else { throw answer.misplaced }
        for number in 0..<count {
            let head = try command.byte(place)
            let isShort = head & 0x80 != 0
            let block =
                isShort
                ? UInt16(try command.byte(place + 1)) : try command.wireCode(place + 1, BlockIndex.self).rawValue
            place += isShort ? 2 : 3
            guard let service = services.element(at: Int(head & 0x0F)) else { throw command.malformed }
            if let bytes = answer.plain(13 + number * 16, 16), let content = Block(bytes) {
                _ = card.systems[system].add(content, at: block, of: service)
            } else {
                card.complete = false
                card.systems[system].note(service) { $0.isMasked = true }
            }
        }
    }
}

extension UInt8 {
    /// The 16-bit number with this byte as the more significant one.
    fileprivate func bigEndian16(_ low: UInt8) -> UInt16 { UInt16(self) << 8 | UInt16(low) }
}

/// A FeliCa packet from a log, LEN byte first; bytes masked for privacy (`XX`) are `nil`.
struct LoggedPacket {
    /// The bytes, including LEN.
    let bytes: [UInt8?]
    private let place: JSONCursor

    /// Parses a packet of hexadecimal digits.
    ///
    /// - Throws: ``CardModel/DocumentError`` when it is not a packet, or its length differs from its first byte.
    init(_ json: JSONCursor) throws(DocumentError) {
        place = json
        let digits = Array(try json.text().utf8)
        guard digits.count.isMultiple(of: 2) else { throw json.malformed(.packetInHex) }
        var bytes: [UInt8?] = []
        bytes.reserveCapacity(digits.count / 2)
        for start in stride(from: 0, to: digits.count, by: 2) {
            let pair = (digits[start], digits[start + 1])
            if pair == (0x58, 0x58) {
                bytes.append(nil)
            } else if let high = Hex.value(of: pair.0), let low = Hex.value(of: pair.1) {
                bytes.append(high << 4 | low)
            } else {
                throw json.malformed(.packetInHex)
            }
        }
        guard bytes.count >= 2, let length = bytes[0], Int(length) == bytes.count, bytes[1] != nil else {
            throw json.malformed(.packetLength)
        }
        self.bytes = bytes
    }

    /// The command or response code.
    var code: UInt8 { bytes.element(at: 1).flatMap { $0 } ?? 0xFF }

    /// Returns some bytes, masked or not; fewer when the packet ends earlier.
    func part(_ start: Int, _ count: Int) -> [UInt8?] { Array(bytes.dropFirst(start).prefix(count)) }

    /// Returns some bytes; `nil` when one of them is masked or missing.
    func plain(_ start: Int, _ count: Int) -> [UInt8]? {
        let found = part(start, count).compactMap { $0 }
        return found.count == count ? found : nil
    }

    /// Returns a required byte.
    func byte(_ place: Int) throws(DocumentError) -> UInt8 {
        guard let byte = plain(place, 1)?.first else { throw malformed }
        return byte
    }

    /// Returns a required code in wire order.
    func wireCode<Code: FourDigitCode>(_ place: Int, _ type: Code.Type = Code.self) throws(DocumentError) -> Code {
        guard let bytes = plain(place, 2), let low = bytes.first, let high = bytes.last else { throw malformed }
        return Code(rawValue: UInt16(high) << 8 | UInt16(low))
    }

    /// The error for a packet that is too short, or masked in a required field.
    var malformed: DocumentError { place.malformed(.packet) }

    /// The error for a packet that does not match the command before it.
    var misplaced: DocumentError { place.malformed(.matchingAnswer) }
}
