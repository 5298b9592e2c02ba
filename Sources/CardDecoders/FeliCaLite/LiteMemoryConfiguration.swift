// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Block 88, MC. Bytes 0 and 1: bit n set while block n may be written (bit 14: REG); 2: FF while the system blocks may;
/// 3, bit 0: NDEF; 5, bit 0: the card key may be changed with a MAC. Lite-S has three more maps: which blocks need
/// authentication to be read (6, 7) and to be written (8, 9), and which need a MAC to be written (10, 11). Source: nfcpy.
struct LiteMemoryConfiguration {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    func fields(isLiteS: Bool) -> [CardField] {
        var fields: [CardField] = [
            map("readOnlyBlocks", "Read-only blocks", "読み取り専用ブロック", ~raw.uint16(at: 0, .little)),
            .flag("systemBlocksWritable", "System blocks can be written", "システムブロック書き込み可", raw[2] == 0xFF),
            .flag("ndef", "Announces NDEF", "NDEF対応", raw[3] & 1 == 1),
            .flag("keyChangeable", "Card key can be changed with a MAC", "MAC付きの鍵変更可", raw[5] & 1 == 1),
        ]
        guard isLiteS else { return fields }
        fields += [
            map("readNeedsAuthentication", "Authentication to read", "読み取りに認証が必要", raw.uint16(at: 6, .little)),
            map("writeNeedsAuthentication", "Authentication to write", "書き込みに認証が必要", raw.uint16(at: 8, .little)),
            map("writeNeedsMAC", "MAC to write", "書き込みにMACが必要", raw.uint16(at: 10, .little)),
        ]
        return fields
    }

    /// The blocks 0 to 14 whose bits are set, as in `0 1 14`; `-` when there are none.
    private func map(_ key: String, _ english: String, _ japanese: String, _ bits: UInt16) -> CardField {
        let blocks = (0...14).filter { bits.bits($0...$0) == 1 }.map { String($0) }
        return CardField(
            key: key, name: LocalizedText(english, japanese),
            value: blocks.isEmpty ? "-" : blocks.joined(separator: " "), isPersonal: false)
    }
}
