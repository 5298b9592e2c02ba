// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The states of a type A card until it is selected (ISO 14443-3): idle, ready, active and halted.
struct TypeASelection: Sendable {
    /// What becomes of a frame.
    enum Outcome: Hashable, Sendable {
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

    mutating func take(_ frame: RadioFrame) -> Outcome {
        guard frame.technology == .typeA, let first = frame.bytes.first else { return .silence }
        if frame.lastByteBits == 7, frame.bytes.count == 1 { return request(first) }
        switch step {
        case .idle: return .silence
        case .ready(let level): return search(frame, level)
        case .active: break
        }
        guard frame.bytes == [TypeACommand.halt, 0x00] else { return .command }
        if frame.hasCRC { halt() } else { fallBack() }
        return .silence
    }

    private mutating func request(_ code: UInt8) -> Outcome {
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
    private mutating func search(_ frame: RadioFrame, _ level: Int) -> Outcome {
        guard let own = identity.levels.element(at: level), let valid = frame.bytes.element(at: 1),
            frame.bytes[0] == TypeACommand.levels.element(at: level)
        else { return fail() }
        if valid == TypeACommand.allBits { return select(frame, own, level) }
        guard !frame.hasCRC, let rest = TypeASelection.rest(of: own, after: frame) else { return fail() }
        return .answer(CardAnswer(rest, hasCRC: false))
    }

    private mutating func select(_ frame: RadioFrame, _ own: [UInt8], _ level: Int) -> Outcome {
        guard frame.hasCRC, frame.lastByteBits == 8, Array(frame.bytes.dropFirst(2)) == own else { return fail() }
        guard level + 1 == identity.levels.count else {
            step = .ready(level: level + 1)
            return .answer(CardAnswer([TypeACommand.incomplete]))
        }
        step = .active
        return .answer(CardAnswer([identity.sak & ~TypeACommand.incomplete]))
    }

    private mutating func fail() -> Outcome {
        fallBack()
        return .silence
    }

    /// The bits that follow those that the reader sent, `nil` when its bits are not the card's.
    ///
    /// The first byte has zeros where the reader's bits were, as a reader that aligns what it receives gives it.
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
