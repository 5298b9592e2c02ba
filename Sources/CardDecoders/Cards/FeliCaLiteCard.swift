// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// FeliCa Lite and Lite-S, system 88B4.
//
// Agreed: the ID block with its data format code (Proxmark3, felica-tool), the memory configuration (nfcpy), the write
// counter, little-endian (nfcpy's exchange, where it is near its end at FFFE00). What issuers put into the user blocks is
// theirs. A MAC is worth something only to who has the card key, so only its presence is told.

/// Shows the ID, the issuer, the memory configuration and the write counter of a FeliCa Lite or Lite-S.
public struct FeliCaLiteDecoder: PurselessDecoder {
    /// `felica-lite`
    public let id = "felica-lite"
    /// FeliCa Lite, Lite-S
    public let name = LocalizedText("FeliCa Lite or Lite-S", "FeliCa Lite・Lite-S")
    /// The ID block; there is no balance.
    public let balanceRead = ReadRequest(0x88B4, 0x000B, 0x82..<0x83)
    /// The ID block; there is no history.
    public var historyReads: [ReadRequest] { [balanceRead] }

    /// The ID (82) and the device's ID (83).
    public let personal = [
        PersonalBytes(0x88B4, 0x000B, blocks: 0x82...0x82, bytes: 0..<8),
        PersonalBytes(0x88B4, 0x000B, blocks: 0x83...0x83, bytes: 0..<8),
    ]

    /// The decoder.
    public init() {}

    /// Whether the system holds the read-only service.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) }

    /// What the system blocks say.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
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
