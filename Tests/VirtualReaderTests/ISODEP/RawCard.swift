// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import VirtualReader

/// Sends frames in hexadecimal to a card, and gives what it answers in hexadecimal.
struct RawCard {
    let card: any VirtualCard
    let technology: RadioTechnology

    func ask(_ text: String, bits: Int = 8, crc: Bool = true) throws -> String? {
        let frame = RadioFrame(technology, try Hex.decode(text), lastByteBits: bits, hasCRC: crc)
        return card.answer(frame).map { Hex.encode($0.frame) }
    }

    /// A card of type A after WUPA, anticollision and SELECT of a UID of four bytes, and RATS with frames of 256.
    static func typeA(_ card: any VirtualCard, uid: String = "01020304", rats: String? = "e080") throws -> RawCard {
        let raw = RawCard(card: card, technology: .typeA)
        _ = try raw.ask("52", bits: 7, crc: false)
        let check = try Hex.decode(uid).reduce(0, ^)
        _ = try raw.ask("9370" + uid + Hex.encode([check]))
        if let rats { _ = try raw.ask(rats) }
        return raw
    }
}
