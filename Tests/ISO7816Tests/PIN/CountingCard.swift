// SPDX-License-Identifier: Apache-2.0

import ReaderCore

/// A card with two PINs that counts every VERIFY that reaches it, and with an exchange that goes wrong. It is written by
/// hand, byte by byte: nothing of the codec under test is in it.
final class CountingCard: CardChannel {
    /// What an empty VERIFY is answered with.
    enum Counter: Hashable, Sendable {
        /// 63Cx with the tries left, and the word for locked when there are none.
        case counts(Int, locked: UInt16)
        /// Always this word, whatever is left.
        case word(UInt16)
    }

    /// What goes wrong at one exchange.
    enum InjectedFault: Hashable, Sendable, CaseIterable {
        /// The command does not reach the card.
        case lostCommand
        /// The card has done it, but its answer is lost.
        case lostAnswer
        /// The answer is damaged.
        case damaged
        /// The card has lost its power.
        case released
        /// The reader does not answer.
        case readerTimeout
        /// The answer has one byte.
        case oneByte
        /// The answer is empty.
        case empty
        /// The answer is another word that means nothing.
        case oddWord
        /// The answer has 9000 behind it.
        case trailingSuccess
        /// Interrupted by the user.
        case cancelled
        /// The card is exchanged for another one.
        case otherCard
    }

    private(set) var tries: [UInt8: Int] = [:]
    /// Every VERIFY with data that the channel was asked to send, whether it reached the card or not.
    private(set) var sentPINs: [(p2: UInt8, pin: [UInt8])] = []
    private(set) var exchanges = 0
    private(set) var activations = 0
    private let counter: Counter
    private let fault: (kind: InjectedFault, exchange: Int)?
    private let right: [UInt8: [UInt8]]
    private var isThere = true
    private var isOther = false

    init(_ counter: Counter, right: [UInt8: [UInt8]], fault: (InjectedFault, Int)? = nil) {
        self.counter = counter
        self.right = right
        self.fault = fault
        for p2 in right.keys {
            if case .counts(let count, _) = counter { tries[p2] = count } else { tries[p2] = 3 }
        }
    }

    func activate() throws(TransportError) -> Bool {
        activations += 1
        isThere = true
        return !isOther
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        exchanges += 1
        if frame[1] == 0x20, frame.count > 5 { sentPINs.append((frame[3], Array(frame[5...]))) }
        guard isThere else { throw .cardReleased }
        guard let fault, fault.exchange == exchanges else { return answer(frame) }
        switch fault.kind {
        case .lostCommand: throw .noAnswer
        case .lostAnswer:
            _ = answer(frame)
            throw .noAnswer
        case .damaged:
            _ = answer(frame)
            throw .corrupted(status: 0x02)
        case .released:
            isThere = false
            throw .cardReleased
        case .readerTimeout: throw .readerTimeout
        case .oneByte: return Array(answer(frame).prefix(1))
        case .empty:
            _ = answer(frame)
            return []
        case .oddWord:
            _ = answer(frame)
            return [0x12, 0x34]
        case .trailingSuccess: return answer(frame) + [0x90, 0x00]
        case .cancelled: throw .cancelled
        case .otherCard:
            isOther = true
            throw .noAnswer
        }
    }

    private func answer(_ frame: [UInt8]) -> [UInt8] {
        switch frame[1] {
        case 0xA4: return [0x90, 0x00]
        case 0x20: return verify(p2: frame[3], pin: frame.count > 5 ? Array(frame[5...]) : nil)
        default: return [0x6D, 0x00]
        }
    }

    private func verify(p2: UInt8, pin: [UInt8]?) -> [UInt8] {
        guard let secret = right[p2], let left = tries[p2] else { return [0x6A, 0x88] }
        let (countdown, locked): (Bool, UInt16) =
            switch counter {
            case .counts(_, let word): (true, word)
            case .word: (false, 0x6984)
            }
        guard let pin else {
            if case .word(let word) = counter { return bytes(word) }
            return left > 0 ? bytes(0x63C0 | UInt16(left)) : bytes(locked)
        }
        guard left > 0 else { return bytes(locked) }
        if pin == secret {
            if case .counts(let full, _) = counter { tries[p2] = full } else { tries[p2] = 3 }
            return [0x90, 0x00]
        }
        tries[p2] = left - 1
        guard countdown else { return [0x63, 0x00] }
        return left > 1 ? bytes(0x63C0 | UInt16(left - 1)) : bytes(locked)
    }

    private func bytes(_ word: UInt16) -> [UInt8] { [UInt8(word >> 8), UInt8(word & 0xFF)] }
}
