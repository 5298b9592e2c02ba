// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI
import MIFAREClassic

/// A MIFARE Classic for display and for documents; no key is in it.
struct ClassicView {
    let memory: ClassicDump
    let redaction: Redaction
    private let directory: ClassicDirectory?
    /// The bytes of the NDEF message; `nil` if there is none that is known.
    private let message: [UInt8]?
    private let sectors: [Sector]

    /// What is known of a sector.
    private struct Sector: Equatable {
        /// The known keys that open it: a key B that can be read opens nothing.
        let keys: [ClassicKeyType]
        let access: ClassicAccess?
        let application: UInt16?
    }

    init(_ memory: ClassicDump, _ redaction: Redaction) {
        (self.memory, self.redaction) = (memory, redaction)
        let directory = ClassicDirectory(memory)
        self.directory = directory
        message = directory?.message(in: memory)
        sectors = (0..<memory.kind.sectorCount).map { number in
            let trailer = memory[ClassicKind.trailer(of: number)]
            let access = trailer.flatMap { ClassicAccess($0[6..<9].compactMap { $0 }) }
            let keys = ClassicKeyType.allCases.filter { type in
                let isData = type == .b && access?.isKeyBData == true
                return !isData && memory.key(type, of: number) != nil
            }
            return Sector(keys: keys, access: access, application: directory?.applications[number])
        }
    }

    /// The members of documents: `size`, `sectors`, `directory` and `ndefLength`.
    var members: JSONObject {
        JSONObject([
            ("size", .string(memory.kind.rawValue)),
            (
                "sectors",
                .array(
                    sectors.enumerated().map { number, sector in
                        [
                            "sector": .int(number), "keys": .array(sector.keys.map { .string($0.rawValue) }),
                            "access": .text(sector.access.map { Hex.encode($0.bytes) }),
                            "rights": sector.access.map { ClassicAccessView(access: $0).json(of: number) } ?? .null,
                            "application": .text(sector.application.map { FourDigits.text($0) }),
                        ]
                    })
            ), ("directory", directory.map { ["checksum": .bool($0.isChecksumRight)] } ?? .null),
            ("ndefLength", .optional(message?.count)),
        ])
    }

    /// The card, its sectors and the length of its message.
    func rows(uid: [UInt8]?) -> [[String]] {
        var rows = [[tr("Card", "カード"), "MIFARE Classic \(memory.kind.rawValue)"]]
        if let uid { rows.append(["UID", redaction.apply(Hex.encode(uid, uppercase: true))]) }
        var shown: [Sector] = []
        for sector in sectors where !shown.contains(sector) {
            shown.append(sector)
            rows += Self.rows(sector, sectors.indices.filter { sectors[$0] == sector })
        }
        if let message { rows.append(["NDEF", tr(Words.count(message.count, "byte"), "\(message.count) バイト")]) }
        return rows
    }

    /// Sectors that are alike.
    private static func rows(_ sector: Sector, _ numbers: [Int]) -> [[String]] {
        let names = Words.ranges(numbers) { "\($0)" }
        let open =
            sector.keys.isEmpty
            ? tr("no key", "鍵なし") : tr("key ", "鍵 ") + sector.keys.map(\.rawValue).joined(separator: ", ")
        let access =
            sector.access.map { Hex.encode($0.bytes, uppercase: true) }
            ?? (sector.keys.isEmpty ? nil : tr("access bits not readable", "アクセスビットは読めません"))
        let application = sector.application.flatMap { $0 == 0 ? nil : FourDigits.text($0) }
        let label = tr(numbers.count == 1 ? "Sector \(names)" : "Sectors \(names)", "セクター \(names)")
        return [[label, [open, access, application].compactMap { $0 }.joined(separator: "  ")]]
            + (sector.access.map { ClassicAccessView(access: $0).rows } ?? [])
    }

    // MARK: Dumps

    /// The blocks of which at least one byte is unknown, the keys of trailers aside.
    var unknownBlocks: [Int] {
        (0..<memory.kind.blockCount).filter { block in
            guard ClassicKind.trailer(of: ClassicKind.sector(of: block)) == block else {
                return memory.whole(block) == nil
            }
            return memory[block]?[6..<10].contains { $0 == nil } ?? true
        }
    }

    /// The members of an element of `reports` in `kazasu.decode/1`.
    var report: JSONObject {
        var object = members
        object["unknownBlocks"] = .array(unknownBlocks.map { .int($0) })
        object["ndef"] = message.map { .object(NDEFView($0, redaction).members) } ?? .null
        return object
    }

    /// What `decode` shows: the card, what is unknown of it, and its message.
    func text(uid: [UInt8]?) -> String {
        var rows = rows(uid: uid)
        if !unknownBlocks.isEmpty {
            rows.append([tr("Unknown blocks", "不明なブロック"), Words.ranges(unknownBlocks) { "\($0)" }])
        }
        return Columns.values(rows) + Columns.text(message.map { NDEFView($0, redaction).rows } ?? [])
    }
}
