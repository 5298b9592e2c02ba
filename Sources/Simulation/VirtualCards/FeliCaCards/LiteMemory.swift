// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
package import CardModel

/// The fixed blocks of a FeliCa Lite or Lite-S, and its rules for reading and writing them.
///
/// RC starts a session: from then on MAC (81) and MAC_A (91) are computed, and a Lite-S accepts writes with MAC_A. Where
/// sources differ or say nothing, `Docs/virtual-cards.md` lists what was decided here.
///
/// Sources: nfcpy `tt3_sony.py`, Flipper `felica_listener_i.c`, M5Unit-NFC.
package struct LiteMemory: Hashable, Sendable {
    /// The kind of card.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Without blocks 90–92 and A0.
        case lite
        /// With all of them.
        case liteS
    }

    /// The kind of card.
    package let kind: Kind
    /// Its IDm, the same in both systems.
    package let idm: IDm
    package let pmm: PMm
    private var blocks: BlockTable
    /// MC as it was when the card got power: what is written to MC takes effect with the next power.
    private var rules: Block
    /// The session that RC started.
    private var session: LiteSession?
    /// STATE as it was written since the card got power.
    private var state: Block?

    /// Creates a card with these blocks. Numbers that the card does not have are dropped; D_ID (83) is always IDm and
    /// PMm. Missing ones have their factory value: ID (82) the IDm, SYS_C (85) 88B4, MC (88) NDEF allowed, REG (0E) and
    /// WCNT (90) as far as they are known, all others zeros.
    package init(kind: Kind, idm: IDm, pmm: PMm, blocks: BlockTable = [:]) {
        self.kind = kind
        self.idm = idm
        self.pmm = pmm
        var all: BlockTable = blocks.filter { LiteMemory.has($0.number, kind) }
        all[Number.deviceID] = Block(idm.bytes + pmm.bytes)
        rules = all[Number.configuration] ?? LiteMemory.factory
        all[Number.configuration] = rules
        if all[Number.id] == nil { all[Number.id] = Block(idm.bytes + pmm.bytes.map { _ in 0 }) }
        if all[Number.systemCode] == nil { all[Number.systemCode] = LiteMemory.block([0x88, 0xB4]) }
        if all[Number.register] == nil { all[Number.register] = LiteMemory.block([0xFF, 0xFF, 0xFF, 0xFF]) }
        if kind == .liteS, all[Number.writeCount] == nil, rules[2] == 0xFF {
            all[Number.writeCount] = LiteMemory.block([0x00, 0xFE, 0xFF])
        }
        self.blocks = all
        settle()
    }

    /// The stored block with this number, even when reading it gives zeros; `nil` when the card has no such block.
    package subscript(number: UInt16) -> Block? {
        LiteMemory.has(number, kind) ? blocks[number] ?? .zero : nil
    }

    /// Whether it answers a Polling for `12FC`: bit 0 of byte 3 of MC.
    package var answersNDEF: Bool { rules[3] & 1 != 0 }

    /// Whether the reader proved since the last loss of power that it knows the key: EXT_AUTH.
    package var isAuthenticated: Bool { state?[0] == 1 }

    enum Number {
        static let register: UInt16 = 0x0E
        static let challenge: UInt16 = 0x80
        static let mac: UInt16 = 0x81
        static let id: UInt16 = 0x82
        static let deviceID: UInt16 = 0x83
        static let serviceCode: UInt16 = 0x84
        static let systemCode: UInt16 = 0x85
        static let keyVersion: UInt16 = 0x86
        static let key: UInt16 = 0x87
        static let configuration: UInt16 = 0x88
        static let writeCount: UInt16 = 0x90
        static let macA: UInt16 = 0x91
        static let state: UInt16 = 0x92
    }

    /// The factory value of MC.
    private static let factory = block([0xFF, 0xFF, 0xFF, 1, 7])

    private static func block(_ start: [UInt8]) -> Block {
        Block(start + [UInt8](repeating: 0, count: max(0, 16 - start.count))) ?? .zero
    }

    private static func has(_ number: UInt16, _ kind: Kind) -> Bool {
        switch number {
        case 0x00...0x0E, 0x80...0x88: true
        case 0x90...0x92, 0xA0: kind == .liteS
        default: false
        }
    }

    /// Whether bit `number` of the two bytes at `offset` of MC is set.
    private func bit(_ number: UInt16, at offset: Int) -> Bool {
        number <= Number.register && rules.uint16(at: offset, .little) >> number & 1 != 0
    }

    /// Whether the system blocks can still be written: MC_ALL.
    private var isOpen: Bool { rules[2] == 0xFF }

    /// Whether the bits of MC can still be changed: bit 15 of the first two bytes.
    private var mayRestrict: Bool { rules[1] & 0x80 != 0 }

    // MARK: Power

    /// Ends the session and puts what was written to MC into effect.
    package mutating func losePower() {
        blocks[Number.challenge] = nil
        (session, state) = (nil, nil)
        rules = blocks[Number.configuration] ?? rules
        settle()
    }

    /// A card whose system blocks are locked counts from 0.
    private mutating func settle() {
        guard kind == .liteS, !isOpen, writeCount > LiteMemory.lastCount else { return }
        blocks[Number.writeCount] = .zero
    }

    // MARK: Reading

    /// Returns the result of a read, or throws the reason for a refusal. The keys (80, 87) read as zeros.
    func read(_ numbers: [UInt16]) throws(StatusError) -> [Block] {
        for (place, number) in numbers.enumerated() {
            guard self[number] != nil else { throw StatusError(StatusCode.blockNumber, at: place) }
            if kind == .liteS, bit(number, at: 6), !isAuthenticated {
                throw StatusError(StatusCode.authenticationNeeded, at: place)
            }
        }
        if let place = numbers.firstIndex(of: Number.macA), numbers.contains(Number.mac) {
            throw StatusError(StatusCode.twoMACs, at: place)
        }
        var read: [Block] = []
        for number in numbers {
            let isLast = read.count == numbers.count - 1
            switch number {
            case Number.challenge, Number.key: read.append(.zero)
            case Number.state: read.append(state ?? blocks[number] ?? .zero)
            case Number.mac, Number.macA:
                // Without a session, a card made of a dump repeats what was in the dump.
                guard let session else {
                    read.append(blocks[number] ?? .zero)
                    continue
                }
                let list = number == Number.macA ? numbers : nil
                read.append(isLast ? LiteMemory.block(session.mac(of: read, list: list)) : .zero)
            default: read.append(blocks[number] ?? .zero)
            }
        }
        return read
    }

    // MARK: Writing

    /// The last value of WCNT on a card whose system blocks are locked, and on others.
    private static let (lastCount, lastOpenCount): (UInt32, UInt32) = (0xFFFE00, 0xFFFFFF)
    /// From this value of WCNT on, a locked card warns.
    private static let worn: UInt32 = 0x001027

    private var writeCount: UInt32 { (blocks[Number.writeCount] ?? .zero).uint24(at: 0, .little) }
    private var highestCount: UInt32 { isOpen ? LiteMemory.lastOpenCount : LiteMemory.lastCount }

    /// Writes one block, or throws the reason for a refusal.
    ///
    /// - Parameters:
    ///   - mac: what was sent for block 91; `nil` for a write without MAC.
    ///   - refusal: status flag 2 for a block that cannot be written.
    /// - Returns: whether the card warns that its memory is wearing out.
    mutating func write(_ number: UInt16, _ block: Block, mac: Block?, refusal: UInt8) throws(StatusError) -> Bool {
        guard self[number] != nil else { throw StatusError(StatusCode.blockNumber, at: 0) }
        guard isWritable(number, withMAC: mac != nil) else { throw StatusError(refusal, at: 0) }
        if kind == .liteS {
            if bit(number, at: 8), !isAuthenticated { throw StatusError(StatusCode.authenticationNeeded, at: 0) }
            if let mac {
                guard isRight(mac, for: number, block) else { throw StatusError(StatusCode.macNeeded, at: 1) }
            } else if bit(number, at: 10) || number == Number.state {
                throw StatusError(StatusCode.macNeeded, at: 0)
            }
        }
        try store(number, block)
        guard kind == .liteS, number != Number.challenge else { return false }
        defer { count() }
        return !isOpen && writeCount >= LiteMemory.worn
    }

    private func isWritable(_ number: UInt16, withMAC: Bool) -> Bool {
        switch number {
        case 0x00...0x0E: bit(number, at: 0)
        case Number.challenge: true
        case Number.id, Number.serviceCode: isOpen
        case Number.keyVersion, Number.key: isOpen || kind == .liteS && withMAC && rules[5] & 1 != 0
        case Number.configuration: isOpen || mayRestrict
        case Number.state: true
        default: false
        }
    }

    /// Whether block 91 of a write is what this session and WCNT make of the data.
    private func isRight(_ mac: Block, for number: UInt16, _ block: Block) -> Bool {
        guard let session, writeCount < highestCount, mac.uint24(at: 8, .little) == writeCount else { return false }
        return Array(mac.bytes.prefix(8)) == session.mac(writing: block, to: number, count: mac.bytes[8..<11])
    }

    private mutating func store(_ number: UInt16, _ block: Block) throws(StatusError) {
        let old = blocks[number] ?? .zero
        switch number {
        case Number.challenge:
            blocks[number] = block
            session = LiteSession(key: blocks[Number.key] ?? .zero, challenge: block)
        case Number.state: state = block
        case Number.configuration: configure(old, block)
        case Number.id: blocks[number] = Block(old.bytes.prefix(8) + block.bytes.suffix(8))
        case Number.register:
            for offset in [0, 4] where block.uint32(at: offset, .little) > old.uint32(at: offset, .little) {
                throw StatusError(StatusCode.purseOutOfRange, at: 0)
            }
            blocks[number] = block
        default: blocks[number] = block
        }
    }

    /// Restrictions are only added, never taken back.
    private mutating func configure(_ old: Block, _ new: Block) {
        let bytes = zip(old.bytes, new.bytes).enumerated().map { offset, bytes -> UInt8 in
            let (old, new) = bytes
            return switch offset {
            case 0...1: mayRestrict ? old & new : old
            case 2...5: isOpen ? new : old
            case 6...12: mayRestrict ? old | new : old
            default: 0
            }
        }
        blocks[Number.configuration] = Block(bytes)
    }

    private mutating func count() {
        guard writeCount < highestCount else { return }
        let next = writeCount + 1
        blocks[Number.writeCount] = LiteMemory.block((0..<3).map { UInt8(truncatingIfNeeded: next >> (8 * $0)) })
    }
}

/// What a FeliCa Lite makes of its key and RC, for the MACs of one session.
///
/// The card calculates with numbers whose lowest byte is sent first, DES with numbers whose highest byte is first: so
/// each group of eight bytes is turned around.
struct LiteSession: Hashable, Sendable {
    /// The first half of RC, where each MAC starts.
    private let start: UInt64
    /// The two session keys.
    private let keys: [UInt64]

    init(key: Block, challenge: Block) {
        start = challenge.number(at: 0, count: 8, .little)
        keys = LiteSession.encrypt(LiteSession.groups(challenge), with: LiteSession.groups(key), after: 0)
    }

    private static func groups(_ block: Block) -> [UInt64] {
        [block.number(at: 0, count: 8, .little), block.number(at: 8, count: 8, .little)]
    }

    /// The MAC of blocks that are read: with their numbers in front, those of the whole list with its last, for MAC_A.
    func mac(of blocks: [Block], list: [UInt16]?) -> [UInt8] {
        var groups: [UInt64] = []
        if let list {
            groups.append((0..<4).reduce(0) { $0 | UInt64(list.element(at: $1) ?? 0xFFFF) << (16 * UInt64($1)) })
        }
        for block in blocks { groups += LiteSession.groups(block) }
        return mac(groups, keys)
    }

    /// The MAC_A of a block that is written.
    ///
    /// - Parameter count: the three bytes of WCNT.
    func mac(writing block: Block, to number: UInt16, count: some Collection<UInt8>) -> [UInt8] {
        let counted = count.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        let head = counted | UInt64(number & 0xFF) << 32 | UInt64(LiteMemory.Number.macA) << 48
        return mac([head] + LiteSession.groups(block), keys.reversed())
    }

    private func mac(_ groups: [UInt64], _ keys: [UInt64]) -> [UInt8] {
        let last = LiteSession.encrypt(groups, with: keys, after: start).last ?? 0
        return last.block.reversed()
    }

    private static func encrypt(_ groups: [UInt64], with keys: [UInt64], after start: UInt64) -> [UInt64] {
        // Both lengths are right by construction.
        guard let key = try? TripleDESKey(SecretBytes(keys.flatMap(\.block))),
            let bytes = try? key.encrypt(groups.flatMap(\.block), after: start)
        else { return [] }
        return stride(from: 0, to: bytes.count, by: 8).map { UInt64(block: bytes[$0..<$0 + 8]) }
    }
}

/// The blocks behind one service, or behind several that overlap.
package struct BlockStore: Hashable, Sendable {
    /// The blocks by number. A missing number below ``count`` is a hole, as left by an incomplete dump; the card
    /// answers as if the service ended there.
    package private(set) var blocks: BlockTable
    /// The number of allocated blocks.
    package let count: Int

    /// Creates blocks with these numbers; the highest number determines how many are allocated.
    package init(_ blocks: BlockTable = [:]) {
        self.blocks = blocks
        count = blocks.last.map { Int($0.number) + 1 } ?? 0
    }

    /// Creates blocks in order from 0; those after 65 536 are dropped.
    package init(_ blocks: some Sequence<Block>) {
        var numbered: BlockTable = [:]
        for (number, block) in zip(UInt16.min...UInt16.max, blocks) { numbered[number] = block }
        self.init(numbered)
    }

    /// The block with this number, or `nil` when there is none.
    package subscript(number: UInt16) -> Block? { blocks[number] }

    /// Replaces an existing block.
    mutating func replace(_ number: UInt16, with block: Block) {
        if blocks[number] != nil { blocks[number] = block }
    }

    /// Inserts a block before all others, as a write to a cyclic service does; the oldest is dropped.
    mutating func push(_ block: Block) {
        guard count > 0 else { return }
        var moved: BlockTable = [0: block]
        for (number, old) in blocks where Int(number) + 1 < count { moved[number + 1] = old }
        blocks = moved
    }
}
