// SPDX-License-Identifier: Apache-2.0

package import CardModel

extension DumpFileFormat {
    /// The bytes of all blocks of a MIFARE Classic.
    public static let mfd = DumpFileFormat(known: "mfd")
}

/// The bytes of all blocks of a MIFARE Classic, as nfc-mfclassic, Proxmark3 and MIFARE Classic Tool write them; the endings are
/// `.mfd`, `.bin` and `.dump`.
///
/// The file has nothing but the memory: ATQA and SAK are unknown, and the UID is that of block 0.
package struct ClassicBinaryFormat: WritableDumpFormat {
    package init() {}
    package var id: String { "mfd" }
    package var name: LocalizedText { LocalizedText("MIFARE Classic bytes (.mfd)", "MIFARE Classic のバイト列（.mfd）") }
    package var marksUnknown: Bool { false }

    /// Recognizes a file as long as the memory of one of the sizes, with bytes that no text has.
    package func recognizes(_ source: DumpSource) -> Bool { source.isClassicMemory }

    package func read(_ source: DumpSource) throws(DocumentError) -> [CardDump] {
        guard let kind = ClassicKind(byteCount: source.bytes.count) else { throw .unknownFormat }
        var memory = ClassicDump(kind)
        for block in 0..<kind.blockCount {
            memory[block] = Array(source.bytes[(block * ClassicKind.blockSize)...].prefix(ClassicKind.blockSize))
        }
        return [CardDump(memory)]
    }

    /// Writes zeros for unknown bytes.
    package func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8] {
        try dump.classicBlocks().flatMap { $0 }
    }
}

extension CardDump {
    /// Makes the dump of a MIFARE Classic from a file that has nothing but the memory.
    ///
    /// - Parameter complete: whether the file has a place for every block, known or not.
    init(_ memory: ClassicDump, _ card: CardIdentity = .typeA(uid: nil, bitRate: nil), complete: Bool = true) {
        var card = card
        card.uid = card.uid ?? memory.uid
        self.init(complete: complete, card: card, classic: memory)
    }

    /// Returns the memory of the MIFARE Classic for a format that holds no other card.
    func classicToWrite() throws(DumpWritingError) -> ClassicDump {
        guard let classic else { throw .notClassic(card.technology) }
        return classic
    }

    /// Returns all blocks for a format that cannot mark unknown bytes, which become zeros.
    ///
    /// - Throws: ``DumpWritingError/accessNotKnown(sectors:)`` if access bits would be such zeros: written to a card, they
    ///   block its sector forever.
    func classicBlocks() throws(DumpWritingError) -> [[UInt8]] {
        let memory = try classicToWrite()
        let sectors = memory.sectorsWithoutAccess
        guard sectors.isEmpty else { throw .accessNotKnown(sectors: sectors) }
        return (0..<memory.kind.blockCount).map { (memory[$0] ?? ClassicDump.unknownBlock).map { $0 ?? 0 } }
    }
}
