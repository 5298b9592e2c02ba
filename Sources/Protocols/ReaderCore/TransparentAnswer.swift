// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A reader's answer within a transparent session of PC/SC part 3: data objects followed by a status word.
///
/// The decoder accepts any bytes. `C0 03 nn SW1 SW2` reports which data object of the command failed (00 none, else
/// counted from 1) and why, `92 01` how many bits of the last byte were received, `96 02` how it was received over the
/// air, `97` the card's frame, `8F` the information of the card that a protocol switch selected, `5F 51` its ATR. Tags
/// are BER tags: `FF 6D` is Sony's own.
///
/// Sources: PC/SC part 3 supplement 2; felica-rs's `port400/pcsc.rs`; answers of an RC-S300 as published by EspUsbHost
/// (`rcs300_felica_probe.py`) and simple-attendance-with-pasori (`felica.js`).
package struct TransparentAnswer: Hashable, Sendable {
    /// The status word of object C0, else the final one.
    package let status: UInt16
    /// The number of the command's data object that failed; 0 for none.
    package let failedObject: Int
    /// The number of bits received in the last byte, 1 to 8.
    package let lastByteBits: Int
    /// The reception errors: bit 0 CRC, 1 collision, 2 parity, 3 framing.
    package let damage: UInt8
    /// The bit of ``damage`` for a collision.
    package static let collision: UInt8 = 0x02
    /// The card's frame; `nil` if the reader returned none.
    package let frame: [UInt8]?
    /// Type A: the SAK. Type B: the protocol info.
    package let cardInformation: [UInt8]?

    private static let done: UInt16 = 0x9000

    /// Reads a complete response with its status word; `nil` if it has none, or an object's length does not fit.
    package init?(_ response: [UInt8]) {
        guard response.count >= 2 else { return nil }
        let outer = UInt16(response[response.count - 2]) << 8 | UInt16(response[response.count - 1])
        let objects = BERTLVList(tolerant: response.dropLast(2))
        guard objects.fault == nil else { return nil }
        let failure = objects[0xC0]?.value ?? []
        if outer == Self.done, failure.count == 3 {
            status = UInt16(failure[1]) << 8 | UInt16(failure[2])
            failedObject = Int(failure[0])
        } else {
            status = outer
            failedObject = 0
        }
        let bits = Int(objects[0x92]?.value.first ?? 0) & 0x07
        lastByteBits = bits == 0 ? 8 : bits
        damage = (objects[0x96]?.value.first ?? 0) & 0x0F
        frame = objects[0x97]?.value
        cardInformation = objects[0x8F]?.value
    }

    /// The meaning of a status word.
    ///
    /// Source: the command reference of the RC-S660/S, a reader of the same family, as quoted by hmpow's DLC_Starter.
    package enum Meaning: Hashable, Sendable {
        /// 9000, and 6282: the answer is shorter than it could be.
        case done
        /// 6400, 6401: the card does not answer.
        case silent
        /// 6300: a transmission error over the air.
        case damaged
        /// 6301, 6985: objects in the wrong order, or not allowed in this state, such as without a session.
        case wrongState
        /// 698A: a session is already open.
        case sessionIsOpen
        /// The reader cannot carry out the command.
        case refused(status: UInt16)
    }

    /// The meaning of the status for a command other than a frame to a card.
    package var meaning: Meaning {
        switch status {
        case Self.done, 0x6282: .done
        case 0x6400, 0x6401: .silent
        case 0x6300: .damaged
        case 0x6301, 0x6985: .wrongState
        case 0x698A: .sessionIsOpen
        default: .refused(status: status)
        }
    }

    /// Returns the meaning of the status for an exchange.
    ///
    /// A no-answer status for an object before the frame means that the frame was never sent.
    ///
    /// - Parameter number: the number of the object with the frame in the command, counted from 1.
    package func meaning(ofExchangeWithFrameAt number: Int) -> Meaning {
        if meaning == .silent, failedObject > 0, failedObject < number { return .refused(status: status) }
        return meaning
    }
}
