// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import MIFAREClassic
public import NDEF
internal import NFCForumTags
internal import ReaderCore

extension Card {
    /// Returns the card as a MIFARE Classic, which its owner's keys open.
    ///
    /// ```swift
    /// let card = try reader.waitForCard(.classic).classic()
    /// let sectors = try card.information(keys).sectors
    /// ```
    ///
    /// The reader has to do Crypto1 itself, as a PN532, an ACR122U and PC/SC readers do. No key is recovered or guessed.
    ///
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card of another kind.
    @_disfavoredOverload
    public func classic() throws(KazasuError) -> ClassicCard {
        let tag: ClassicTag = try classic()
        return ClassicCard(card: self, tag: tag)
    }
}

/// A MIFARE Classic on a reader.
///
/// Blocks are counted from 0 through the whole card; ``ClassicKind`` has the sector of a block.
public struct ClassicCard {
    private let card: Card
    private let tag: ClassicTag

    fileprivate init(card: Card, tag: ClassicTag) {
        (self.card, self.tag) = (card, tag)
    }

    /// The size of the card.
    public var kind: ClassicKind { tag.kind }

    /// The card's identity.
    public var identity: CardIdentity { card.identity }

    // MARK: Reading

    /// Tries keys at every sector, and reads what they open; writes nothing.
    ///
    /// - Parameter keys: the keys to try; by default those that are public.
    /// - Returns: what was read, also if the card leaves early.
    /// - Throws: ``KazasuError/classic(_:)`` if the reader cannot do Crypto1.
    public func information(_ keys: ClassicKeys = .published) throws(KazasuError) -> ClassicContents {
        var memory = ClassicDump(kind)
        var opened: [Int: [ClassicKeyType]] = [:]
        var failure: KazasuError?
        for sector in 0..<kind.sectorCount {
            do throws(KazasuError) {
                _ = try run { () throws(ClassicError) in try tag.readSector(sector, keys, into: &memory) }
            } catch {
                guard sector > 0 else { throw error }
                failure = error
                break
            }
            opened[sector] = ClassicKeyType.allCases.filter { memory.key($0, of: sector) != nil }
        }
        return ClassicContents(identity, memory, opened, error: failure)
    }

    /// Reads the blocks of every sector that the keys open, as ``information(_:)`` does.
    ///
    /// - Throws: ``KazasuError/classic(_:)`` with ``ClassicError/noKey(sector:)`` if none of the keys fits any sector.
    public func dump(_ keys: ClassicKeys) throws(KazasuError) -> ClassicContents {
        let contents = try information(keys)
        if contents.error == nil, contents.sectors.allSatisfy(\.keys.isEmpty) { throw .classic(.noKey(sector: 0)) }
        return contents
    }

    /// Reads a block.
    ///
    /// - Returns: sixteen bytes; `nil` for each that no key may read, such as the keys of a trailer.
    /// - Throws: ``KazasuError/classic(_:)``: ``ClassicError/noKey(sector:)``, ``ClassicError/refused(block:)``.
    public func read(_ block: Int, _ keys: ClassicKeys) throws(KazasuError) -> [UInt8?] {
        guard (0..<kind.blockCount).contains(block) else { throw .classic(.notWritable(block: block, .absent)) }
        let sector = ClassicKind.sector(of: block)
        var memory = ClassicDump(kind)
        let fits = try run { () throws(ClassicError) in try tag.readSector(sector, keys, into: &memory) }
        guard fits else { throw .classic(.noKey(sector: sector)) }
        guard let bytes = memory.withoutKeys[block] else { throw .classic(.refused(block: block)) }
        return bytes
    }

    /// Reads the NDEF message in the sectors that the application directory names.
    ///
    /// - Parameter keys: by default those that are public, as on every NDEF tag.
    /// - Throws: ``KazasuError/tag(_:)`` with ``TagError/noNDEF(_:)`` if there is no message that can be read.
    public func readNDEF(_ keys: ClassicKeys = .published) throws(KazasuError) -> NDEFMessage {
        var memory = ClassicDump(kind)
        try run { () throws(ClassicError) in
            try tag.readSector(0, keys, into: &memory)
            if kind == .k4 || kind == .k2 { try tag.readSector(16, keys, into: &memory) }
            for sector in ClassicDirectory(memory)?.ndefSectors ?? [] {
                try tag.readSector(sector, keys, into: &memory)
            }
        }
        guard let bytes = ClassicDirectory(memory)?.message(in: memory) else { throw .tag(.noNDEF(.notFormatted)) }
        guard !bytes.isEmpty else { return NDEFMessage([]) }
        do throws(NDEFError) {
            return try NDEFMessage(decoding: bytes)
        } catch {
            throw .tag(.notAMessage(error))
        }
    }

    // MARK: Writing

    /// Overwrites a data block, then reads it back and compares.
    ///
    /// - Parameters:
    ///   - bytes: sixteen bytes.
    ///   - block: the number of the block, from 0 in the whole card.
    ///   - keys: the keys of its sector.
    /// - Throws: ``KazasuError/classic(_:)``; nothing was written with ``ClassicError/notWritable(block:_:)``.
    public func write(_ bytes: [UInt8], to block: Int, _ keys: ClassicKeys) throws(KazasuError) {
        guard bytes.count == ClassicKind.blockSize else { throw .classic(.notWritable(block: block, .absent)) }
        try run { () throws(ClassicError) in try tag.write(block, bytes, keys) }
    }

    /// Replaces the keys and access bits of a sector, then proves the new keys.
    ///
    /// A trailer that nobody could change afterwards is refused: that cannot be undone.
    ///
    /// - Parameters:
    ///   - keyA: the new key A.
    ///   - access: the access bits, three bytes, and the general purpose byte; from the factory `FF 07 80 69`.
    ///   - keyB: the new key B.
    ///   - sector: the sector.
    ///   - keys: both keys of the sector as they are now.
    /// - Throws: ``KazasuError/classic(_:)``: ``ClassicError/notWritable(block:_:)``,
    ///   ``ClassicError/keysNotProved(sector:)``.
    public func writeTrailer(
        keyA: ClassicKey, access: [UInt8], keyB: ClassicKey, of sector: Int, _ keys: ClassicKeys
    ) throws(KazasuError) {
        var trailer = keyA.bytes + access + keyB.bytes
        defer { for place in trailer.indices { trailer[place] = 0 } }
        try run { () throws(ClassicError) in
            try tag.write(trailer: trailer, of: sector, keys, isPermanent: false)
        }
    }

    // MARK: Values

    /// Reads a value block.
    ///
    /// - Throws: ``KazasuError/classic(_:)`` with ``ClassicError/notAValue(block:)`` for a block of another form.
    public func value(of block: Int, _ keys: ClassicKeys) throws(KazasuError) -> ClassicValue {
        try run { () throws(ClassicError) in try tag.value(block, keys) }
    }

    /// Adds to a value block, or subtracts from it: the card itself computes, and the result is read back.
    ///
    /// - Parameters:
    ///   - block: the number of the block, from 0 in the whole card.
    ///   - change: the number to add; negative to subtract.
    ///   - keys: the keys of its sector.
    /// - Returns: the new value.
    /// - Throws: ``KazasuError/classic(_:)``; nothing was changed with ``ClassicError/notAValue(block:)``.
    @discardableResult
    public func change(_ block: Int, by change: Int32, _ keys: ClassicKeys) throws(KazasuError) -> ClassicValue {
        try run { () throws(ClassicError) in try tag.change(block, by: change, keys) }
    }

    private func run<Value>(_ body: () throws(ClassicError) -> Value) throws(KazasuError) -> Value {
        do throws(ClassicError) {
            return try body()
        } catch {
            switch error {
            case .cancelled, .transport(.cancelled): throw .cancelled
            case .cardLost: throw .reading(.cardLost)
            case .transport(let error): throw .reader(error, id: card.reader.information.id)
            default: throw .classic(error)
            }
        }
    }
}

/// The memory of a MIFARE Classic as far as keys opened it, and why it is incomplete if it is.
public struct ClassicContents: Hashable, Sendable {
    /// The size of the card.
    public let kind: ClassicKind
    /// The sectors that were tried, in order.
    public let sectors: [Sector]
    /// Why reading ended early; `nil` if it did not.
    public let error: KazasuError?
    /// Everything that was read, for files: **with the keys** that opened the sectors, in their trailers.
    public let dump: CardDump

    /// A sector of the card.
    public struct Sector: Hashable, Sendable {
        /// The sector's number, from 0.
        public let number: Int
        /// The keys that open it.
        public let keys: [ClassicKeyType]
        /// Its blocks by their numbers on the card, sixteen bytes each; `nil` for a byte that is not known. A trailer never has
        /// its keys.
        public let blocks: [Int: [UInt8?]]
        /// The application that the directory names, such as `E103` for NDEF; `nil` without a directory.
        public let application: UInt16?
    }

    fileprivate init(
        _ card: CardIdentity, _ memory: ClassicDump, _ opened: [Int: [ClassicKeyType]], error: KazasuError?
    ) {
        let directory = ClassicDirectory(memory)
        let shown = memory.withoutKeys
        kind = memory.kind
        sectors = opened.sorted { $0.key < $1.key }.map { number, keys in
            let blocks = ClassicKind.blocks(of: number).compactMap { block in shown[block].map { (block, $0) } }
            return Sector(
                number: number, keys: keys, blocks: Dictionary(uniqueKeysWithValues: blocks),
                application: directory?.applications[number])
        }
        self.error = error
        let block = UInt16(clamping: ClassicKind.firstBlock(of: opened.count))
        dump = CardDump(
            complete: error == nil,
            missing: error.map { [MissingPart(fromBlock: block, reason: $0.missingReason)] } ?? [], card: card,
            classic: memory)
    }

    /// Returns the sectors, or throws the error that ended reading early.
    public func get() throws(KazasuError) -> [Sector] {
        if let error { throw error }
        return sectors
    }
}

extension KazasuError {
    /// Why the rest of a card is missing in a dump.
    fileprivate var missingReason: MissingPart.Reason {
        switch self {
        case .cancelled: .cancelled
        case .reader: .readerFailed
        default: .cardLost
        }
    }
}

extension ClassicKeys {
    /// The three keys that everybody knows: from the factory, of the application directory, and of NDEF sectors.
    public static let published: ClassicKeys = {
        var keys = ClassicKeys()
        for key in ClassicKey.transport { keys.add(key) }
        return keys
    }()
}
