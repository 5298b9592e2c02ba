// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import DumpFormats
import TestSupport
import Testing

/// A file below `Fixtures/formats/FORMAT/`, and what stands in it.
struct FormatFixture: CustomTestStringConvertible, Sendable {
    let format: String
    let name: String

    var path: String { "Fixtures/formats/\(format)/\(name)" }
    var testDescription: String { "\(format)/\(name)" }
    var bytes: [UInt8] { get throws { try TestFiles.read(path) } }

    /// What a reader must find: the lines of the file `NAME.expected`.
    var expected: [String] {
        get throws {
            String(decoding: try TestFiles.read(path + ".expected"), as: UTF8.self).split(separator: "\n").map(
                String.init)
        }
    }

    static let all: [FormatFixture] = TestFiles.names(in: "Fixtures/formats").filter { $0 != "NOTES.md" }.flatMap {
        format in
        TestFiles.names(in: "Fixtures/formats/\(format)").filter { !$0.hasSuffix(".expected") }.map {
            FormatFixture(format: format, name: $0)
        }
    }

    /// A dump in the form of the files `NAME.expected`.
    static func lines(_ dump: CardDump) -> [String] {
        if let tag = dump.type2 {
            return tag.pages.sorted { $0.key < $1.key }.map {
                "type2 \(Type2Dump.name(of: $0.key)) \(Hex.encode($0.value))"
            }
        }
        if let memory = dump.classic {
            return memory.blocks.sorted { $0.key < $1.key }.map {
                "classic \($0.key) \(ClassicDump.digits(of: $0.value, unknown: "?", uppercase: false))"
            }
        }
        if case .object(let tag)? = dump.extra["st25tb"] { return memory("st25tb", tag["blocks"]) }
        func upper(_ id: (some CustomStringConvertible)?) -> String { id.map { $0.description.uppercased() } ?? "-" }
        var lines = ["card \(upper(dump.card.idm)) \(upper(dump.card.pmm))"]
        for system in dump.systems {
            let assumed = system.assumed.map { " " + $0.rawValue }.joined()
            lines.append("system \(system.systemCode) \(upper(system.idm))\(assumed)")
            for service in system.services {
                if service.blocks.isEmpty { lines.append("none \(system.systemCode) \(service.code)") }
                for (number, block) in service.blocks {
                    lines.append("\(system.systemCode) \(service.code) \(Hex.encode(number, digits: 4)) \(block)")
                }
            }
        }
        return lines
    }

    private static func memory(_ word: String, _ cells: JSONValue?) -> [String] {
        guard case .object(let cells)? = cells else { return [] }
        return cells.members.map { cell in
            if case .string(let bytes) = cell.value { "\(word) \(cell.key) \(bytes)" } else { "\(word) \(cell.key) ?" }
        }
    }
}
