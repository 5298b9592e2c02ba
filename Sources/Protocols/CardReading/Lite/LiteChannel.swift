// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
package import FeliCa
internal import ReaderCore

/// The numbers of the blocks of FeliCa Lite-S that Kazasu uses by name.
package enum LiteNumber {
    package static let challenge: UInt16 = 0x80
    package static let mac: UInt16 = 0x81
    package static let id: UInt16 = 0x82
    package static let device: UInt16 = 0x83
    package static let service: UInt16 = 0x84
    package static let keyVersion: UInt16 = 0x86
    package static let key: UInt16 = 0x87
    package static let configuration: UInt16 = 0x88
    package static let writeCount: UInt16 = 0x90
    package static let macA: UInt16 = 0x91
    package static let state: UInt16 = 0x92
}

/// One FeliCa Lite or Lite-S in the field: blocks, and sessions in which both sides prove that they have the key.
///
/// A card that loses its power forgets the session. A proof that fails is therefore repeated with another challenge
/// before the card counts as a copy, and ``inSession(_:mutual:_:)`` begins again.
package final class LiteChannel {
    package let session: CardSession
    /// Whether the card has MAC_A, WCNT and STATE.
    package let isLiteS: Bool
    private let system: SystemHandle
    private var key: LiteSessionKey?
    /// Makes RC; tests replace it.
    var random: () -> Block = {
        let halves = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)]
        return Block(halves.flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) } }) ?? .zero
    }

    /// How often a proof is tried.
    private static let tries = 3
    /// The last value of WCNT: when the system blocks are locked, and before.
    package static let (lastCount, lastOpenCount): (UInt32, UInt32) = (0xFFFE00, 0xFFFFFF)

    /// Makes a channel to a card that answered a Polling for the system 88B4.
    package init(_ session: CardSession) {
        self.session = session
        system = SystemHandle(code: .lite, idm: session.target.idm, pmm: session.target.pmm)
        isLiteS = session.target.pmm.icType != 0xF0
    }

    // MARK: Blocks

    /// Reads blocks without a MAC, as many at a time as the reader carries.
    ///
    /// - Throws: ``LiteError/refused(block:_:)``, ``LiteError/reading(_:)``.
    package func read(_ numbers: [UInt16]) throws(LiteError) -> [Block] {
        let count = max(1, min(4, session.reader.information.blocksPerRead))
        var blocks: [Block] = []
        for start in stride(from: 0, to: numbers.count, by: count) {
            blocks += try readOnce(Array(numbers[start...].prefix(count)))
        }
        return blocks
    }

    private func readOnce(_ numbers: [UInt16]) throws(LiteError) -> [Block] {
        try ask(numbers) { system throws(FeliCaError) in
            try system.readWithoutEncryption(ServiceCode(rawValue: 0x000B), blocks: numbers)
        }
    }

    /// Writes a block without a MAC. Writing the same twice changes nothing.
    package func write(_ number: UInt16, _ block: Block) throws(LiteError) {
        try write([number], [block])
    }

    private func write(_ numbers: [UInt16], _ blocks: [Block]) throws(LiteError) {
        _ = try ask(numbers) { system throws(FeliCaError) in
            try system.writeWithoutEncryption(
                services: [ServiceCode(rawValue: 0x0009)], blocks: BlockList(numbers: numbers), data: blocks)
        }
    }

    private func ask<Value>(
        _ numbers: [UInt16], _ command: (FeliCaSystem) throws(FeliCaError) -> Value
    ) throws(LiteError) -> Value {
        let reply: CardReply<Value>
        do throws(ReadingError) {
            reply = try session.ask(system, command)
        } catch {
            throw .reading(error)
        }
        switch reply {
        case .value(let value): return value
        case .refused(let flags):
            let place = flags.candidates(.bitmap, count: numbers.count).first ?? 0
            throw .refused(block: numbers.element(at: place) ?? 0, flags)
        case .silent: throw .refused(block: numbers.first ?? 0, StatusFlags(0xFF, 0xFF))
        }
    }

    // MARK: Sessions

    /// Why a step of a session failed.
    private enum SessionError: Error {
        /// The card may have lost its power, or is a copy: begin again.
        case lost
        case failed(LiteError)
    }

    /// Begins a session: the card proves that it has the key.
    ///
    /// Its own device ID (83) is part of the proof, so that another genuine card cannot answer for this IDm.
    ///
    /// - Returns: whether it has.
    /// - Throws: ``LiteError/reading(_:)``, ``LiteError/readerTooSmall(longest:needed:)``.
    package func beginSession(_ key: LiteKey) throws(LiteError) -> Bool {
        let longest = session.reader.information.longestFeliCaAnswer
        guard session.reader.information.blocksPerRead >= 2 else {
            throw .readerTooSmall(longest: longest, needed: 13 + 2 * 16)
        }
        for _ in 0..<Self.tries {
            self.key = nil
            let challenge = random()
            do throws(LiteError) {
                try write(LiteNumber.challenge, challenge)
            } catch .refused {
                continue
            }
            guard let session = LiteSessionKey(key, challenge: challenge) else { return false }
            self.key = session
            do throws(SessionError) {
                let device = try readWithMAC([LiteNumber.device]).first ?? .zero
                // Another card's proof is as good as none.
                if Array(device.bytes.prefix(8)) == system.idm.bytes { return true }
            } catch .failed(let error) {
                throw error
            } catch {}
            self.key = nil
        }
        return false
    }

    private func readWithMAC(_ numbers: [UInt16]) throws(SessionError) -> [Block] {
        guard let key else { throw .lost }
        let list = numbers + [isLiteS ? LiteNumber.macA : LiteNumber.mac]
        var blocks: [Block]
        do throws(LiteError) {
            blocks = try readOnce(list)
        } catch .refused {
            throw .lost
        } catch {
            throw .failed(error)
        }
        guard let given = blocks.popLast() else { throw .lost }
        let right = isLiteS ? key.macA(of: blocks, list: list) : key.mac(of: blocks)
        guard right.count == 8, Array(given.bytes.prefix(8)) == right else { throw .lost }
        return blocks
    }

    /// The write counter.
    private func writeCount() throws(SessionError) -> UInt32 {
        try readWithMAC([LiteNumber.writeCount]).first?.uint24(at: 0, .little) ?? 0
    }

    private func writeWithMAC(_ number: UInt16, _ block: Block, count: UInt32) throws(SessionError) {
        guard let key else { throw .lost }
        if count >= Self.lastOpenCount { throw .failed(.writesUsedUp) }
        if count == Self.lastCount {
            // From the factory, a card that is not locked begins with this value.
            do throws(LiteError) {
                let configuration = try readOnce([LiteNumber.configuration]).first ?? .zero
                if configuration[2] != 0xFF { throw LiteError.writesUsedUp }
            } catch {
                throw .failed(error)
            }
        }
        let mac = key.macA(writing: block, to: number, count: count)
        do throws(LiteError) {
            try write([number, LiteNumber.macA], [block, mac])
        } catch .refused(let refused, let flags) {
            // B1 and B2: the session is over, something else was written, or an answer was lost and the MAC repeated.
            guard [0xB1, 0xB2].contains(flags.flag2.rawValue) else { throw .failed(.refused(block: refused, flags)) }
            throw .lost
        } catch {
            throw .failed(error)
        }
    }

    /// The reader proves that it has the key, too: until it loses its power, the card allows what needs authentication.
    private func authenticate() throws(SessionError) {
        let count = try writeCount()
        try writeWithMAC(LiteNumber.state, Self.authenticated, count: count)
        guard try readWithMAC([LiteNumber.state]).first?[0] == 1 else { throw .lost }
    }

    private static let authenticated = Block([1] + [UInt8](repeating: 0, count: 15)) ?? .zero

    /// Blocks in a session, for the closure of ``LiteChannel/inSession(_:mutual:_:)``.
    package struct Secured {
        fileprivate let channel: LiteChannel

        /// Reads blocks with a MAC, as many at a time as fit.
        package func read(_ numbers: [UInt16]) throws(LiteError) -> [Block] {
            let most = max(1, min(4, channel.session.reader.information.blocksPerRead) - 1)
            var blocks: [Block] = []
            for start in stride(from: 0, to: numbers.count, by: most) {
                let part = Array(numbers[start...].prefix(most))
                blocks += try flat { () throws(SessionError) in try channel.readWithMAC(part) }
            }
            return blocks
        }

        /// Reads the write counter.
        package func writeCount() throws(LiteError) -> UInt32 {
            try flat { () throws(SessionError) in try channel.writeCount() }
        }

        /// Writes a block with a MAC.
        ///
        /// - Parameter count: the value of WCNT that it must have; `nil` for whatever it has now. The card refuses when
        ///   anything was written since it had this value.
        package func write(_ number: UInt16, _ block: Block, count: UInt32? = nil) throws(LiteError) {
            try flat { () throws(SessionError) in
                let now: UInt32 = if let count { count } else { try channel.writeCount() }
                try channel.writeWithMAC(number, block, count: now)
            }
        }

        private func flat<Value>(_ step: () throws(SessionError) -> Value) throws(LiteError) -> Value {
            do throws(SessionError) {
                return try step()
            } catch .failed(let error) {
                throw error
            } catch {
                throw .unstable
            }
        }
    }

    /// Runs work in a session; after an interruption it is repeated in another one.
    ///
    /// - Parameter mutual: whether the reader has to prove that it has the key as well.
    /// - Throws: ``LiteError``; ``LiteError/notGenuine`` if the card does not have the key.
    package func inSession<Value>(
        _ key: LiteKey, mutual: Bool, _ work: (Secured) throws(LiteError) -> Value
    ) throws(LiteError) -> Value {
        for _ in 0..<Self.tries {
            guard try beginSession(key) else { throw .notGenuine }
            do throws(SessionError) {
                if mutual { try authenticate() }
            } catch .failed(let error) {
                throw error
            } catch {
                continue
            }
            do throws(LiteError) {
                return try work(Secured(channel: self))
            } catch .unstable {
                continue
            }
        }
        throw .unstable
    }

    // MARK: Power

    /// Finds the card again after it lost its power.
    ///
    /// - Throws: ``LiteError/reading(_:)`` if it is gone or another one is there.
    package func select() throws(LiteError) {
        key = nil
        do throws(ReadingError) {
            guard try session.isPresent(system) else { throw ReadingError.cardLost }
        } catch {
            throw .reading(error)
        }
    }

    /// Whether the card answers now.
    package func isPresent() throws(LiteError) -> Bool {
        do throws(ReadingError) {
            return try session.poll(.lite)?.idm == system.idm
        } catch {
            throw .reading(error)
        }
    }

    /// Switches the field off and on, where the reader can.
    ///
    /// - Returns: whether it did.
    package func cyclePower() throws(LiteError) -> Bool {
        key = nil
        do throws(TransportError) {
            return try session.reader.cyclePower()
        } catch {
            throw .reading(CardSession.readingError(error))
        }
    }
}
