// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import Synchronization

/// A MIFARE Classic in software: blocks of sixteen bytes, keys and access bits in its trailers, and what NXP's data sheet says of
/// each command. It has no cipher: a chip that does Crypto1 hands the commands to it in plain text (``RadioFrame/isEnciphered``),
/// and without one it answers an authentication with its first random number and nothing after it.
package final class VirtualClassicCard: VirtualCard {
    private let state: Mutex<State>

    private struct State {
        var selection: TypeASelection
        var memory: ClassicMemory
    }

    package init(_ memory: ClassicMemory, atqa: UInt16?, sak: UInt8?) {
        let identity = TypeAIdentity(classic: memory, atqa: atqa, sak: sak)
        state = Mutex(State(selection: TypeASelection(identity), memory: memory))
    }

    /// The current memory.
    package var memory: ClassicMemory { state.withLock(\.memory) }

    package func answer(_ frame: RadioFrame) -> CardAnswer? {
        state.withLock { state in
            switch state.selection.take(frame) {
            case .silence:
                if !state.selection.isSelected { state.memory.close() }
                return nil
            case .answer(let answer):
                state.memory.close()
                return answer
            case .command: break
            }
            guard frame.isEnciphered else {
                // The beginning of Crypto1: a random number without CRC.
                guard let code = frame.bytes.first, [0x60, 0x61].contains(code), frame.bytes.count == 2 else {
                    state.selection.fallBack()
                    return nil
                }
                state.memory.close()
                return CardAnswer([0x01, 0x20, 0x01, 0x45], hasCRC: false)
            }
            switch state.memory.take(frame.bytes) {
            case .data(let data): return CardAnswer(data)
            case .acknowledge: return CardAnswer([0x0A], lastByteBits: 4, hasCRC: false)
            case .refusal:
                state.selection.fallBack()
                state.memory.close()
                return CardAnswer([0x04], lastByteBits: 4, hasCRC: false)
            case .silence:
                state.selection.fallBack()
                state.memory.close()
                return nil
            }
        }
    }

    package func losePower() {
        state.withLock { state in
            state.selection.losePower()
            state.memory.close()
        }
    }
}

/// The memory of a virtual MIFARE Classic, and the sector that is open.
package struct ClassicMemory: Hashable, Sendable {
    /// All bytes, sixteen a block.
    package private(set) var bytes: [UInt8]
    /// The offsets of bytes that the dump of the card does not know.
    private var unknown: Set<Int> = []
    /// Four or seven bytes.
    package let uid: [UInt8]
    private var open: Access?
    /// The value of the last increment, decrement or restore, and its address, until it is transferred.
    private var register: [UInt8]?

    /// The sector that is open, and by which key.
    private struct Access: Hashable {
        var sector: Int
        var isKeyB: Bool
    }

    /// The result of a command.
    package enum Result {
        case data([UInt8])
        case acknowledge
        case refusal
        case silence
    }

    /// A card from the factory; `nil` for another number of blocks or a UID of another length.
    package init?(blockCount: Int, uid: [UInt8]) {
        guard [20, 64, 128, 256].contains(blockCount), [4, 7].contains(uid.count) else { return nil }
        self.uid = uid
        bytes = [UInt8](repeating: 0, count: blockCount * 16)
        let first = uid.count == 4 ? uid + [uid.reduce(0, ^)] : uid
        bytes.replaceSubrange(0..<first.count, with: first)
        for block in 0..<blockCount where isTrailer(block) {
            write(
                block, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0x80, 0x69, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        }
    }

    package var blockCount: Int { bytes.count / 16 }

    /// One block; none for a missing one.
    package subscript(block: Int) -> [UInt8] {
        (0..<blockCount).contains(block) ? Array(bytes[block * 16..<block * 16 + 16]) : []
    }

    /// Stores a block, whatever the access bits say.
    package mutating func write(_ block: Int, _ data: [UInt8]) {
        guard (0..<blockCount).contains(block), data.count == 16 else { return }
        bytes.replaceSubrange(block * 16..<block * 16 + 16, with: data)
        unknown.subtract(block * 16..<block * 16 + 16)
    }

    /// Stores what is known of a block.
    package mutating func write(_ block: Int, known data: [UInt8?]) {
        write(block, data.map { $0 ?? 0 })
        for (place, byte) in data.enumerated() where byte == nil { unknown.insert(block * 16 + place) }
    }

    /// What is known of a block; `nil` for an unknown byte.
    package func known(_ block: Int) -> [UInt8?] {
        self[block].enumerated().map { unknown.contains(block * 16 + $0.offset) ? nil : $0.element }
    }

    private func isKnown(_ block: Int, _ places: Range<Int> = 0..<16) -> Bool {
        unknown.isEmpty || places.allSatisfy { !unknown.contains(block * 16 + $0) }
    }

    package mutating func close() { (open, register) = (nil, nil) }

    // MARK: Geometry

    private func trailer(_ block: Int) -> Int { ClassicKind.trailer(of: ClassicKind.sector(of: block)) }

    private func isTrailer(_ block: Int) -> Bool { trailer(block) == block }

    // MARK: Access bits

    /// C1, C2 and C3 of a block as a number; `nil` if the inverted bits do not match, so that the sector is blocked.
    private func condition(_ block: Int) -> Int? {
        let trailer = self[self.trailer(block)]
        guard trailer.count == 16, isKnown(self.trailer(block), 6..<9) else { return nil }
        let (c1, c2, c3) = (trailer[7] >> 4, trailer[8] & 15, trailer[8] >> 4)
        guard trailer[6] & 15 == 15 ^ c1, trailer[6] >> 4 == 15 ^ c2, trailer[7] & 15 == 15 ^ c3 else { return nil }
        let place = ClassicKind.conditionIndex(of: block)
        let bit: (UInt8) -> Int = { Int($0) >> place & 1 }
        return bit(c1) << 2 | bit(c2) << 1 | bit(c3)
    }

    /// Whether key B of a sector can be read: conditions 000, 001 and 010 of the trailer.
    private func keyBIsData(_ block: Int) -> Bool { (condition(trailer(block)) ?? 7) < 3 }

    /// Whether the open key belongs to these, `A`, `B`, both or none.
    private func mayUse(_ keys: String) -> Bool {
        guard let open else { return false }
        return keys.contains(open.isKeyB ? "B" : "A")
    }

    private func isOpen(_ block: Int) -> Bool { open?.sector == ClassicKind.sector(of: block) }

    private func may(_ right: Int, _ block: Int) -> Bool {
        guard isOpen(block), let open, let condition = condition(block) else { return false }
        // Read; write; increment; decrement, transfer and restore.
        let table = [
            ["AB", "AB", "AB", "AB"], ["AB", "", "", "AB"], ["AB", "", "", ""], ["B", "B", "", ""],
            ["AB", "B", "", ""],
            ["B", "", "", ""], ["AB", "B", "B", "AB"], ["", "", "", ""],
        ]
        let keys = table[condition][right]
        if open.isKeyB, keyBIsData(block) { return false }
        return mayUse(keys)
    }

    // MARK: Commands

    package mutating func take(_ frame: [UInt8]) -> Result {
        guard let code = frame.first, frame.count >= 2 else { return .refusal }
        let block = Int(frame[1])
        switch (code, frame.count) {
        case (0x60, 12), (0x61, 12): return authenticate(isKeyB: code == 0x61, block, frame)
        case (0x30, 2): return read(block)
        case (0xA0, 18): return write(block, frame: Array(frame[2...]))
        case (0xC0, 6), (0xC1, 6), (0xC2, 2), (0xC2, 6): return prepare(code, block, Array(frame[2...]))
        case (0xB0, 2), (0xB0, 6): return transfer(block)
        default: return .refusal
        }
    }

    private mutating func authenticate(isKeyB: Bool, _ block: Int, _ frame: [UInt8]) -> Result {
        close()
        let trailer = self[self.trailer(block)]
        let places = isKeyB ? 10..<16 : 0..<6
        guard block < blockCount, trailer.count == 16, condition(block) != nil,
            isKnown(self.trailer(block), places)
        else { return .silence }
        let key = Array(trailer[places])
        guard Array(frame[2..<8]) == key, Array(frame[8..<12]) == Array(uid.suffix(4)) else { return .silence }
        open = Access(sector: ClassicKind.sector(of: block), isKeyB: isKeyB)
        return .acknowledge
    }

    private func read(_ block: Int) -> Result {
        guard isOpen(block), let open, block < blockCount else { return .refusal }
        guard isTrailer(block) else { return may(0, block) && isKnown(block) ? .data(self[block]) : .refusal }
        guard let condition = condition(block) else { return .refusal }
        if open.isKeyB, keyBIsData(block) { return .refusal }
        var data = self[block]
        data.replaceSubrange(0..<6, with: repeatElement(0, count: 6))
        // Access bits are for key A in all conditions, for key B where it is none that can be read.
        if condition < 3, !open.isKeyB { return isKnown(block, 9..<16) ? .data(data) : .refusal }
        data.replaceSubrange(10..<16, with: repeatElement(0, count: 6))
        return .data(data)
    }

    private mutating func write(_ block: Int, frame data: [UInt8]) -> Result {
        guard block > 0, block < blockCount else { return .refusal }
        guard isTrailer(block) else {
            guard may(1, block) else { return .refusal }
            write(block, data)
            return .acknowledge
        }
        guard isOpen(block), let open, let condition = condition(block) else { return .refusal }
        // Key A; access bits; key B.
        let table = [
            ["A", "", "A"], ["A", "A", "A"], ["", "", ""], ["B", "B", "B"], ["B", "", "B"], ["", "B", ""],
            ["", "", ""],
            ["", "", ""],
        ]
        if open.isKeyB, keyBIsData(block) { return .refusal }
        let rights = table[condition].map { mayUse($0) }
        guard rights.contains(true) else { return .refusal }
        var new = known(block)
        for (isAllowed, range) in zip(rights, [0..<6, 6..<10, 10..<16]) where isAllowed {
            new.replaceSubrange(range, with: data[range].map { $0 })
        }
        write(block, known: new)
        return .acknowledge
    }

    // MARK: Values

    private func number(_ block: Int) -> (value: Int32, address: UInt8)? {
        let data = self[block]
        guard data.count == 16, data[0..<4] == data[8..<12].map({ $0 })[...],
            zip(data[0..<4], data[4..<8]).allSatisfy({ $0 == ~$1 }), data[12] == data[14], data[13] == ~data[12],
            data[15] == data[13]
        else { return nil }
        let raw = UInt32(data[0]) | UInt32(data[1]) << 8 | UInt32(data[2]) << 16 | UInt32(data[3]) << 24
        return (Int32(bitPattern: raw), data[12])
    }

    private mutating func prepare(_ code: UInt8, _ block: Int, _ amount: [UInt8]) -> Result {
        register = nil
        guard !isTrailer(block), may(code == 0xC1 ? 2 : 3, block), let (value, address) = number(block) else {
            return .refusal
        }
        let change = amount.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let (new, overflow): (Int32, Bool) =
            switch code {
            case 0xC0: value.subtractingReportingOverflow(Int32(truncatingIfNeeded: change))
            case 0xC1: value.addingReportingOverflow(Int32(truncatingIfNeeded: change))
            default: (value, false)
            }
        guard !overflow else { return .refusal }
        let raw = UInt32(bitPattern: new)
        let digits = (0..<4).map { UInt8(truncatingIfNeeded: raw >> UInt32($0 * 8)) }
        register = digits + digits.map { ~$0 } + digits + [address, ~address, address, ~address]
        return .acknowledge
    }

    private mutating func transfer(_ block: Int) -> Result {
        guard !isTrailer(block), block > 0, let value = register, may(3, block) else { return .refusal }
        write(block, value)
        register = nil
        return .acknowledge
    }
}
