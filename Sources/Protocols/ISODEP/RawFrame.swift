// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// One frame for a card of ISO 14443, for a chip without a protocol implementation: without parity, start and end of
/// frame.
package struct RawFrame: Hashable, Sendable {
    /// The modulation.
    package enum Modulation: Hashable, Sendable {
        /// ISO 14443 type A.
        case typeA
        /// ISO 14443 type B.
        case typeB
    }

    /// The modulation of the frame.
    package var modulation: Modulation
    /// The bytes before the CRC.
    package var bytes: [UInt8]
    /// The number of bits of the last byte that are sent, 1 to 8, from the lowest: 7 for REQA and WUPA.
    package var lastByteBits: Int
    /// The speed of the frame and of its answer: 106 kbit/s, doubled so many times.
    package var bitRate: UInt8 = 0
    /// Whether the chip adds the CRC.
    package var addsCRC: Bool
    /// Whether the chip checks the answer's CRC and removes it; otherwise the answer is returned unchanged.
    package var checksCRC: Bool

    package init(
        _ modulation: Modulation, _ bytes: [UInt8], lastByteBits: Int = 8, addsCRC: Bool = true, checksCRC: Bool = true
    ) {
        self.modulation = modulation
        self.bytes = bytes
        self.lastByteBits = lastByteBits
        self.addsCRC = addsCRC
        self.checksCRC = checksCRC
    }
}

/// A card's answer to a ``RawFrame``.
package struct RawAnswer: Hashable, Sendable {
    /// The bytes, without the CRC when the chip was told to check it.
    package var bytes: [UInt8]
    /// The number of received bits of the last byte, 1 to 8, from the lowest. 4 for the ACK and NAK of a Type 2 Tag; 8
    /// also when the chip does not report it.
    package var lastByteBits: Int

    package init(_ bytes: [UInt8], lastByteBits: Int = 8) {
        self.bytes = bytes
        self.lastByteBits = lastByteBits
    }
}

/// A chip that carries single frames of ISO 14443 without interpreting them.
package protocol RawFrameChannel: AnyObject {
    /// The longest frame in bytes, CRC included, that can be sent and received.
    var longestRawFrame: Int { get }

    /// Sends one frame and returns the card's answer. The field is switched on when it is off.
    ///
    /// - Parameters:
    ///   - frame: the data for the card.
    ///   - timeout: the longest time that the card may take; the channel adds the time for chip and computer.
    /// - Throws: ``ReaderCore/TransportError/noAnswer`` when there was no answer,
    ///   ``ReaderCore/TransportError/corrupted(status:)`` when it was damaged or cards collided, and other cases when
    ///   the reader failed.
    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer

    /// The highest speed at which it exchanges frames with a card in ISO-DEP: 106 kbit/s, doubled so many times.
    var highestBitRate: UInt8 { get }

    /// Records that a card failed at more than 106 kbit/s: ``highestBitRate`` is 0 from now on.
    func didFailAtHigherBitRate()

    /// Selects a card of type A, where the chip does so itself.
    func selectTypeA() throws(TransportError) -> ChipSelection

    /// Switches the field off long enough for every card to forget its state, and on again.
    func resetField() throws(TransportError)

    /// Lets time pass, as a card may require before its first command.
    func wait(_ time: Duration) throws(TransportError)

    /// Whether the status of a damaged answer says that the answers of several cards collided.
    func isCollision(_ status: UInt8) -> Bool
}

/// The outcome of a chip's own search for a card of type A.
package enum ChipSelection: Hashable, Sendable {
    /// The chip selects no cards.
    case unsupported
    /// There is no card.
    case nothing
    /// The chip does not report whether it has selected one: a selected card treats the first request as an error, and
    /// answers the next.
    case unknown
    /// A card, which now accepts its own commands or RATS.
    ///
    /// - Parameter sak: `nil` when the chip does not report it.
    case card(uid: [UInt8], sak: UInt8?)
}

extension RawFrameChannel {
    /// 106 kbit/s only.
    package var highestBitRate: UInt8 { 0 }

    /// Nothing to record.
    package func didFailAtHigherBitRate() {}

    /// Returns ``ChipSelection/unsupported``: single frames only.
    package func selectTypeA() -> ChipSelection { .unsupported }

    /// Cannot tell.
    package func isCollision(_ status: UInt8) -> Bool { false }
}

extension RawFrameChannel {
    /// Sleeps; no card asks for more than five seconds.
    package func wait(_ time: Duration) throws(TransportError) {
        ThreadPause.sleep(min(time, WaitingTime.longest))
    }
}

extension TransportError {
    /// Whether it is a radio error, so that the frame can be sent again.
    package var isRadioError: Bool {
        switch self {
        case .noAnswer, .corrupted: true
        default: false
        }
    }
}

/// The CRC of ISO 14443-3: polynomial 8408, bits from the lowest, sent low byte first.
package enum Checksum: Hashable, Sendable {
    /// CRC_A: starts with 6363.
    case a
    /// CRC_B: starts with FFFF and is inverted.
    case b

    /// Returns the two bytes that follow `bytes` in the air.
    package func bytes(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var register: UInt16 = self == .a ? 0x6363 : 0xFFFF
        for byte in bytes {
            register ^= UInt16(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x8408 }
        }
        if self == .b { register = ~register }
        return [UInt8(truncatingIfNeeded: register), UInt8(truncatingIfNeeded: register >> 8)]
    }

    /// Returns the bytes before the CRC, or `nil` when the last two are not their CRC.
    package func verified(_ frame: [UInt8]) -> [UInt8]? {
        guard frame.count > 2 else { return nil }
        let content = Array(frame.dropLast(2))
        return bytes(of: content).elementsEqual(frame.suffix(2)) ? content : nil
    }
}
