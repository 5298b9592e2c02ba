// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// FeliCa Lite and Lite-S, system 88B4.
//
// Agreed: the ID block with its data format code (Proxmark3, felica-tool), the memory configuration (nfcpy), the write
// counter, little-endian (nfcpy's exchange, where it is near its end at FFFE00). The user blocks are up to the issuer.
// A MAC is only useful to holders of the card key, so only its presence is reported.

extension CardKind {
    /// FeliCa Lite or Lite-S.
    public static let feliCaLite = CardKind(rawValue: "felica-lite")
}

/// Shows the ID, the issuer, the memory configuration and the write counter of a FeliCa Lite or Lite-S.
package struct FeliCaLiteDecoder: PurselessDecoder {
    package let kind = CardKind.feliCaLite
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

    package init() {}

    /// Decodes the system blocks.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard let blocks = dump.opened(balanceRead)?.blocks else { throw noBalance(dump) }
        var report = CardReport(kind: kind, name: name)
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
                    key: "mac", name: LocalizedText("MAC blocks", "MACブロック"),
                    value: codes.joined(separator: " "), isPersonal: false))
        }
        if let block = blocks[0x90] {
            report.fields.append(.number("writeCount", "Writes", "書き込み回数", block.uint24(at: 0, .little)))
        }
        return report
    }
}

/// Block 82 of FeliCa Lite: the card's ID and the data format code.
///
/// The ID is in bytes 0 to 7; the data format code, assigned by Sony, is in bytes 8 and 9 and identifies the issuer.
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

/// Block 88 (MC) of FeliCa Lite and Lite-S: what can still be changed, and what needs the card key.
///
/// Bytes 0 and 1: bit n is set while block n is writable (bit 14: REG); 2: FF while the system blocks are writable; 3,
/// bit 0: NDEF; 5, bit 0: the card key can be changed with a MAC. Lite-S has three more maps: the blocks that need
/// authentication for reading (6, 7) and for writing (8, 9), and those that need a MAC for writing (10, 11). Source:
/// nfcpy.
package struct LiteMemoryConfiguration: Hashable, Sendable {
    /// Blocks that are permanently read-only, 0 to 14; 14 is REG.
    package let readOnlyBlocks: [Int]
    /// Whether the system blocks are writable; once locked, they stay so.
    package let isSystemWritable: Bool
    /// Whether the card responds to the NDEF system 12FC.
    package let announcesNDEF: Bool
    /// Whether the card key can be changed with a MAC.
    package let isKeyChangeable: Bool
    /// Blocks that can be read only after authentication; `nil` for FeliCa Lite, which has no such map.
    package let authenticatedReads: [Int]?
    /// Blocks that can be written only after authentication; `nil` for FeliCa Lite.
    package let authenticatedWrites: [Int]?
    /// Blocks that can be written only with a MAC; `nil` for FeliCa Lite.
    package let writesWithMAC: [Int]?

    /// Decodes the block.
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

    /// The configuration as fields of a report.
    package var fields: [CardField] {
        [
            list("readOnlyBlocks", "Read-only blocks", "読み取り専用ブロック", readOnlyBlocks),
            .flag("systemBlocksWritable", "System blocks can be written", "システムブロック書き込み可", isSystemWritable),
            .flag("ndef", "NDEF enabled", "NDEF対応", announcesNDEF),
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
