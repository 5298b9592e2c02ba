// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// An NFC Forum Type 3 Tag, system 12FC: NDEF on FeliCa.
//
// Certain (NFC Forum Type 3 Tag specification as nfcpy reads it; the attribute block of a published tag): version, block
// counts, flags, length, checksum. The records of the message are not read here.

/// Shows the attribute information of an NDEF message on FeliCa, and whether its checksum is right.
public struct NDEFDecoder: PurselessDecoder {
    /// `ndef`
    public let id = "ndef"
    /// NDEF
    public let name = LocalizedText("NDEF (NFC Forum Type 3 Tag)", "NDEF（NFCフォーラム Type 3 Tag）")
    /// Block 0 of service 000B; there is no balance.
    public let balanceRead = ReadRequest(0x12FC, 0x000B, 0..<1)
    /// Block 0 of service 000B.
    public var historyReads: [ReadRequest] { [balanceRead] }

    private let writableRead = ReadRequest(0x12FC, 0x0009, 0..<1)
    private let liteRead = ReadRequest(0x88B4, 0x000B, 0..<1)

    /// The decoder.
    public init() {}

    /// Whether the attribute block of the NDEF system was read.
    public func recognises(_ dump: CardDump) -> Bool { attributes(dump) != nil }

    /// Version, block counts, length, and whether the tag can be written.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        guard let block = attributes(dump) else { throw noBalance(dump) }
        let attributes = NDEFAttributes(block)
        return CardReport(
            card: id, name: name, fields: attributes.fields,
            warnings: attributes.isChecksumRight ? [] : [.checksumWrong])
    }

    /// Block 0 of 12FC; FeliCa Lite has one memory for both its systems, so a dump may hold it in 88B4 only.
    private func attributes(_ dump: CardDump) -> Block? {
        guard let system = dump.system(.ndef) else { return nil }
        if let block = (dump.opened(balanceRead) ?? dump.opened(writableRead))?.blocks[0] { return block }
        guard dump.system(.lite)?.idm == system.idm else { return nil }
        return dump.opened(liteRead)?.blocks[0]
    }
}
