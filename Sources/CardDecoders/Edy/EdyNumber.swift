// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The card number in bytes 2 to 9 of block 0 of service 110B: sixteen digits, binary-coded decimal.
struct EdyNumber {
    /// Sixteen digits as the card writes them.
    let text: String
    /// Whether all digits are decimal, as on every real card.
    let isDecimal: Bool

    init(_ block: Block) {
        let bytes = block.bytes.dropFirst(2).prefix(8)
        let digits = BCD.digits(bytes)
        text = digits ?? Hex.encode(bytes, uppercase: true)
        isDecimal = digits != nil
    }

    var field: CardField {
        CardField(key: "number", name: LocalizedText("Edy number", "Edy番号"), value: text, isPersonal: true)
    }
}
