// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import NDEF

// NFC Forum tags of type 2 (Ultralight, NTAG), type 3 (FeliCa, system 12FC) and type 4 (ISO 7816).
//
// Certain (the specifications as implemented in nfcpy; published tags): the layout of tags, and the records of
// messages. Agreed (NXP data sheets, nfcpy): the lock bits of each product.

extension CardKind {
    /// NDEF (NFC Forum Type 3 Tag).
    public static let ndef = CardKind(rawValue: "ndef")
}

/// Shows the properties of an NFC Forum tag, and its NDEF message record by record.
package struct NDEFDecoder: PurselessDecoder {
    package let kind = CardKind.ndef
    package let name = LocalizedText("NDEF (NFC Forum Type 3 Tag)", "NDEF（NFCフォーラム Type 3 Tag）")
    /// Block 0 of service 000B; there is no balance.
    package let balanceRead = ReadRequest(0x12FC, 0x000B)
    /// Block 0 of service 000B.
    package var historyReads: [ReadRequest] { [balanceRead] }

    /// The message: everything that its owner wrote. A FeliCa Lite has it in 88B4 too, in user blocks.
    package let personal = [
        PersonalBytes(0x12FC, 0x000B, blocks: 1...UInt16.max), PersonalBytes(0x88B4, 0x000B, blocks: 1...13),
    ]

    private let writableRead = ReadRequest(0x12FC, 0x0009)
    private let liteRead = ReadRequest(0x88B4, 0x000B)

    package init() {}

    /// Returns whether the dump has pages, the NDEF application, or the attribute block of the NDEF system.
    package func recognizes(_ dump: CardDump) -> Bool {
        attributes(dump) != nil || dump.card.technology != .felica && TagReport(dump) != nil
    }

    /// Decodes the tag and its message.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard let tag = TagReport(dump) else { throw noBalance(dump) }
        guard tag.type == 3 else {
            let name = LocalizedText("NFC Forum Type \(tag.type) Tag", "NFCフォーラム Type \(tag.type) Tag")
            return CardReport(kind: kind, name: name, fields: tag.fields)
        }
        guard let block = attributes(dump) else { throw noBalance(dump) }
        let attributes = Type3Attributes(block)
        return CardReport(
            kind: kind, name: name, fields: attributes.fields + tag.fields,
            warnings: attributes.isChecksumRight ? [] : [.checksumWrong])
    }

    /// Block 0 of 12FC; FeliCa Lite has one memory for both its systems, so a dump can have it in 88B4 only.
    private func attributes(_ dump: CardDump) -> Block? {
        guard let system = dump.system(.ndef) else { return nil }
        if let block = (dump.opened(balanceRead) ?? dump.opened(writableRead))?.blocks[0] { return block }
        guard dump.system(.lite)?.idm == system.idm else { return nil }
        return dump.opened(liteRead)?.blocks[0]
    }
}

extension Type3Attributes {
    fileprivate var fields: [CardField] {
        [
            CardField(
                key: "version", name: LocalizedText("Version", "バージョン"), value: "\(majorVersion).\(minorVersion)",
                isPersonal: false),
            .number("nbr", "Blocks per read (Nbr)", "最大読み取りブロック数（Nbr）", blocksPerRead),
            .number("nbw", "Blocks per write (Nbw)", "最大書き込みブロック数（Nbw）", blocksPerWrite),
            .number("nmaxb", "Blocks for the message (Nmaxb)", "NDEFブロック数（Nmaxb）", blockCount),
            .number("length", "Length of the message (Ln), bytes", "メッセージ長（Ln、バイト）", length),
            // WriteF: 00 done, 0F in progress. RWFlag: 00 read only, 01 read and write. Other values stay numbers.
            coded(
                "writeFlag", "Last write", "直前の書き込み", writeFlag,
                [0x00: LocalizedText("complete", "完了"), 0x0F: LocalizedText("interrupted", "中断")]),
            coded(
                "access", "Access", "アクセス", accessFlag,
                [0x00: LocalizedText("read-only", "読み取り専用"), 0x01: LocalizedText("read-write", "読み書き可")]),
        ]
    }

    private func coded(
        _ key: String, _ english: String, _ japanese: String, _ code: UInt8, _ words: [UInt8: LocalizedText]
    ) -> CardField {
        CardField(
            key: key, name: LocalizedText(english, japanese),
            value: words[code]?.english ?? CodedValue(code: code, name: nil).hex,
            label: words[code],
            isPersonal: false)
    }
}
