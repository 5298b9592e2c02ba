// SPDX-License-Identifier: Apache-2.0

package import CardModel

extension DumpFileFormat {
    /// The text of MIFARE Classic Tool.
    public static let mct = DumpFileFormat(known: "mct")
}

/// The text of MIFARE Classic Tool: `+Sector: N`, then a line of 32 digits for each block, with `-` for unknown ones.
package struct MCTFormat: WritableDumpFormat {
    package init() {}
    package var id: String { "mct" }
    package var name: LocalizedText { LocalizedText("MIFARE Classic Tool text", "MIFARE Classic Tool のテキスト") }

    private static func sector(_ line: TextLine) -> String? { line.value(of: "+Sector") }

    /// Recognizes the heading of a sector on the first line.
    package func recognizes(_ source: DumpSource) -> Bool {
        source.head.first { !$0.text.isEmpty }.flatMap(MCTFormat.sector) != nil
    }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        var blocks: [Int: [UInt8?]] = [:]
        var rest: Range<Int> = 0..<0
        var last = 0
        for line in source.lines where !line.text.isEmpty {
            if let number = MCTFormat.sector(line) {
                guard let sector = Int(number), (0..<ClassicKind.k4.sectorCount).contains(sector) else {
                    throw line.malformed(.form, "+Sector: 0")
                }
                rest = ClassicKind.blocks(of: sector)
                last = max(last, sector)
                continue
            }
            guard let block = rest.first, let bytes = ClassicDump.bytes(of: line.text, unknown: "-") else {
                throw line.malformed(.bytesInHex, "16")
            }
            guard blocks.updateValue(bytes, forKey: block) == nil else { throw line.malformed(.uniqueBlock) }
            rest = rest.dropFirst()
        }
        guard !blocks.isEmpty else { throw .missing(key: "+Sector") }
        let kind = ClassicKind.allCases.first { $0.sectorCount > last } ?? .k4
        return [CardDump(ClassicDump(kind, blocks: blocks), complete: blocks.count == kind.blockCount)]
    }

    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        let memory = try dump.classicToWrite()
        var text = ""
        for sector in 0..<memory.kind.sectorCount {
            text += "+Sector: \(sector)\n"
            for block in ClassicKind.blocks(of: sector) {
                text += ClassicDump.digits(of: memory[block], unknown: "-") + "\n"
            }
        }
        return Array(text.utf8)
    }
}
