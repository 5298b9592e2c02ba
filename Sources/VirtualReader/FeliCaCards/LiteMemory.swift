// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The fixed blocks of a FeliCa Lite or Lite-S.
///
/// MACs are not computed: blocks 81 and 91 return their stored bytes, and writes that need a MAC are refused. REG (0E)
/// is written like any block, WCNT (90) does not count.
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

    /// Creates a card with these blocks. Missing ones are zero, except D_ID (83), which is IDm and PMm, and MC (88),
    /// which has its factory value with NDEF allowed. Numbers that the card does not have are dropped.
    package init(kind: Kind, idm: IDm, pmm: PMm, blocks: BlockTable = [:]) {
        self.kind = kind
        self.idm = idm
        self.pmm = pmm
        self.blocks = blocks.filter { LiteMemory.has($0.number, kind) }
        self.blocks[Number.deviceID] = Block(idm.bytes + pmm.bytes)
        if self.blocks[Number.configuration] == nil { self.blocks[Number.configuration] = LiteMemory.factory }
    }

    /// The stored block with this number, even when reading it gives zeros; `nil` when the card has no such block.
    package subscript(number: UInt16) -> Block? {
        LiteMemory.has(number, kind) ? blocks[number] ?? .zero : nil
    }

    /// Whether it answers a Polling for `12FC`: bit 0 of byte 3 of MC.
    package var answersNDEF: Bool { configuration[3] & 1 != 0 }

    enum Number {
        static let register: UInt16 = 0x0E
        static let challenge: UInt16 = 0x80
        static let deviceID: UInt16 = 0x83
        static let key: UInt16 = 0x87
        static let configuration: UInt16 = 0x88
        static let macA: UInt16 = 0x91
        static let state: UInt16 = 0x92
    }

    /// The factory value of MC.
    private static let factory = Block([0xFF, 0xFF, 0xFF, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])

    private static func has(_ number: UInt16, _ kind: Kind) -> Bool {
        switch number {
        case 0x00...0x0E, 0x80...0x88: true
        case 0x90...0x92, 0xA0: kind == .liteS
        default: false
        }
    }

    private var configuration: Block { blocks[Number.configuration] ?? .zero }

    /// Whether bit `number` of the two bytes at `offset` of MC is set.
    private func bit(_ number: UInt16, at offset: Int) -> Bool {
        number <= Number.register && configuration.uint16(at: offset, .little) >> number & 1 != 0
    }

    /// Returns the result of a read, or throws the reason for a refusal. The keys (80, 87) read as zeros.
    func read(_ number: UInt16) throws(StatusError) -> Block {
        guard let block = self[number] else { throw StatusError(StatusCode.blockNumber) }
        if kind == .liteS, bit(number, at: 6) { throw StatusError(StatusCode.authenticationNeeded) }
        return number == Number.challenge || number == Number.key ? .zero : block
    }

    /// Writes one block, or throws the reason for a refusal.
    mutating func write(_ number: UInt16, _ block: Block, refusal: UInt8) throws(StatusError) {
        guard self[number] != nil else { throw StatusError(StatusCode.blockNumber) }
        guard number != Number.state else { throw StatusError(StatusCode.macNeeded) }
        guard isWritable(number) else { throw StatusError(refusal) }
        if kind == .liteS {
            if bit(number, at: 8) { throw StatusError(StatusCode.authenticationNeeded) }
            if bit(number, at: 10) { throw StatusError(StatusCode.macNeeded) }
        }
        blocks[number] = block
    }

    private func isWritable(_ number: UInt16) -> Bool {
        switch number {
        case 0x00...0x0E: bit(number, at: 0)
        case Number.challenge: true
        case 0x82, 0x84, 0x86, Number.key, Number.configuration: configuration[2] == 0xFF
        default: false
        }
    }

    /// RC is lost without power.
    mutating func losePower() {
        blocks[Number.challenge] = nil
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
