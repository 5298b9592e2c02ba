// SPDX-License-Identifier: Apache-2.0

public import CardModel
package import MIFAREClassic
public import ReaderCore

/// Why a MIFARE Classic was not read or written.
@nonexhaustive
public enum ClassicError: Error, Hashable, Sendable {
    /// The card left the field, or another one is there now.
    case cardLost
    /// The reader cannot do Crypto1, or failed.
    case transport(TransportError)
    /// None of the given keys opens the sector.
    case noKey(sector: Int)
    /// The access bits of the sector do not allow it with the keys that fit, or the card refused.
    case refused(block: Int)
    /// Nothing was written, for this reason.
    case notWritable(block: Int, WriteReason)
    /// The block is not a value block, or the result does not fit into 32 bits; nothing was changed.
    case notAValue(block: Int)
    /// What was read back differs from what was written.
    case notVerified(block: Int)
    /// A trailer was written, and the new keys do not authenticate.
    case keysNotProved(sector: Int)
    /// Work was cancelled.
    case cancelled

    /// Why a block is not written.
    @nonexhaustive
    public enum WriteReason: Hashable, Sendable {
        /// Block 0 belongs to the manufacturer.
        case manufacturer
        /// The block does not exist on this card.
        case absent
        /// It is a trailer, with the keys of its sector, and was not named as one.
        case trailer
        /// A trailer has to have both keys, six bytes each.
        case needsBothKeys
        /// The inverted access bits do not match: the card would block the sector forever.
        case accessBits
        /// No key could do this afterwards.
        case wouldLock([Loss])
        /// The access bits of the sector do not allow it with the keys that were given.
        case accessConditions
    }

    /// What no key could do after a trailer was written.
    @nonexhaustive
    public enum Loss: Hashable, Sendable {
        /// Change the access bits.
        case accessBits
        /// Read these blocks, which a key can read now.
        case reading([Int])
        /// Write these blocks, which a key can write now.
        case writing([Int])
    }
}

extension ClassicError: SelfDescribing {
    /// What failed.
    public var message: LocalizedText {
        switch self {
        case .cardLost: LocalizedText("the card left the reader", "カードがリーダーから離れました")
        case .transport(let error): error.message
        case .noKey(let sector):
            LocalizedText("none of the given keys opens sector \(sector)", "セクター \(sector) に合う鍵がありません")
        case .refused(let block): LocalizedText("the card refused block \(block)", "カードがブロック \(block) を拒否しました")
        case .notWritable(let block, let reason):
            LocalizedText(
                "nothing was written to block \(block): \(reason.message.english)",
                "ブロック \(block) には書き込みませんでした: \(reason.message.japanese)")
        case .notAValue(let block):
            LocalizedText(
                "block \(block) is not a value block, or the result does not fit; nothing was changed",
                "ブロック \(block) はバリューブロックではないか、結果が範囲を超えます（変更していません）")
        case .notVerified(let block):
            LocalizedText(
                "block \(block) returned different data after the write", "ブロック \(block) から読み返した内容が書き込んだものと一致しません")
        case .keysNotProved(let sector):
            LocalizedText(
                "the trailer of sector \(sector) was written, but its new keys do not open it",
                "セクター \(sector) のトレーラーを書きましたが、新しい鍵で認証できません")
        case .cancelled: TransportError.cancelled.message
        }
    }
}

extension ClassicError.WriteReason: SelfDescribing {
    /// Why nothing was written.
    public var message: LocalizedText {
        switch self {
        case .manufacturer: LocalizedText("it belongs to the manufacturer", "製造者のブロックです")
        case .absent: LocalizedText("the card has no such block", "カードにそのブロックはありません")
        case .trailer: LocalizedText("it is a trailer, with the keys of its sector", "鍵のあるトレーラーです")
        case .needsBothKeys:
            LocalizedText("a trailer needs both keys of its sector", "トレーラーを書くにはセクターの鍵 A と B の両方が必要です")
        case .accessBits:
            LocalizedText(
                "its access bits and their inverse do not match, which blocks the sector forever",
                "アクセスビットと反転ビットが一致しません（セクターが永久に使えなくなります）")
        case .wouldLock(let losses):
            LocalizedText(
                "afterwards no key could " + losses.map(\.message.english).joined(separator: " or "),
                "書き込むと、どの鍵でも" + losses.map(\.message.japanese).joined(separator: "、") + "ができなくなります")
        case .accessConditions:
            LocalizedText("the access bits do not allow it with these keys", "この鍵では、アクセスビットが書き込みを許していません")
        }
    }
}

extension ClassicError.Loss: SelfDescribing {
    /// What could not be done, as a verb in English and as a noun in Japanese.
    public var message: LocalizedText {
        switch self {
        case .accessBits: LocalizedText("change the access bits", "アクセスビットの変更")
        case .reading(let blocks):
            LocalizedText(
                "read \(Self.names(blocks, "block"))", "\(Self.names(blocks, "ブロック", plural: "")) の読み取り")
        case .writing(let blocks):
            LocalizedText(
                "write \(Self.names(blocks, "block"))", "\(Self.names(blocks, "ブロック", plural: "")) への書き込み")
        }
    }

    /// Ascending numbers with each run as a range: `blocks 4-6, 8`.
    private static func names(_ blocks: [Int], _ noun: String, plural: String = "s") -> String {
        var runs: [ClosedRange<Int>] = []
        for block in blocks {
            if let last = runs.last, last.upperBound + 1 == block {
                runs[runs.count - 1] = last.lowerBound...block
            } else {
                runs.append(block...block)
            }
        }
        let names = runs.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        return noun + (blocks.count == 1 ? "" : plural) + " " + names.joined(separator: ", ")
    }
}

/// A MIFARE Classic in the field of a reader that does Crypto1 itself.
///
/// Commands go through the reader's channel as a PN53x takes them: an authentication is `60` or `61`, the block, the key and
/// the last four bytes of the UID; the reader enciphers what follows. After a refusal the card is halted: it is selected and
/// authenticated again. Sources: UM0701-02; libnfc and libfreefare.
package final class ClassicTag {
    /// The card as it was found.
    package let target: TypeATarget
    package let kind: ClassicKind
    private let reader: any Reader
    private let cancellation: CancellationToken
    /// The sector that is open, and by which key.
    private var open: (sector: Int, type: ClassicKeyType, key: ClassicKey)?
    /// Whether the card has to be selected before the next command.
    private var isHalted = false

    /// The longest time that one command takes: a write 10 ms, and the reader repeats lost frames itself.
    private static let timeout: Duration = .milliseconds(100)
    private static let attempts = 3

    /// - Returns: `nil` if the card is not a MIFARE Classic.
    package init?(reader: any Reader, target: TypeATarget, cancellation: CancellationToken = CancellationToken()) {
        guard let sak = target.sak, let kind = ClassicKind(sak: sak), target.uid.count >= 4 else { return nil }
        (self.reader, self.target, self.kind, self.cancellation) = (reader, target, kind, cancellation)
        // An emulation has entered ISO-DEP, in which it knows no Crypto1.
        isHalted = target.isISODEP
    }

    // MARK: Authentication

    /// Opens a sector.
    ///
    /// - Returns: whether the card accepted the key.
    package func authenticate(_ type: ClassicKeyType, _ key: ClassicKey, sector: Int) throws(ClassicError) -> Bool {
        if let open, open.sector == sector, open.type == type, open.key == key, !isHalted { return true }
        try selectIfHalted()
        open = nil
        let block = UInt8(truncatingIfNeeded: ClassicKind.trailer(of: sector))
        let frame = [type.command, block] + key.bytes + target.uid.suffix(4)
        guard try send(frame) != nil else { return false }
        open = (sector, type, key)
        return true
    }

    /// Selects the card again if a refusal halted it.
    private func selectIfHalted() throws(ClassicError) {
        guard isHalted else { return }
        for attempt in 1...Self.attempts {
            try checkCancellation()
            let result = Result { () throws(TransportError) in try reader.activate(.typeA(isoDEP: false)) }
            switch result {
            case .success(.typeA(let found)?) where found.uid == target.uid:
                isHalted = false
                return
            case .success: continue
            case .failure(.cancelled): throw .cancelled
            case .failure(let error):
                guard error.isTransient, attempt < Self.attempts else { throw .transport(error) }
            }
        }
        throw .cardLost
    }

    private func checkCancellation() throws(ClassicError) {
        if cancellation.isCancelled { throw .cancelled }
    }

    /// Sends a command once.
    ///
    /// - Returns: the data, empty for an acknowledgement; `nil` if the card refused, or did not answer. It is halted then.
    private func send(_ frame: [UInt8]) throws(ClassicError) -> [UInt8]? {
        try checkCancellation()
        do throws(TransportError) {
            let answer = try reader.transceive(frame, timeout: Self.timeout)
            if answer == [0x0A] { return [] }
            if answer.count != 1 { return answer }
        } catch {
            switch error {
            // 01, 02, 13 and 14 are how chips report a refusal.
            case .noAnswer, .corrupted, .cardReleased: break
            case .cancelled: throw .cancelled
            default: throw .transport(error)
            }
        }
        (isHalted, open) = (true, nil)
        return nil
    }

    /// Opens the sector again with the key that opened it before.
    private func reopen(_ access: (sector: Int, type: ClassicKeyType, key: ClassicKey)) throws(ClassicError) {
        guard try authenticate(access.type, access.key, sector: access.sector) else {
            // It was accepted a moment ago: the card left or the radio failed.
            try selectIfHalted()
            guard try authenticate(access.type, access.key, sector: access.sector) else {
                throw .noKey(sector: access.sector)
            }
            return
        }
    }

    // MARK: Blocks

    /// Reads a block of the sector that is open.
    ///
    /// - Throws: ``ClassicError/refused(block:)``; the sector is then closed.
    package func read(_ block: Int) throws(ClassicError) -> [UInt8] {
        let access = open
        for attempt in 1...Self.attempts {
            if let data = try send([0x30, UInt8(truncatingIfNeeded: block)]), data.count == 16 { return data }
            guard let access, attempt < Self.attempts else { break }
            try reopen(access)
        }
        throw .refused(block: block)
    }

    /// Writes a block of the sector that is open, without looking at what it is.
    package func writeUnchecked(_ block: Int, _ data: [UInt8]) throws(ClassicError) {
        guard data.count == 16, try send([0xA0, UInt8(truncatingIfNeeded: block)] + data) != nil else {
            throw .refused(block: block)
        }
    }

    /// Changes a value block of the sector that is open, and writes the result to a block of the same sector.
    package func transfer(
        _ operation: ClassicOperation, from block: Int, to target: Int
    ) throws(ClassicError) {
        let place = UInt8(truncatingIfNeeded: block)
        let amount = { (value: UInt32) in (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) } }
        let frame: [UInt8] =
            switch operation {
            case .increment(let value): [0xC1, place] + amount(value)
            case .decrement(let value): [0xC0, place] + amount(value)
            case .restore: [0xC2, place]
            }
        guard try send(frame) != nil else { throw .refused(block: block) }
        guard try send([0xB0, UInt8(truncatingIfNeeded: target)]) != nil else { throw .refused(block: target) }
    }
}

/// What can be done with a value block.
package enum ClassicOperation: Hashable, Sendable {
    case increment(UInt32)
    case decrement(UInt32)
    case restore
}

extension ClassicTag {
    // MARK: With keys

    /// Tries the keys of a sector until one is accepted.
    ///
    /// - Parameter allowed: the keys that are of use.
    package func unlock(
        _ sector: Int, _ keys: ClassicKeys, _ allowed: ClassicAccess.Keys = .both
    ) throws(ClassicError) -> (type: ClassicKeyType, key: ClassicKey)? {
        for type in ClassicKeyType.allCases where allowed.contains(type) {
            for key in keys.keys(type, of: sector) where try authenticate(type, key, sector: sector) {
                return (type, key)
            }
        }
        return nil
    }

    /// Reads what the keys open of a sector into a dump, and the keys that fit.
    ///
    /// - Returns: whether a key fits.
    @discardableResult
    package func readSector(_ sector: Int, _ keys: ClassicKeys, into memory: inout ClassicDump) throws(ClassicError)
        -> Bool
    {
        let trailer = ClassicKind.trailer(of: sector)
        var fits = false
        for type in ClassicKeyType.allCases {
            // Key B as from the factory is data that key A has read: trying it would only be refused.
            if type == .b, ClassicKind.blocks(of: sector).allSatisfy({ memory[$0]?.contains(nil) == false }) { break }
            guard let (_, key) = try unlock(sector, keys, ClassicAccess.Keys(type)) else { continue }
            var refused: [Int] = []
            for block in ClassicKind.blocks(of: sector) where memory[block] == nil || block == trailer {
                do throws(ClassicError) {
                    if refused.contains(block) { continue }
                    let data = try readOnce(block)
                    guard block == trailer else {
                        memory[block] = data
                        continue
                    }
                    note(trailer: data, sector, into: &memory)
                } catch .refused {
                    refused.append(block)
                    guard try authenticate(type, key, sector: sector) else { throw .cardLost }
                } catch {
                    throw error
                }
            }
            fits = true
            var bytes = memory[trailer] ?? ClassicDump.unknownBlock
            // A key B that can be read authenticates nobody, and is there as data.
            bytes.replaceSubrange(type == .a ? 0..<6 : 10..<16, with: key.bytes)
            memory[trailer] = bytes
        }
        return fits
    }

    private func readOnce(_ block: Int) throws(ClassicError) -> [UInt8] {
        guard let data = try send([0x30, UInt8(truncatingIfNeeded: block)]), data.count == 16 else {
            throw .refused(block: block)
        }
        return data
    }

    /// Keeps what a trailer shows: access bits and general purpose byte, and key B where it can be read.
    private func note(trailer data: [UInt8], _ sector: Int, into memory: inout ClassicDump) {
        let block = ClassicKind.trailer(of: sector)
        var bytes = memory[block] ?? ClassicDump.unknownBlock
        for place in 6..<10 { bytes[place] = data[place] }
        if let access = ClassicAccess(data[6..<9]), access.isKeyBData {
            for place in 10..<16 { bytes[place] = data[place] }
        }
        memory[block] = bytes
    }

    /// Reads the access bits of a sector with any key that fits.
    package func access(of sector: Int, _ keys: ClassicKeys) throws(ClassicError) -> ClassicAccess {
        guard try unlock(sector, keys) != nil else { throw .noKey(sector: sector) }
        let trailer = try read(ClassicKind.trailer(of: sector))
        guard let access = ClassicAccess(trailer[6..<9]) else {
            throw .refused(block: ClassicKind.trailer(of: sector))
        }
        return access
    }

    /// Checks whether a data block can be written; writes nothing.
    ///
    /// - Returns: the keys that the access bits allow.
    @discardableResult
    package func checkWriting(_ block: Int, _ keys: ClassicKeys) throws(ClassicError) -> ClassicAccess.Keys {
        guard (0..<kind.blockCount).contains(block) else { throw .notWritable(block: block, .absent) }
        guard block != 0 else { throw .notWritable(block: block, .manufacturer) }
        let sector = ClassicKind.sector(of: block)
        guard ClassicKind.trailer(of: sector) != block else { throw .notWritable(block: block, .trailer) }
        let access = try access(of: sector, keys)
        let allowed = access.keys(for: .write, group: ClassicKind.conditionIndex(of: block))
        guard try unlock(sector, keys, allowed) != nil else { throw .notWritable(block: block, .accessConditions) }
        return allowed
    }

    /// Checks whether a data block can be written, and reads what would be lost; writes nothing.
    package func replaceable(_ block: Int, _ keys: ClassicKeys) throws(ClassicError) -> [UInt8] {
        // Whoever may write a block may read it.
        let allowed = try checkWriting(block, keys)
        guard try unlock(ClassicKind.sector(of: block), keys, allowed) != nil else {
            throw .notWritable(block: block, .accessConditions)
        }
        return try read(block)
    }

    /// Writes a data block, reads it back and compares.
    package func write(_ block: Int, _ data: [UInt8], _ keys: ClassicKeys) throws(ClassicError) {
        let allowed = try checkWriting(block, keys)
        let sector = ClassicKind.sector(of: block)
        guard let opened = try unlock(sector, keys, allowed) else { throw .noKey(sector: sector) }
        try writeUnchecked(block, data)
        guard try authenticate(opened.type, opened.key, sector: sector), try read(block) == data else {
            throw .notVerified(block: block)
        }
    }

    /// Checks whether a trailer can be written; writes nothing.
    ///
    /// Afterwards a key of the new trailer can change the access bits, and each data block that a key can read or write now
    /// can still be read or written by one that authenticates.
    ///
    /// - Parameters:
    ///   - data: key A, access bits, general purpose byte and key B.
    ///   - isPermanent: whether the new trailer may take these rights away for good.
    /// - Returns: the keys that the access bits allow.
    package func checkWriting(
        trailer data: [UInt8], of sector: Int, _ keys: ClassicKeys, isPermanent: Bool
    ) throws(ClassicError) -> ClassicAccess.Keys {
        let block = ClassicKind.trailer(of: sector)
        guard (0..<kind.sectorCount).contains(sector), data.count == 16 else {
            throw .notWritable(block: block, .absent)
        }
        guard let future = ClassicAccess(data[6..<9]) else { throw .notWritable(block: block, .accessBits) }
        for type in ClassicKeyType.allCases where keys.keys(type, of: sector).isEmpty {
            throw .notWritable(block: block, .needsBothKeys)
        }
        guard try unlock(sector, keys) != nil else { throw .noKey(sector: sector) }
        let current = try read(block)
        guard let access = ClassicAccess(current[6..<9]) else { throw .refused(block: block) }
        let losses = Self.losses(of: sector, access, future)
        guard isPermanent || losses.isEmpty else { throw .notWritable(block: block, .wouldLock(losses)) }
        // The whole trailer is written at once: what is not allowed would be left as it is without a word.
        var allowed = ClassicAccess.Keys.both
        var isWritable = false
        for right in [ClassicAccess.TrailerRight.writeA, .writeAccess, .writeB] {
            let holders = access.keys(for: right)
            if holders.isEmpty {
                guard try isStored(right, data, current, access, sector) else {
                    throw .notWritable(block: block, .accessConditions)
                }
            } else {
                allowed.formIntersection(holders)
                isWritable = true
            }
        }
        guard isWritable, try unlock(sector, keys, allowed) != nil else {
            throw .notWritable(block: block, .accessConditions)
        }
        return allowed
    }

    /// What no key can do any more once other access bits are written.
    private static func losses(of sector: Int, _ access: ClassicAccess, _ future: ClassicAccess) -> [ClassicError.Loss]
    {
        var (reads, writes): ([Int], [Int]) = ([], [])
        for group in 0..<3 {
            let rights = access.rightsLost(under: future, group: group)
            let blocks = ClassicKind.blocks(of: sector, group: group)
            if rights.contains(.read) { reads += blocks }
            // The manufacturer's block cannot be written anyway.
            if rights.contains(.write) { writes += blocks.filter { $0 != 0 } }
        }
        return (future.keys(for: .writeAccess).isEmpty ? [.accessBits] : [])
            + (reads.isEmpty ? [] : [.reading(reads)]) + (writes.isEmpty ? [] : [.writing(writes)])
    }

    /// Whether a part of a trailer that no key may write is already as it would be written.
    private func isStored(
        _ right: ClassicAccess.TrailerRight, _ data: [UInt8], _ current: [UInt8], _ access: ClassicAccess, _ sector: Int
    ) throws(ClassicError) -> Bool {
        switch right {
        case .writeA:
            guard let key = ClassicKey(Array(data[..<6])) else { return false }
            return try authenticate(.a, key, sector: sector)
        case .writeB where !access.isKeyBData:
            guard let key = ClassicKey(Array(data[10...])) else { return false }
            return try authenticate(.b, key, sector: sector)
        case .writeB: return current[10...].elementsEqual(data[10...])
        default: return current[6..<10].elementsEqual(data[6..<10])
        }
    }

    /// Writes a trailer that was checked, and proves its new keys at once.
    package func write(
        trailer data: [UInt8], of sector: Int, _ keys: ClassicKeys, isPermanent: Bool
    ) throws(ClassicError) {
        let allowed = try checkWriting(trailer: data, of: sector, keys, isPermanent: isPermanent)
        guard try unlock(sector, keys, allowed) != nil, let future = ClassicAccess(data[6..<9]),
            let keyA = ClassicKey(Array(data[..<6])), let keyB = ClassicKey(Array(data[10...]))
        else { throw .noKey(sector: sector) }
        let block = ClassicKind.trailer(of: sector)
        try writeUnchecked(block, data)
        open = nil
        guard try authenticate(.a, keyA, sector: sector) else { throw .keysNotProved(sector: sector) }
        let written = try read(block)
        guard written[6..<10].elementsEqual(data[6..<10]) else { throw .notVerified(block: block) }
        if future.isKeyBData {
            guard written[10...].elementsEqual(data[10...]) else { throw .notVerified(block: block) }
        } else {
            guard try authenticate(.b, keyB, sector: sector) else { throw .keysNotProved(sector: sector) }
        }
    }

    /// Reads a value block.
    package func value(_ block: Int, _ keys: ClassicKeys) throws(ClassicError) -> ClassicValue {
        let sector = ClassicKind.sector(of: block)
        guard (0..<kind.blockCount).contains(block) else { throw .notWritable(block: block, .absent) }
        let access = try access(of: sector, keys)
        let allowed = access.keys(for: .read, group: ClassicKind.conditionIndex(of: block))
        guard try unlock(sector, keys, allowed) != nil else { throw .refused(block: block) }
        guard let value = ClassicValue(try read(block)) else { throw .notAValue(block: block) }
        return value
    }

    /// Changes a value block in the card itself, then reads the result.
    ///
    /// - Parameter change: what is added to the value; negative to subtract.
    /// - Returns: the new value.
    package func change(_ block: Int, by change: Int32, _ keys: ClassicKeys) throws(ClassicError) -> ClassicValue {
        let old = try value(block, keys)
        let (new, overflow) = old.value.addingReportingOverflow(change)
        guard !overflow, change != .min else { throw .notAValue(block: block) }
        guard change != 0 else { return old }
        let sector = ClassicKind.sector(of: block)
        let access = try access(of: sector, keys)
        let allowed = access.keys(
            for: change > 0 ? .increment : .decrement, group: ClassicKind.conditionIndex(of: block))
        guard let opened = try unlock(sector, keys, allowed) else {
            throw .notWritable(block: block, .accessConditions)
        }
        try transfer(
            change > 0 ? .increment(UInt32(change)) : .decrement(change.magnitude), from: block, to: block)
        guard try authenticate(opened.type, opened.key, sector: sector) else { throw .notVerified(block: block) }
        let result = try value(block, keys)
        guard result == ClassicValue(new, address: old.address) else { throw .notVerified(block: block) }
        return result
    }
}
