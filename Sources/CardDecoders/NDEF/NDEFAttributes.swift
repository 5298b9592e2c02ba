// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The attribute information block of a Type 3 Tag: version (two nibbles), Nbr, Nbw, Nmaxb (big-endian), four reserved
/// bytes, WriteF, RWFlag, Ln (24 bits), and the sum of bytes 0 to 13 in the last two.
struct NDEFAttributes {
    private let raw: Block

    init(_ block: Block) {
        raw = block
    }

    /// Whether the last two bytes are the sum of the others.
    var isChecksumRight: Bool {
        raw.bytes.prefix(14).reduce(0) { $0 + UInt16($1) } == raw.uint16(at: 14, .big)
    }

    var fields: [CardField] {
        [
            CardField(
                key: "version", name: LocalizedText("Version", "バージョン"), value: "\(raw[0] >> 4).\(raw[0] & 0xF)",
                isPersonal: false),
            .number("nbr", "Blocks in a read (Nbr)", "最大読み取りブロック数 (Nbr)", raw[1]),
            .number("nbw", "Blocks in a write (Nbw)", "最大書き込みブロック数 (Nbw)", raw[2]),
            .number("nmaxb", "Blocks for the message (Nmaxb)", "NDEFブロック数 (Nmaxb)", raw.uint16(at: 3, .big)),
            .number("length", "Length of the message (Ln), bytes", "メッセージ長 (Ln、バイト)", raw.uint24(at: 11, .big)),
            // WriteF: 00 done, 0F in progress. RWFlag: 00 read only, 01 read and write. Others stay numbers.
            coded(
                "writeFlag", "Last write", "直前の書き込み", raw[9],
                [0x00: LocalizedText("complete", "完了"), 0x0F: LocalizedText("interrupted", "中断")]),
            coded(
                "access", "Access", "アクセス", raw[10],
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
