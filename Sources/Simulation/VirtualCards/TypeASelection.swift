// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The states of a type A card until it is selected (ISO 14443-3): idle, ready, active and halted.
struct TypeASelection: Sendable {
    /// The result of a frame.
    enum Result: Hashable, Sendable {
        case silence
        case answer(CardAnswer)
        /// The card is selected, and the frame is one of its own commands.
        case command
    }

    private enum Step: Hashable {
        case idle
        case ready(level: Int)
        case active
    }

    private(set) var identity: TypeAIdentity
    private var random = SplitMix64(seed: 0x08)
    private var step = Step.idle
    /// Whether an error leads to the halted state and not to idle, because the card was halted before.
    private var wasHalted = false

    init(_ identity: TypeAIdentity) {
        self.identity = identity
        self.identity.chooseUID(&random)
    }

    mutating func losePower() {
        identity.chooseUID(&random)
        step = .idle
        wasHalted = false
    }

    /// Whether SELECT has succeeded.
    var isSelected: Bool { step == .active }

    /// Falls back after an error: to idle, or to halted when the card had been halted.
    mutating func fallBack() {
        step = .idle
    }

    /// HLTA or S(DESELECT).
    mutating func halt() {
        step = .idle
        wasHalted = true
    }

    mutating func take(_ frame: RadioFrame) -> Result {
        guard frame.technology == .typeA, let first = frame.bytes.first else { return .silence }
        if frame.lastByteBits == 7, frame.bytes.count == 1 { return request(first) }
        switch step {
        case .idle: return .silence
        case .ready(let level): return search(frame, level)
        case .active: break
        }
        guard frame.bytes == [TypeACommand.halt, 0x00] else { return .command }
        guard !identity.ignoresHalt else { return .silence }
        if frame.hasCRC { halt() } else { fallBack() }
        return .silence
    }

    private mutating func request(_ code: UInt8) -> Result {
        let isCalled = code == TypeACommand.wakeUp || code == TypeACommand.request && !wasHalted
        guard step == .idle, isCalled else {
            fallBack()
            return .silence
        }
        step = .ready(level: 0)
        let atqa = [UInt8(truncatingIfNeeded: identity.atqa), UInt8(truncatingIfNeeded: identity.atqa >> 8)]
        return .answer(CardAnswer(atqa, hasCRC: false))
    }

    /// Anticollision and SELECT.
    private mutating func search(_ frame: RadioFrame, _ level: Int) -> Result {
        guard let own = identity.levels.element(at: level), let valid = frame.bytes.element(at: 1),
            frame.bytes[0] == TypeACommand.levels.element(at: level)
        else { return fail() }
        if valid == TypeACommand.allBits { return select(frame, own, level) }
        guard !frame.hasCRC, let rest = TypeASelection.rest(of: own, after: frame) else { return fail() }
        return .answer(CardAnswer(rest, hasCRC: false))
    }

    private mutating func select(_ frame: RadioFrame, _ own: [UInt8], _ level: Int) -> Result {
        guard frame.hasCRC, frame.lastByteBits == 8, Array(frame.bytes.dropFirst(2)) == own else { return fail() }
        guard level + 1 == identity.levels.count else {
            step = .ready(level: level + 1)
            return .answer(CardAnswer([TypeACommand.incomplete]))
        }
        step = .active
        return .answer(CardAnswer([identity.sak & ~TypeACommand.incomplete]))
    }

    private mutating func fail() -> Result {
        fallBack()
        return .silence
    }

    /// The bits that follow those that the reader sent, `nil` when its bits do not match the card's.
    ///
    /// The first byte has zeros in place of the reader's bits, as a reader with receive alignment returns it.
    private static func rest(of own: [UInt8], after frame: RadioFrame) -> [UInt8]? {
        let valid = frame.bytes.element(at: 1) ?? 0
        let (bytes, bits) = (Int(valid >> 4) - 2, Int(valid & 0x0F))
        let sent = Array(frame.bytes.dropFirst(2))
        guard (0...4).contains(bytes), bits < 8, sent.count == bytes + (bits > 0 ? 1 : 0),
            frame.lastByteBits == (bits > 0 ? bits : 8), sent.prefix(bytes).elementsEqual(own.prefix(bytes))
        else { return nil }
        let mask = UInt8(truncatingIfNeeded: (1 << bits) - 1)
        if bits > 0, let last = sent.last, (last ^ own[bytes]) & mask != 0 { return nil }
        return [own[bytes] & ~mask] + own.dropFirst(bytes + 1)
    }
}

/// The commands of ISO 14443-3 type A, and of ISO 14443-4 before the first block.
package enum TypeACommand {
    /// REQA, seven bits: all cards that were not halted.
    package static let request: UInt8 = 0x26
    /// WUPA, seven bits: all cards.
    package static let wakeUp: UInt8 = 0x52
    /// The first byte of anticollision and SELECT at each cascade level.
    package static let levels: [UInt8] = [0x93, 0x95, 0x97]
    /// NVB of an anticollision command without bits of the UID.
    package static let noBits: UInt8 = 0x20
    /// NVB of a SELECT.
    package static let allBits: UInt8 = 0x70
    /// HLTA, followed by 00.
    package static let halt: UInt8 = 0x50
    /// RATS.
    package static let requestAnswerToSelect: UInt8 = 0xE0
    /// The bit of a SAK for a UID that continues at the next cascade level.
    package static let incomplete: UInt8 = 0x04
    /// The bit of a SAK for a card that supports ISO 14443-4.
    package static let speaksISODEP: UInt8 = 0x20
}

/// The data that a card of ISO 14443 type A sends during selection.
package struct TypeAIdentity: Hashable, Sendable {
    /// The UID: 4, 7 or 10 bytes, in the order of the air.
    package private(set) var uid: [UInt8]
    /// Whether the last three bytes of the UID change after each loss of power, like a phone's; its first is 08 then.
    package private(set) var isRandom = false
    /// The ATQA in its usual notation, as in `0344`; on the air the low byte comes first.
    package var atqa: UInt16
    /// The SAK of the last cascade level; its bit 3 (04, UID not complete) is never sent there.
    package var sak: UInt8
    /// Whether HLTA changes nothing.
    var ignoresHalt = false
    /// Whether the check byte of each cascade level is wrong.
    var spoilsCheckByte = false

    /// Creates a card of type A; `nil` when the UID does not have 4, 7 or 10 bytes.
    ///
    /// - Parameter atqa: by default only the size of the UID, bits 8 and 7, and bit 3.
    package init?(uid: [UInt8], atqa: UInt16? = nil, sak: UInt8) {
        switch uid.count {
        case 4: self.atqa = atqa ?? 0x0004
        case 7: self.atqa = atqa ?? 0x0044
        case 10: self.atqa = atqa ?? 0x0084
        default: return nil
        }
        self.uid = uid
        self.sak = sak
    }

    /// Creates a card that chooses another four-byte UID, `08` before three random ones, whenever it gets power.
    package static func random(atqa: UInt16? = nil, sak: UInt8) -> TypeAIdentity {
        TypeAIdentity(randomWithATQA: atqa ?? 0x0004, sak: sak)
    }

    private init(randomWithATQA atqa: UInt16, sak: UInt8) {
        uid = [0x08, 0, 0, 0]
        isRandom = true
        self.atqa = atqa
        self.sak = sak
    }

    /// The quirks that a card of type A may have.
    static let quirks: [CardQuirks.Name] = [.uid88, .wrongCheckByte, .otherATQA, .withoutHalt]

    mutating func apply(_ quirks: CardQuirks) {
        if quirks.has(.uid88), uid.count >= 4 { uid = [0x88] + uid[1..<4] }
        if quirks.has(.wrongCheckByte) { spoilsCheckByte = true }
        if quirks.has(.otherATQA) { atqa ^= 0x0040 }
        if quirks.has(.withoutHalt) { ignoresHalt = true }
    }

    mutating func chooseUID(_ random: inout SplitMix64) {
        guard isRandom else { return }
        uid = [0x08] + (0..<3).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
    }

    /// Creates the identity of a Type 2 Tag, whose UID always has seven bytes.
    package init(tag: Type2Memory, atqa: UInt16, sak: UInt8) {
        uid = tag.uid
        self.atqa = atqa
        self.sak = sak
    }

    /// The identity of a MIFARE Classic: ATQA and SAK by its size and the length of its UID, unless they are given.
    package init(classic memory: ClassicMemory, atqa: UInt16?, sak: UInt8?) {
        let usual: (atqa: UInt16, sak: UInt8) =
            switch memory.blockCount {
            case 20: (0x0004, 0x09)
            case 64: (0x0004, 0x08)
            case 128: (0x0004, 0x19)
            default: (0x0002, 0x18)
            }
        uid = memory.uid
        self.atqa = atqa ?? (memory.uid.count == 7 ? usual.atqa | 0x0040 : usual.atqa)
        self.sak = sak ?? usual.sak
    }

    /// The four bytes and the check byte BCC of each cascade level; 88 is the cascade tag.
    package var levels: [[UInt8]] {
        var rest = uid[...]
        var levels: [[UInt8]] = []
        while rest.count > 4 {
            levels.append([0x88] + rest.prefix(3))
            rest = rest.dropFirst(3)
        }
        levels.append(Array(rest))
        return levels.map { $0 + [$0.reduce(spoilsCheckByte ? 0xFF : 0, ^)] }
    }
}
