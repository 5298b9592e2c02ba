// SPDX-License-Identifier: Apache-2.0

package import NFCTransport

/// One frame for a card of ISO 14443 as a chip without a protocol of its own sends it: without parity, start and end
/// of frame.
package struct RawFrame: Hashable, Sendable {
    /// The modulation, at 106 kbit/s.
    package enum Modulation: Hashable, Sendable {
        /// ISO 14443 type A.
        case typeA
        /// ISO 14443 type B.
        case typeB
    }

    /// How it is sent.
    package var modulation: Modulation
    /// The bytes before the CRC.
    package var bytes: [UInt8]
    /// How many bits of the last byte are sent, 1 to 8, from the lowest: 7 for REQA and WUPA.
    package var lastByteBits: Int
    /// Whether the chip adds the CRC.
    package var addsCRC: Bool
    /// Whether the chip checks the answer's CRC and takes it off; else the answer comes as it is.
    package var checksCRC: Bool

    /// A frame.
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

/// What a card answered to a ``RawFrame``.
package struct RawAnswer: Hashable, Sendable {
    /// The bytes, without the CRC when the chip was to check it.
    package var bytes: [UInt8]
    /// How many bits of the last byte came, 1 to 8, from the lowest: 4 for the ACK and NAK of a Type 2 Tag. 8 also
    /// when the chip does not tell.
    package var lastByteBits: Int

    /// An answer.
    package init(_ bytes: [UInt8], lastByteBits: Int = 8) {
        self.bytes = bytes
        self.lastByteBits = lastByteBits
    }
}

/// A chip that carries single frames of ISO 14443 and knows nothing of what they mean.
package protocol RawFrameChannel: AnyObject {
    /// The longest frame in bytes, CRC included, that can be sent and received.
    var longestRawFrame: Int { get }

    /// Sends one frame and returns the card's answer. The field is on, and comes on when it is off.
    ///
    /// - Parameters:
    ///   - frame: what the card is to get.
    ///   - timeout: the longest time that the card may take; the channel adds what chip and computer need.
    /// - Throws: ``NFCTransport/TransportError/noAnswer`` when nothing came,
    ///   ``NFCTransport/TransportError/corrupted(status:)`` when it came damaged or cards collided, and other cases
    ///   when the reader failed.
    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer

    /// Selects a card of type A, where the chip does so itself.
    func selectTypeA() throws(TransportError) -> ChipSelection

    /// Switches the field off long enough for every card to forget its state, and on again.
    func resetField() throws(TransportError)

    /// Lets time pass, as a card may ask for before its first command.
    func wait(_ time: Duration) throws(TransportError)
}

/// What became of a chip's own search for a card of type A.
package enum ChipSelection: Hashable, Sendable {
    /// The chip selects no cards.
    case unsupported
    /// There is no card.
    case nothing
    /// The chip does not say whether it has selected one: one that it has selected takes the first request for an error,
    /// and answers the next.
    case unknown
    /// A card, which takes its own commands or RATS now.
    ///
    /// - Parameter sak: `nil` when the chip does not say.
    case card(uid: [UInt8], sak: UInt8?)
}

extension RawFrameChannel {
    /// Single frames only.
    package func selectTypeA() -> ChipSelection { .unsupported }
}

extension RawFrameChannel {
    /// Sleeps; no card asks for more than five seconds.
    package func wait(_ time: Duration) throws(TransportError) {
        ThreadPause.sleep(min(time, WaitingTime.longest))
    }
}

extension TransportError {
    /// Whether the air is to blame, so that the frame may be sent again.
    var isRadioError: Bool {
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

    /// The two bytes that follow `bytes` in the air.
    package func bytes(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var register: UInt16 = self == .a ? 0x6363 : 0xFFFF
        for byte in bytes {
            register ^= UInt16(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x8408 }
        }
        if self == .b { register = ~register }
        return [UInt8(truncatingIfNeeded: register), UInt8(truncatingIfNeeded: register >> 8)]
    }

    /// The bytes before the CRC, or `nil` when the last two are not the CRC of those before.
    package func verified(_ frame: [UInt8]) -> [UInt8]? {
        guard frame.count > 2 else { return nil }
        let content = Array(frame.dropLast(2))
        return bytes(of: content).elementsEqual(frame.suffix(2)) ? content : nil
    }
}
