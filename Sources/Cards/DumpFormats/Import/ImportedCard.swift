// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// A FeliCa card under construction while a file is read.
struct ImportedCard {
    /// The card's IDm in the file, or `nil`.
    var idm: IDm?
    /// The card's PMm in the file, or `nil`.
    var pmm: PMm?
    /// The time of reading, ISO 8601.
    var readAt: String?
    var tool: String?
    /// Whether the file has everything that is readable without a key, to the extent that it says so.
    var complete = true
    var missing: [MissingPart] = []
    var systems: [ImportedSystem] = []
    /// Members of the dump; data that Kazasu has no place for goes below the name of the format.
    var extra = JSONObject()

    /// Returns the dump; marks in each system the values that the file did not give.
    ///
    /// On an ordinary card, all systems have the same PMm, and the same IDm except for its high nibble, the system
    /// number; so a file that gives them once is read that way. The systems of a FeliCa Lite, Lite-S or Link have one IDm.
    ///
    /// - Throws: `unnamed` when a system's code is neither given nor implied by its services.
    func dump(unnamed: DocumentError) throws(DocumentError) -> CardDump {
        var dumps: [SystemDump] = []
        let isLite = pmm.map { (0xF0...0xF2).contains($0.icType) } ?? false
        for (number, system) in systems.enumerated() {
            var assumed = system.assumed
            let services = system.finishedServices
            if system.code == nil || system.isCodeAssumed { assumed.append(.systemCode) }
            guard let code = system.code ?? ImportedSystem.assumedCode(for: services.map(\.code)) else { throw unnamed }
            let ofCard = systems.count == 1 || isLite ? idm : idm?.inSystem(UInt8(truncatingIfNeeded: number))
            let isOnlyOne = systems.count == 1 || isLite
            if system.idm == nil, idm == nil || !isOnlyOne { assumed.append(.idm) }
            if system.pmm == nil, pmm == nil || !isOnlyOne { assumed.append(.pmm) }
            var dump = SystemDump(
                systemCode: code, idm: system.idm ?? ofCard ?? IDm(rawValue: 0),
                pmm: system.pmm ?? pmm ?? PMm(rawValue: 0), areas: system.areas, services: services, assumed: assumed,
                extra: system.extra)
            dump.isSkipped = system.isSkipped
            dumps.append(dump)
        }
        return CardDump(
            tool: tool, readAt: readAt, complete: complete, missing: missing,
            card: CardIdentity(
                technology: .felica, idm: idm ?? systems.first?.idm, pmm: pmm ?? systems.first?.pmm),
            systems: dumps, extra: extra)
    }

    /// Returns the index of the last system; adds one without a code if there is none.
    mutating func lastSystem() -> Int {
        if systems.isEmpty { systems.append(ImportedSystem(code: nil)) }
        return systems.count - 1
    }

    /// Returns the dump of a file that names every system.
    func dump() throws(DocumentError) -> CardDump {
        try dump(unnamed: .missing(key: "systemCode"))
    }
}

/// A system under construction while a file is read.
struct ImportedSystem {
    /// The code, or `nil` when the file does not give it.
    var code: SystemCode?
    /// Whether the code is only likely.
    var isCodeAssumed = false
    /// The system's own IDm, or `nil` when the file does not give it.
    var idm: IDm?
    /// The system's own PMm, or `nil` when the file does not give it.
    var pmm: PMm?
    var areas: [AreaDump] = []
    var assumed: [AssumedPart] = []
    var isSkipped = false
    var extra = JSONObject()
    private(set) var services: [ServiceDump] = []
    private var places: [ServiceCode: Int] = [:]
    private var states: [ServiceCode: ReadState] = [:]

    init(code: SystemCode?, idm: IDm? = nil, pmm: PMm? = nil) {
        self.code = code
        self.idm = idm
        self.pmm = pmm
    }

    /// Records a service at the position of its first mention, and applies `change` to it.
    mutating func note(
        _ code: ServiceCode, keyVersion: KeyVersion? = nil, state: ReadState? = nil,
        _ change: (inout ServiceDump) -> Void = { _ in }
    ) {
        if places[code] == nil {
            places[code] = services.count
            services.append(ServiceDump(code: code, state: .skipped))
        }
        guard let place = places[code] else { return }
        if let keyVersion { services[place].keyVersion = keyVersion }
        change(&services[place])
        if let state { states[code] = state }
    }

    /// Adds one block of a service; returns `false` when the block is already present with other bytes.
    mutating func add(_ block: Block, at number: UInt16, of code: ServiceCode) -> Bool {
        note(code)
        guard let place = places[code] else { return false }
        let old = services[place].blocks.updateValue(block, forKey: number)
        return old == nil || old == block
    }

    /// Adds one block of a service.
    ///
    /// - Throws: `error` when the block is already present with other bytes.
    mutating func add(
        _ block: Block, at number: UInt16, of code: ServiceCode, or error: @autoclosure () -> DocumentError
    ) throws(DocumentError) {
        if !add(block, at: number, of: code) { throw error() }
    }

    /// Returns the number of blocks of a service.
    func count(of code: ServiceCode) -> Int { numbers(of: code).count }

    /// Returns the block numbers of a service, unordered.
    func numbers(of code: ServiceCode) -> [UInt16] {
        places[code].map { services[$0].blocks.numbers } ?? []
    }

    /// Records that the open services of `group` without blocks give access to the same blocks as the one with blocks.
    mutating func noteOverlap(_ group: [ServiceCode]) {
        guard let read = group.first(where: { count(of: $0) > 0 }) else { return }
        for code in group where code != read && !code.requiresAuthentication && count(of: code) == 0 {
            note(code, state: .skipped) { $0.sameAs = SameBlocks(read) }
        }
    }

    /// The services with their outcome.
    ///
    /// This is the outcome given in the file; otherwise read when there are blocks, needing a key when the code says
    /// so, and else not requested.
    var finishedServices: [ServiceDump] {
        services.map { service in
            var service = service
            service.state =
                states[service.code]
                ?? (!service.blocks.isEmpty ? .read : service.code.requiresAuthentication ? .keyRequired : .skipped)
            return service
        }
    }

    /// Returns the only system with such services, for files that do not name the system.
    ///
    /// The transit system for its history, balance and gate log; the common area for the purses of Edy, nanaco and
    /// WAON.
    static func assumedCode(for services: some Sequence<ServiceCode>) -> SystemCode? {
        let codes = Set(services.map(\.rawValue))
        if !codes.isDisjoint(with: [0x090F, 0x008B, 0x108F, 0x10CB]) { return .transit }
        if !codes.isDisjoint(with: [0x1317, 0x170F, 0x110B, 0x5597, 0x564F, 0x558B, 0x6817, 0x680B, 0x684F]) {
            return .commonArea
        }
        return nil
    }
}

/// Builds the dump of a FeliCa card from a file read element by element, for formats in other modules.
package struct FeliCaCardBuilder: Sendable {
    private var card = ImportedCard()

    package init() {}

    /// Sets the tag ID given beside the card, in hexadecimal digits; ignores anything else.
    package mutating func setID(hex: String) {
        if let bytes = try? Hex.decode(hex), let idm = IDm(bytes) { card.idm = idm }
    }

    /// Sets the program that wrote the file.
    package mutating func setTool(_ tool: String) { card.tool = tool }

    /// Sets the time of reading, in milliseconds since 1970.
    package mutating func setMoment(milliseconds: Int64) {
        card.readAt = Timestamp(milliseconds: Int(milliseconds)).utcText
    }

    /// Sets the IDm.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when the text is not 8 bytes.
    package mutating func setIDm(base64 text: [UInt8], line: Int) throws(DocumentError) {
        guard let idm = IDm(decoded(text)) else {
            throw .malformedLine(line: line, expected: .init(.bytesInBase64, "8"))
        }
        card.idm = idm
    }

    /// Sets the PMm.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when the text is not 8 bytes.
    package mutating func setPMm(base64 text: [UInt8], line: Int) throws(DocumentError) {
        guard let pmm = PMm(decoded(text)) else {
            throw .malformedLine(line: line, expected: .init(.bytesInBase64, "8"))
        }
        card.pmm = pmm
    }

    /// Sets the PMm of the card, in hexadecimal digits.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when the text is not 8 bytes.
    package mutating func setPMm(hex: String, line: Int) throws(DocumentError) {
        card.pmm = try TextLine(number: line, bytes: []).pmm(hex)
    }

    /// Sets the IDm of the current system, in hexadecimal digits.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when the text is not 8 bytes, or when no
    ///   system was begun.
    package mutating func setSystemIDm(hex: String, line: Int) throws(DocumentError) {
        let idm = try TextLine(number: line, bytes: []).idm(hex)
        card.systems[try currentSystem(line)].idm = idm
    }

    /// Adds an area to the current system.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when no system was begun.
    package mutating func addArea(_ start: AreaCode, _ end: AreaCode, line: Int) throws(DocumentError) {
        card.systems[try currentSystem(line)].areas.append(AreaDump(start: start, end: end))
    }

    private func currentSystem(_ line: Int) throws(DocumentError) -> Int {
        guard !card.systems.isEmpty else { throw .malformedLine(line: line, expected: .init(.systemBeforeServices)) }
        return card.systems.count - 1
    }

    /// Whether a system was begun.
    package var hasSystem: Bool { !card.systems.isEmpty }

    /// Begins a system, to which the following services belong.
    package mutating func beginSystem(_ code: SystemCode) {
        card.systems.append(ImportedSystem(code: code))
    }

    /// Adds a service to the current system.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when no system was begun.
    package mutating func note(_ code: ServiceCode, line: Int) throws(DocumentError) {
        guard !card.systems.isEmpty else { throw .malformedLine(line: line, expected: .init(.serviceInSystem)) }
        card.systems[card.systems.count - 1].note(code)
    }

    /// Adds a block to a service of the current system.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when the text is not 16 bytes, or the block
    ///   is already present with other bytes.
    package mutating func add(
        base64 text: [UInt8], at number: UInt16, of code: ServiceCode, line: Int
    ) throws(DocumentError) {
        guard let block = Block(decoded(text)) else {
            throw .malformedLine(line: line, expected: .init(.bytesInBase64, "16"))
        }
        try add(block, at: number, of: code, line: line)
    }

    /// Adds a block, in hexadecimal digits, to a service of the current system.
    ///
    /// - Throws: as ``add(base64:at:of:line:)``.
    package mutating func add(
        hex text: String, at number: UInt16, of code: ServiceCode, line: Int
    ) throws(DocumentError) {
        try add(try TextLine(number: line, bytes: []).block(text), at: number, of: code, line: line)
    }

    private mutating func add(
        _ block: Block, at number: UInt16, of code: ServiceCode, line: Int
    ) throws(DocumentError) {
        guard !card.systems.isEmpty, card.systems[card.systems.count - 1].add(block, at: number, of: code) else {
            throw .malformedLine(line: line, expected: .init(.uniqueBlock))
        }
    }

    /// Returns the dump.
    ///
    /// - Throws: ``CardModel/DocumentError/malformedLine(line:expected:)`` when there is no IDm.
    package func finish(line: Int) throws(DocumentError) -> CardDump {
        guard card.idm != nil else { throw .malformedLine(line: line, expected: .init(.cardWithIDm)) }
        return try card.dump()
    }

    private func decoded(_ text: [UInt8]) -> [UInt8] {
        Base64.decode(String(decoding: text.filter { Base64.isDigit($0) }, as: UTF8.self)) ?? []
    }
}

/// A block number, written as four hexadecimal digits.
struct BlockIndex: FourDigitCode {
    let rawValue: UInt16

    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}
