// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel
import MIFAREClassic

extension DumpFileFormat {
    /// The lines of the Proxmark3 client for its emulation of a MIFARE Classic.
    public static let eml = DumpFileFormat(known: "eml")
}

/// A line of 32 digits for each block of a MIFARE Classic and nothing else, as the Proxmark3 client loads into its emulation.
///
/// The file has nothing but the memory: ATQA and SAK are unknown, and the UID is that of block 0.
package struct EMLFormat: WritableDumpFormat {
    package init() {}
    package var id: String { "eml" }
    package var name: LocalizedText { LocalizedText("Proxmark3 .eml", "Proxmark3 の .eml") }
    package var marksUnknown: Bool { false }

    /// Recognizes as many lines as a card has blocks, if a trailer among them has access bits.
    package func recognizes(_ source: DumpSource) -> Bool { EMLFormat.memory(source).map(EMLFormat.isCard) ?? false }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let memory = EMLFormat.memory(source) else { throw .unknownFormat }
        return [CardDump(memory)]
    }

    private static func memory(_ source: DumpSource) -> ClassicDump? {
        var blocks: [[UInt8?]] = []
        for line in source.head where !line.text.isEmpty {
            guard let bytes = ClassicDump.bytes(of: line.text.filter { $0 != " " }, unknown: "-") else { return nil }
            blocks.append(bytes)
        }
        guard let kind = ClassicKind(byteCount: blocks.count * ClassicKind.blockSize) else { return nil }
        return ClassicDump(kind, blocks: Dictionary(blocks.enumerated().map { ($0.offset, $0.element) }) { $1 })
    }

    /// Whether lines of sixteen bytes are the blocks of a card, and not the twenty records of a history.
    private static func isCard(_ memory: ClassicDump) -> Bool {
        let trailers = (0..<memory.kind.sectorCount).map { memory[ClassicKind.trailer(of: $0)]?[6..<9] ?? [] }
        let known = trailers.map { $0.compactMap(\.self) }.filter { bytes in bytes.contains { $0 != 0 } }
        guard known.contains(where: { ClassicAccess($0) != nil }) else { return false }
        return (0..<memory.kind.blockCount).contains { block in
            guard let bytes = memory.whole(block).flatMap(Block.init) else { return true }
            return bytes[0] != 0 && !HexLinesFormat.isPlausible(bytes)
        }
    }

    /// Writes zeros for unknown bytes.
    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        Array(try dump.classicBlocks().map { Hex.encode($0) + "\n" }.joined().utf8)
    }
}
