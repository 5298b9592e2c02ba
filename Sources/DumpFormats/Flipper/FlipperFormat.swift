// SPDX-License-Identifier: Apache-2.0

import ByteCodec
public import CardModel

/// Flipper Zero's `.nfc` files, versions 2 to 4: of FeliCa cards in data formats 1 (every card as a Lite) and 2, and of
/// MIFARE Ultralight and NTAG.
///
/// Facts: the files of the Flipper firmware (`lib/nfc/protocols/felica`, `documentation/file_formats/NfcFileFormats.md`) and
/// the sample of data format 2 in FareBot.
/// Codes stand in the order in which people write them; the attribute that stands beside each is checked against it.
public struct FlipperFormat: WritableDumpFormat {
    /// The format.
    public init() {}
    /// `flipper`.
    public var id: String { "flipper" }
    /// Its name.
    public var name: LocalizedText { LocalizedText("Flipper Zero .nfc", "Flipper Zero の .nfc") }

    /// The first line names the kind of file.
    public func recognises(_ source: DumpSource) -> Bool {
        source.head.first { !$0.text.isEmpty }?.value(of: "Filetype") == "Flipper NFC device"
    }

    /// One card.
    public func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        if let type = source.lines.lazy.compactMap({ $0.value(of: "Device type") }).first,
            FlipperTagReader.reads(type)
        {
            var reader = FlipperTagReader()
            for line in source.lines { try reader.read(line) }
            return [try reader.finish()]
        }
        var reader = FlipperReader()
        for line in source.lines { try reader.read(line) }
        return [try reader.finish()]
    }

    /// Data format 1 for a FeliCa Lite or Lite-S with the blocks that it has places for, else data format 2.
    public func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        let idm = try dump.idmToWrite()
        guard let pmm = dump.pmmToWrite else { throw .noPMm }
        try dump.checkCodesAreUnique(systems: false)
        let id = Hex.encode(idm.bytes, uppercase: true, separator: " ")
        let blocks = FlipperLite.blocks(of: dump)
        var text = """
            Filetype: Flipper NFC device
            Version: 4
            # Device type can be ISO14443-3A, ISO14443-3B, ISO14443-4A, ISO14443-4B, ISO15693-3, FeliCa, …
            Device type: FeliCa
            # UID is common for all formats
            UID: \(id)
            # FeliCa specific data
            Data format version: \(blocks == nil ? 2 : 1)
            Manufacture id: \(id)
            Manufacture parameter: \(Hex.encode(pmm.bytes, uppercase: true, separator: " "))

            """
        text += blocks.map { FlipperLite.comments(dump) + FlipperLite.text($0) } ?? FlipperStandardText(dump).text
        return Array(text.utf8)
    }
}
