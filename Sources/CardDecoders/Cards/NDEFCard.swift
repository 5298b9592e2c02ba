// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// NFC Forum tags of type 2 (Ultralight, NTAG), type 3 (FeliCa, system 12FC) and type 4 (ISO 7816).
//
// Certain (the specifications as nfcpy reads them; published tags): how tags are laid out, and the records of messages.
// Agreed (NXP data sheets, nfcpy): which product has which lock bits.

/// Shows what an NFC Forum tag says of itself, and its NDEF message record by record.
public struct NDEFDecoder: PurselessDecoder {
    /// `ndef`
    public let id = "ndef"
    /// NDEF
    public let name = LocalizedText("NDEF (NFC Forum Type 3 Tag)", "NDEF（NFCフォーラム Type 3 Tag）")
    /// Block 0 of service 000B; there is no balance.
    public let balanceRead = ReadRequest(0x12FC, 0x000B, 0..<1)
    /// Block 0 of service 000B.
    public var historyReads: [ReadRequest] { [balanceRead] }

    /// The message: all that its owner wrote. A FeliCa Lite has it in 88B4 too, in user blocks.
    public let personal = [
        PersonalBytes(0x12FC, 0x000B, blocks: 1...UInt16.max), PersonalBytes(0x88B4, 0x000B, blocks: 1...13),
    ]

    private let writableRead = ReadRequest(0x12FC, 0x0009, 0..<1)
    private let liteRead = ReadRequest(0x88B4, 0x000B, 0..<1)

    /// The decoder.
    public init() {}

    /// Whether it is a tag: pages, the NDEF application, or the attribute block of the NDEF system were read.
    public func recognises(_ dump: CardDump) -> Bool {
        attributes(dump) != nil || dump.card.technology != .felica && TagReport(dump) != nil
    }

    /// What the tag is, and what its message says.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        guard let tag = TagReport(dump) else { throw noBalance(dump) }
        guard tag.type == 3 else {
            let name = LocalizedText("NFC Forum Type \(tag.type) Tag", "NFCフォーラム Type \(tag.type) Tag")
            return CardReport(card: id, name: name, fields: tag.fields)
        }
        guard let block = attributes(dump) else { throw noBalance(dump) }
        let attributes = NDEFAttributes(block)
        return CardReport(
            card: id, name: name, fields: attributes.fields + tag.fields,
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
