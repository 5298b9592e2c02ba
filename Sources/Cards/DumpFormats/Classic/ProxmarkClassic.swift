// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// The JSON of `hf mf dump` of Proxmark3 (`mfc`, `mfc v2`).
///
/// The format has no sign for an unknown byte: a block with one is missing in `blocks`, and what is known of a trailer is in
/// `SectorKeys`. The ATQA is in the order of transmission. Source: Proxmark3 `client/src/fileutils.c`.
enum ProxmarkClassic {
    static func isType(_ type: String?) -> Bool { type?.hasPrefix("mfc") == true }

    /// The parts of a trailer in `SectorKeys`.
    private static let parts: [(name: String, range: Range<Int>)] = [
        ("KeyA", 0..<6), ("KeyB", 10..<16), ("AccessConditions", 6..<10),
    ]

    static func read(_ root: JSONCursor) throws(DocumentError) -> CardDump {
        let (blocks, sectors) = (try numbers(root.required("blocks")), try numbers(root.optional("SectorKeys")))
        let card = try root.optional("Card")
        let uid = try card?.optional("UID")?.bytes()
        let atqa = try card?.optional("ATQA")?.bytes(count: 2)
        let sak = try card?.optional("SAK")?.bytes(count: 1).first
        // Unknown blocks are missing, so that the SAK says more than their number.
        let last = max(blocks.last?.number ?? 0, sectors.last.map { ClassicKind.trailer(of: $0.number) } ?? 0)
        let kinds = [sak.flatMap { ClassicKind(sak: $0) }].compactMap { $0 } + ClassicKind.allCases
        guard let kind = kinds.first(where: { $0.blockCount > last }) else {
            throw .malformed(key: "blocks", expected: .init(.atMostBlocks, "256"))
        }
        var memory = ClassicDump(kind)
        for (block, value) in blocks { memory[block] = try value.bytes(count: ClassicKind.blockSize) }
        for (sector, value) in sectors {
            let block = ClassicKind.trailer(of: sector)
            var trailer = memory[block] ?? ClassicDump.unknownBlock
            for (name, range) in parts {
                guard let bytes = try value.optional(name)?.bytes(count: range.count) else { continue }
                trailer.replaceSubrange(range, with: bytes)
            }
            memory[block] = trailer
        }
        return CardDump(
            memory,
            .typeA(uid: uid, atqa: atqa.map { UInt16($0[1]) << 8 | UInt16($0[0]) }, sak: sak, bitRate: nil))
    }

    /// Returns the members of an object by their decimal names from 0 to 255, ascending.
    private static func numbers(
        _ object: JSONCursor?
    ) throws(DocumentError) -> [(number: Int, value: JSONCursor)] {
        var members: [(number: Int, value: JSONCursor)] = []
        for (key, value) in try object?.members() ?? [] {
            guard let number = BlockIndex(decimal: key).flatMap({ UInt8(exactly: $0.rawValue) }) else {
                throw value.malformed(.decimalByteName)
            }
            members.append((Int(number), value))
        }
        return members.sorted { $0.number < $1.number }
    }

    static func file(_ memory: ClassicDump, _ identity: CardIdentity) -> JSONValue {
        let hex = { (bytes: [UInt8]) in JSONValue.string(Hex.encode(bytes, uppercase: true)) }
        var card = JSONObject()
        card["UID"] = identity.uid.map(hex)
        card["ATQA"] = identity.atqa.map { hex([UInt8($0 & 0xFF), UInt8($0 >> 8)]) }
        card["SAK"] = identity.sak.map { hex([$0]) }
        let blocks = (0..<memory.kind.blockCount).compactMap { block in
            memory.whole(block).map { ("\(block)", hex($0)) }
        }
        let sectors = (0..<memory.kind.sectorCount).map { sector in
            var object = JSONObject()
            for (name, range) in parts {
                let bytes = (memory[ClassicKind.trailer(of: sector)]?[range] ?? []).compactMap(\.self)
                if bytes.count == range.count { object[name] = hex(bytes) }
            }
            // Without a known part it is empty: the number of sectors says how large the card is.
            return ("\(sector)", JSONValue.object(object))
        }
        return [
            "Created": "kazasu", "FileType": "mfc v2", "Card": .object(card), "blocks": .object(JSONObject(blocks)),
            "SectorKeys": .object(JSONObject(sectors)),
        ]
    }
}
