// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers

/// The commands of a selected Type 2 Tag.
struct Type2State: Sendable {
    /// The result of a command.
    enum Result: Hashable, Sendable {
        case data([UInt8])
        case acknowledge
        /// A NAK with this code: 0 argument, 1 parity or CRC, 4 counter or too many wrong passwords.
        case refusal(UInt8)
        case silence
    }

    /// The code of every NAK for a wrong argument.
    static let wrongArgument: UInt8 = 0x0
    static let wrongChecksum: UInt8 = 0x1
    static let counterOverflow: UInt8 = 0x4

    var memory: Type2Memory
    var quirks = Type2Quirks()
    private(set) var isAuthenticated = false
    /// The page whose 16 bytes COMPATIBILITY_WRITE waits for.
    private var pageToWrite: Int?
    /// The answer to the first part of AUTHENTICATE; the second part has to be the reply to its number.
    private var challenge: UInt64?
    /// The number of challenges so far: each has another number.
    private var challenges: UInt64 = 0
    /// Whether a read was counted since power-on.
    private var hasCounted = false

    /// The protection in this session.
    private(set) var protection: Type2Protection
    /// The random number of an Ultralight AES that waits for its second part, and the number of its key.
    var aesChallenge: (number: [UInt8], key: [UInt8])?
    /// The codes of this session's commands and answers, and how many there were.
    var codes: (key: [UInt8], count: UInt16)?

    init(_ memory: Type2Memory) {
        self.memory = memory
        protection = memory.protection
    }

    /// The tag was selected again, or fell back.
    mutating func forgetSession() {
        isAuthenticated = false
        pageToWrite = nil
        challenge = nil
        aesChallenge = nil
        codes = nil
        protection = memory.protection
    }

    mutating func losePower() {
        forgetSession()
        hasCounted = false
    }

    mutating func take(_ frame: [UInt8]) -> Result {
        if let begun = aesChallenge {
            aesChallenge = nil
            return proveAES(begun.number, begun.key, frame)
        }
        guard codes != nil else { return carryOut(frame) }
        let command = Array(frame.dropLast(8))
        guard frame.count > 8, nextCode(of: command) == Array(frame.suffix(8)) else {
            return .refusal(Self.wrongArgument)
        }
        guard case .data(let data) = carryOut(command) else { return .refusal(Self.wrongArgument) }
        return .data(data + nextCode(of: data))
    }

    private mutating func carryOut(_ frame: [UInt8]) -> Result {
        if let page = pageToWrite {
            pageToWrite = nil
            return frame.count == 16 ? write(page, Array(frame.prefix(4))) : .refusal(Self.wrongArgument)
        }
        if let challenge {
            self.challenge = nil
            return prove(challenge, frame)
        }
        switch (frame.first, frame.count) {
        case (0x30, 2): return read(Int(frame[1]))
        case (0xA2, 6): return write(Int(frame[1]), Array(frame[2...]))
        case (0xA0, 2): return prepareWrite(Int(frame[1]))
        case (0x1A, 2) where memory.model == .ultralightC:
            return frame[1] == 0 ? beginAuthentication() : .refusal(Self.wrongArgument)
        case (0x1A, 2) where memory.model == .mf0aes20: return beginAES(Int(frame[1]))
        case (0x60, 1), (0x3A, 3), (0x3C, 2), (0x1B, 5), (0x39, 2), (0xA5, 6), (0x3E, 2):
            if frame[0] == 0x60, quirks.ignoresVersion { return .silence }
            if frame[0] == 0x3A, quirks.refusesFastRead { return .refusal(Self.wrongArgument) }
            guard let version = quirks.version ?? memory.layout.version else { return unknown }
            return frame[0] == 0x60 ? .data(version) : newer(frame)
        default: return unknown
        }
    }

    private var unknown: Result { memory.layout.refusesUnknown ? .refusal(Self.wrongArgument) : .silence }

    /// The commands of Ultralight EV1 and NTAG21x.
    private mutating func newer(_ frame: [UInt8]) -> Result {
        switch frame[0] {
        case 0x3A: return fastRead(Int(frame[1]), Int(frame[2]))
        case 0x3C: return frame[1] == 0 ? .data(memory.signature) : .refusal(Self.wrongArgument)
        case 0x1B: return authenticate(Array(frame[1...]))
        case 0x39: return readCounter(Int(frame[1]))
        case 0xA5: return raiseCounter(Int(frame[1]), by: frame[2...])
        default:
            let isThere = memory.layout.counter == .three && frame[1] < 3
            return isThere ? .data([0xBD]) : .refusal(Self.wrongArgument)
        }
    }

    // MARK: Reading

    /// The number of pages, from the first, that can be read now.
    private var readablePages: Int {
        let all = memory.layout.lastReadable + 1
        return protection.protectsReading && !isAuthenticated ? min(all, protection.firstProtected) : all
    }

    /// Returns four pages; after the last readable page it wraps to the first.
    private mutating func read(_ page: Int) -> Result {
        let count = readablePages
        guard page < count, !quirks.refusesWrap || page + 4 <= count else { return .refusal(Self.wrongArgument) }
        countRead()
        return .data((0..<4).flatMap { memory.read((page + $0) % count) })
    }

    private mutating func fastRead(_ first: Int, _ last: Int) -> Result {
        guard first <= last, last < readablePages else { return .refusal(Self.wrongArgument) }
        countRead()
        return .data((first...last).flatMap { memory.read($0) })
    }

    // MARK: Writing

    private func mayWrite(_ page: Int) -> Bool {
        guard (2..<memory.layout.pages).contains(page) else { return false }
        if page >= protection.firstProtected, !isAuthenticated { return false }
        if protection.locksConfiguration, let config = memory.layout.config, (config...config + 1).contains(page) {
            return false
        }
        return page == 2 || !memory.isLocked(page)
    }

    private mutating func prepareWrite(_ page: Int) -> Result {
        guard mayWrite(page) else { return .refusal(Self.wrongArgument) }
        pageToWrite = page
        return .acknowledge
    }

    private mutating func write(_ page: Int, _ data: [UInt8]) -> Result {
        guard mayWrite(page) else { return .refusal(Self.wrongArgument) }
        if page == 2 {
            memory.lockStatically(data)
        } else if page == 3 {
            memory.write(3, zip(memory[3], data).map { $0 | $1 })
        } else if let locks = memory.layout.locks, locks.page == page {
            memory.lockDynamically(locks, data)
        } else if memory.layout.counter == .page(page) {
            return writeCounter(page, data)
        } else {
            memory.write(page, data)
        }
        return .acknowledge
    }

    /// The first write sets the counter, later ones raise it by the low nibble.
    private mutating func writeCounter(_ page: Int, _ data: [UInt8]) -> Result {
        let old = memory[page]
        let value = Int(old[0]) | Int(old[1]) << 8
        let given = Int(data.element(at: 0) ?? 0) | Int(data.element(at: 1) ?? 0) << 8
        let new = value == 0 ? given : value + (given & 0x0F)
        guard new <= 0xFFFF else { return .refusal(Self.counterOverflow) }
        memory.write(page, [UInt8(truncatingIfNeeded: new), UInt8(truncatingIfNeeded: new >> 8), 0, 0])
        return .acknowledge
    }

    // MARK: Counters

    private var accessByte: UInt8 { memory.layout.config.map { memory[$0 + 1][0] } ?? 0 }

    /// The first read after power-on raises the counter of an NTAG when that is enabled.
    private mutating func countRead() {
        guard memory.layout.counter == .automatic, accessByte & 0x10 != 0, !hasCounted else { return }
        hasCounted = true
        memory.counters[2] = min(memory.counters[2] &+ 1, 0xFF_FFFF)
    }

    private func readCounter(_ number: Int) -> Result {
        let isThere =
            switch memory.layout.counter {
            case .three: (0...2).contains(number)
            case .automatic: number == 2 && accessByte & 0x10 != 0 && (accessByte & 0x08 == 0 || isAuthenticated)
            case .none, .page: false
            }
        guard isThere, let value = memory.counters.element(at: number) else { return .refusal(Self.wrongArgument) }
        return .data((0..<3).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }

    private mutating func raiseCounter(_ number: Int, by amount: ArraySlice<UInt8>) -> Result {
        guard memory.layout.counter == .three, let value = memory.counters.element(at: number) else {
            return .refusal(Self.wrongArgument)
        }
        let step = amount.prefix(3).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard value &+ step <= 0xFF_FFFF else { return .refusal(Self.counterOverflow) }
        memory.counters[number] = value &+ step
        return .acknowledge
    }

    // MARK: Key

    private var key: TripleDESKey? { try? TripleDESKey(SecretBytes(protection.key)) }

    /// An encrypted random number; the same ones in each run.
    private mutating func beginAuthentication() -> Result {
        let number = SplitMix64.number(seed: UInt64(block: memory.uid), index: challenges)
        guard let cipher = try? key?.encrypt(number.block) else { return .refusal(Self.wrongArgument) }
        challenges &+= 1
        isAuthenticated = false
        challenge = UInt64(block: cipher)
        return .data([0xAF] + cipher)
    }

    /// The second part: the reader's number and the tag's, rotated by one byte; the answer is the reader's, rotated.
    private mutating func prove(_ challenge: UInt64, _ frame: [UInt8]) -> Result {
        guard let key, frame.first == 0xAF, frame.count == 17,
            let own = try? key.decrypt(challenge.block),
            let both = try? key.decrypt(frame.dropFirst(), after: challenge),
            both.suffix(8).elementsEqual(own.dropFirst() + own.prefix(1)),
            let proof = try? key.encrypt(both[1..<8] + both[..<1], after: UInt64(block: frame.suffix(8)))
        else { return .refusal(Self.wrongArgument) }
        isAuthenticated = true
        return .data([0x00] + proof)
    }

    /// Another number each time, the same ones in each run.
    mutating func nextNumber() -> [UInt8] {
        defer { challenges &+= 2 }
        let seed = UInt64(block: memory.uid)
        return SplitMix64.number(seed: seed, index: challenges).block
            + SplitMix64.number(seed: seed, index: challenges &+ 1).block
    }

    /// A key was proved.
    mutating func open() {
        isAuthenticated = true
        memory.wrongPasswords = 0
    }

    // MARK: Password

    private mutating func authenticate(_ password: [UInt8]) -> Result {
        guard let config = memory.layout.config, memory.model != .mf0aes20 else { return unknown }
        let limit = protection.wrongPasswords
        guard limit == 0 || memory.wrongPasswords < limit else { return .refusal(Self.counterOverflow) }
        guard password == memory[config + 2] else {
            guard limit > 0 else { return .refusal(Self.wrongArgument) }
            memory.wrongPasswords += 1
            // The one that reaches the limit is refused like every password after it.
            return .refusal(memory.wrongPasswords < limit ? Self.wrongArgument : Self.counterOverflow)
        }
        memory.wrongPasswords = 0
        isAuthenticated = true
        return .data(Array(memory[config + 3].prefix(2)))
    }
}

/// Oddities of copies of NXP's tags.
struct Type2Quirks: Hashable, Sendable {
    /// Whether GET_VERSION is not answered.
    var ignoresVersion = false
    var refusesFastRead = false
    /// The answer to GET_VERSION in place of the model's.
    var version: [UInt8]?
    /// Whether a READ that would go beyond the last page is refused.
    var refusesWrap = false

    /// The quirks that such a tag may have.
    static let names: [CardQuirks.Name] =
        [
            .largeContainer, .withoutVersion, .withoutFastRead, .otherVersion, .zeroSignature, .withoutWrap,
            .shortVersion,
        ] + TypeAIdentity.quirks.filter { $0 != .uid88 }

    /// - Parameter memory: gets what the quirks change in it.
    init(_ quirks: CardQuirks, _ memory: inout Type2Memory) {
        ignoresVersion = quirks.has(.withoutVersion)
        refusesFastRead = quirks.has(.withoutFastRead)
        // Mikron, as RfidResearchGroup/proxmark3#1426 has it.
        if quirks.has(.otherVersion) { version = [0x00, 0x34, 0x21, 0x01, 0x01, 0x00, 0x0E, 0x03] }
        if quirks.has(.shortVersion) { version = [UInt8](repeating: 0, count: 7) }
        refusesWrap = quirks.has(.withoutWrap)
        if quirks.has(.largeContainer) { memory.write(3, [0xE1, 0x10, 0xFF, 0x00]) }
        if quirks.has(.zeroSignature) { memory.signature = memory.signature.map { _ in 0 } }
    }

    init() {}
}
