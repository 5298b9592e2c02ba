// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// FeliCa Lite and Lite-S, system 88B4.
//
// Agreed: the ID block with its data format code (Proxmark3, felica-tool), the memory configuration (nfcpy), the write
// counter, little-endian (nfcpy's exchange, where it is near its end at FFFE00). What issuers put into the user blocks is
// theirs. A MAC is worth something only to who has the card key, so only its presence is told.

/// Shows the ID, the issuer, the memory configuration and the write counter of a FeliCa Lite or Lite-S.
package struct FeliCaLiteDecoder: PurselessDecoder {
    /// `felica-lite`
    package let id = "felica-lite"
    /// FeliCa Lite, Lite-S
    package let name = LocalizedText("FeliCa Lite or Lite-S", "FeliCa Lite・Lite-S")
    /// The ID block; there is no balance.
    package let balanceRead = ReadRequest(0x88B4, 0x000B, 0x82..<0x83)
    /// The ID block; there is no history.
    package var historyReads: [ReadRequest] { [balanceRead] }

    /// The ID (82) and the device's ID (83).
    package let personal = [
        PersonalBytes(0x88B4, 0x000B, blocks: 0x82...0x82, bytes: 0..<8),
        PersonalBytes(0x88B4, 0x000B, blocks: 0x83...0x83, bytes: 0..<8),
    ]

    /// The decoder.
    package init() {}

    /// Whether the system holds the read-only service.
    package func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) }

    /// What the system blocks say.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard let blocks = dump.opened(balanceRead)?.blocks else { throw noBalance(dump) }
        var report = CardReport(card: id, name: name)
        if let block = blocks[0x82] { report.fields += LiteIDBlock(block).fields }
        if let block = blocks[0x85] {
            report.fields.append(
                CardField(
                    key: "systemCode", name: LocalizedText("System code", "システムコード"),
                    value: Hex.encode(block.uint16(at: 0, .big), digits: 4), isPersonal: false))
        }
        if let block = blocks[0x86] {
            report.fields.append(
                CardField(
                    key: "keyVersion", name: LocalizedText("Card key version", "カード鍵バージョン"),
                    value: Hex.encode(block.bytes.prefix(2), uppercase: true), isPersonal: false))
        }
        if let block = blocks[0x88] {
            report.fields += LiteMemoryConfiguration(block, isLiteS: blocks[0x90] != nil).fields
        }
        let codes = [(0x81 as UInt16, "MAC"), (0x91, "MAC_A")].filter { blocks[$0.0] != nil }.map(\.1)
        if !codes.isEmpty {
            report.fields.append(
                CardField(
                    key: "mac", name: LocalizedText("MAC blocks it has", "MACブロック"),
                    value: codes.joined(separator: " "), isPersonal: false))
        }
        if let block = blocks[0x90] {
            report.fields.append(.number("writeCount", "Writes", "書き込み回数", block.uint24(at: 0, .little)))
        }
        return report
    }
}

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

/// Block 88 of FeliCa Lite and Lite-S, MC: what may still be changed, and what needs the card key.
///
/// Bytes 0 and 1: bit n set while block n may be written (bit 14: REG); 2: FF while the system blocks may; 3, bit 0: NDEF;
/// 5, bit 0: the card key may be changed with a MAC. Lite-S has three more maps: which blocks need authentication to be
/// read (6, 7) and to be written (8, 9), and which need a MAC to be written (10, 11). Source: nfcpy.
package struct LiteMemoryConfiguration: Hashable, Sendable {
    /// Blocks that cannot be written any more, 0 to 14; 14 is REG.
    package let readOnlyBlocks: [Int]
    /// Whether the system blocks can be written; once closed they stay so.
    package let isSystemWritable: Bool
    /// Whether the card answers to the NDEF system 12FC.
    package let announcesNDEF: Bool
    /// Whether the card key can be changed with a MAC.
    package let isKeyChangeable: Bool
    /// Blocks that are read only after authentication; `nil` for FeliCa Lite, which has no such map.
    package let authenticatedReads: [Int]?
    /// Blocks that are written only after authentication; `nil` for FeliCa Lite.
    package let authenticatedWrites: [Int]?
    /// Blocks that are written only with a MAC; `nil` for FeliCa Lite.
    package let writesWithMAC: [Int]?

    /// What the block says.
    package init(_ block: Block, isLiteS: Bool) {
        func map(_ bits: UInt16) -> [Int] { (0...14).filter { bits.bits($0...$0) == 1 } }
        readOnlyBlocks = map(~block.uint16(at: 0, .little))
        isSystemWritable = block[2] == 0xFF
        announcesNDEF = block[3] & 1 == 1
        isKeyChangeable = block[5] & 1 == 1
        authenticatedReads = isLiteS ? map(block.uint16(at: 6, .little)) : nil
        authenticatedWrites = isLiteS ? map(block.uint16(at: 8, .little)) : nil
        writesWithMAC = isLiteS ? map(block.uint16(at: 10, .little)) : nil
    }

    /// All of it as fields of a report.
    package var fields: [CardField] {
        [
            list("readOnlyBlocks", "Read-only blocks", "読み取り専用ブロック", readOnlyBlocks),
            .flag("systemBlocksWritable", "System blocks can be written", "システムブロック書き込み可", isSystemWritable),
            .flag("ndef", "Announces NDEF", "NDEF対応", announcesNDEF),
            .flag("keyChangeable", "Card key can be changed with a MAC", "MAC付きの鍵変更可", isKeyChangeable),
            list("readNeedsAuthentication", "Authentication to read", "読み取りに認証が必要", authenticatedReads),
            list("writeNeedsAuthentication", "Authentication to write", "書き込みに認証が必要", authenticatedWrites),
            list("writeNeedsMAC", "MAC to write", "書き込みにMACが必要", writesWithMAC),
        ].compactMap { $0 }
    }

    /// Block numbers, as in `0 1 14`; `-` when there are none.
    private func list(_ key: String, _ english: String, _ japanese: String, _ blocks: [Int]?) -> CardField? {
        guard let blocks else { return nil }
        return CardField(
            key: key, name: LocalizedText(english, japanese),
            value: blocks.isEmpty ? "-" : blocks.map { String($0) }.joined(separator: " "), isPersonal: false)
    }
}
