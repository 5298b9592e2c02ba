// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The number of a card in binary-coded decimal.
struct CardNumber {
    /// The digits as the card writes them.
    let text: String
    /// Whether all digits are decimal, as on every real card.
    let isDecimal: Bool

    init(_ bytes: some Sequence<UInt8>) {
        let digits = BCD.digits(bytes)
        text = digits ?? Hex.encode(bytes, uppercase: true)
        isDecimal = digits != nil
    }
}

extension CardReport {
    /// Takes the number of the card, which tells whose it is.
    mutating func take(_ number: CardNumber, _ name: LocalizedText) {
        fields.append(CardField(key: "number", name: name, value: number.text, isPersonal: true))
        if !number.isDecimal { warnings.append(.numberNotDecimal) }
    }
}
