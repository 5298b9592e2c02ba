// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// Reads MIFARE Classic cards from `kazasu.card/1` and from dumps.
enum ClassicCardFile {
    static func load(_ root: JSONCursor) throws(DocumentError) -> VirtualClassicCard {
        try root.allowOnly(["schema", "comment", "classic", "virtual"])
        try root.optional("virtual")?.allowOnly(["faults", "quirks"])
        let quirks = try CardQuirks(root.optional("virtual")?.optional("quirks"), [.uid88])
        let json = try root.required("classic")
        try json.allowOnly(["size", "uid", "atqa", "sak", "blocks", "data"])
        let counts = ["mini": 20, "1K": 64, "2K": 128, "4K": 256]
        let count = try json.required("size").word(counts)
        let uid = try json.required("uid")
        let bytes = try uid.bytes()
        let shown = quirks.has(.uid88) ? [0x88] + bytes.dropFirst().prefix(3) : bytes
        guard var memory = ClassicMemory(blockCount: count, uid: shown) else {
            throw uid.malformed(.bytes, "4", "7")
        }
        if let data = try json.optional("data") {
            let bytes = try data.bytes(count: count * 16)
            for block in 0..<count { memory.write(block, Array(bytes[block * 16..<block * 16 + 16])) }
        }
        for (key, value) in try json.optional("blocks")?.members() ?? [] {
            guard let block = Int(key), (0..<count).contains(block) else {
                throw value.malformed(.blockNumberUpTo, "\(count - 1)")
            }
            memory.write(block, try value.bytes(count: 16))
        }
        let atqa: NodeCode? = try json.optional("atqa")?.code()
        let sak = try json.optional("sak")?.bytes(count: 1).first
        return VirtualClassicCard(memory, atqa: atqa?.rawValue, sak: sak)
    }

    /// Creates the card of a dump. What is unknown stays so: no key opens a sector whose access bits are unknown, an unknown key
    /// opens nothing, and no key reads an unknown block.
    static func card(of dump: CardDump, _ known: ClassicDump, _ virtual: JSONCursor?) throws(DocumentError)
        -> VirtualClassicCard
    {
        try virtual?.allowOnly(["faults"])
        // A card has to answer with some number: without a known one it is 08 and zeros, as of a random UID.
        let uid = dump.card.uid ?? known.uid ?? [0x08, 0, 0, 0]
        guard var memory = ClassicMemory(blockCount: known.kind.blockCount, uid: uid) else {
            throw .malformed(key: "card.uid", expected: .init(.bytes, "4", "7"))
        }
        for block in 0..<memory.blockCount { memory.write(block, known: known[block] ?? ClassicDump.unknownBlock) }
        return VirtualClassicCard(memory, atqa: dump.card.atqa, sak: dump.card.sak)
    }
}
