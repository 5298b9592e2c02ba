// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// Lines of sixteen bytes and nothing else, as pasted by users: in hexadecimal, or in one of the forms of ``PastedBytes``.
/// A JSON list of sixteen numbers, or of such lists, is read as well.
///
/// They are read as the history of a transit card (service 090F) when every record is plausible as one, and refused
/// otherwise. Nothing in the file says so, therefore system and service are marked as assumed. Records are put in card
/// order, newest first by their serial number, and duplicate records are dropped.
package struct HexLinesFormat: DumpFormat {
    package init() {}
    package var id: String { "hex-lines" }
    package var name: LocalizedText { LocalizedText("lines of 16 bytes", "16 バイトの行") }

    /// Recognizes a file in which every line that is not a comment has sixteen bytes.
    package func recognizes(_ source: DumpSource) -> Bool {
        if source.json != nil { return !HexLinesFormat.lists(source).isEmpty }
        let lines = source.head.map(\.text).filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard !lines.isEmpty, lines.allSatisfy({ PastedBytes.decode($0)?.count == 16 }) else { return false }
        return !EMLFormat().recognizes(source)
    }

    /// The records of a JSON document; empty if it is anything but lists of sixteen numbers.
    private static func lists(_ source: DumpSource) -> [(place: JSONCursor, block: Block)] {
        guard let json = source.json, let elements = try? json.elements() else { return [] }
        let lists = elements.allSatisfy(\.isArray) ? elements : [json]
        var records: [(JSONCursor, Block)] = []
        for list in lists {
            guard let bytes = try? list.signedBytes(count: 16), let block = Block(bytes) else { return [] }
            records.append((list, block))
        }
        return records
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var records: [Block] = []
        var seen: Set<Block> = []
        func add(_ block: Block, or error: @autoclosure () -> DocumentError) throws(DocumentError) {
            // An unused slot begins with 00, regardless of the rest.
            if block[0] == 0 { return }
            guard HexLinesFormat.isPlausible(block) else { throw error() }
            if seen.insert(block).inserted { records.append(block) }
        }
        for (place, block) in HexLinesFormat.lists(source) { try add(block, or: place.malformed(.historyRecord)) }
        for line in source.lines {
            let text = line.text
            if text.isEmpty || text.hasPrefix("#") { continue }
            guard let block = Block(PastedBytes.decode(text) ?? []) else { throw line.malformed(.bytesInHex, "16") }
            try add(block, or: line.malformed(.historyRecord))
        }
        guard !records.isEmpty else { throw .missing(key: "a record") }
        records.sort { $0.uint24(at: 12, .big) > $1.uint24(at: 12, .big) }
        var system = ImportedSystem(code: nil)
        let history = ServiceCode(rawValue: 0x090F)
        system.note(history) { $0.assumed = [.code, .blocks] }
        for (place, record) in records.enumerated() {
            guard let number = UInt16(exactly: place) else {
                throw .malformed(key: "", expected: .init(.atMostRecords, "65536"))
            }
            _ = system.add(record, at: number, of: history)
        }
        return [try ImportedCard(complete: false, systems: [system]).dump()]
    }

    /// Returns whether the terminal and process are known to decoders and the date is valid.
    static func isPlausible(_ block: Block) -> Bool {
        let date = block.uint16(at: 4, .big)
        let (month, day) = (date.bits(5...8), date.bits(0...4))
        return HexLinesFormat.terminals.contains(block[0]) && HexLinesFormat.processes.contains(block[1] & 0x7F)
            && (1...12).contains(month) && (1...31).contains(day)
    }

    /// The terminals of the Cybernetics format, as listed by TRETJapanNFCReader, felicalib and suica-viewer.
    private static let terminals: Set<UInt8> = [
        0x03, 0x04, 0x05, 0x07, 0x08, 0x09, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1D,
        0x1F,
        0x20, 0x21, 0x22, 0x23, 0x24, 0x34, 0x35, 0x36, 0x46, 0x48, 0xC7, 0xC8, 0xC9, 0xCA,
    ]

    /// The processes without their flag.
    private static let processes: Set<UInt8> = [
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0C, 0x0D, 0x0F, 0x10, 0x11, 0x13, 0x14, 0x15, 0x17,
        0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1F, 0x23, 0x33, 0x46, 0x48, 0x49, 0x4A, 0x4B,
    ]
}
