// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Block 82 of FeliCa Lite: the card's ID in bytes 0 to 7, and the data format code in bytes 8 and 9, which Sony gives
/// out and which tells the issuer.
struct LiteIDBlock {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    /// The data format code.
    var format: UInt16 { raw.uint16(at: 8, .big) }

    var fields: [CardField] {
        var fields = [
            CardField(
                key: "id", name: LocalizedText("ID", "ID"), value: Hex.encode(raw.bytes.prefix(8), uppercase: true),
                isPersonal: true),
            CardField(
                key: "dataFormatCode", name: LocalizedText("Data format code", "データフォーマットコード"),
                value: Hex.encode(format, digits: 4), isPersonal: false),
        ]
        if let issuer = DecoderTables.liteIssuers[format] {
            fields.append(
                CardField(
                    key: "issuer", name: LocalizedText("Issuer", "発行者"), value: issuer.english, label: issuer,
                    isPersonal: false)
            )
        }
        return fields
    }
}
