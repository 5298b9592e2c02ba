// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Cards with each oddity of `Docs/quirks.md` that a switch imitates: what is read is right, or incomplete and said to be.
struct QuirkTests {
    static let names = ["suica-p1", "edy", "five-systems", "felica-lite-s", "octopus"]
    static let quirks = [
        "fel-slow", "fel-mute", "fel-search-ends", "fel-count0", "fel-dup-system", "fel-any-system", "fel-zero-pmm",
        "fel-drop-0x20", "fel-few-nodes", "fel-few-nodes=4", "fel-one-service", "fel-other-answer", "fel-octopus",
        "fel-search-mute", "fel-no-request-code", "fel-plug", "fel-random-idm", "fel-flags-b",
    ]

    private static func card(_ name: String, _ quirks: [String]) throws -> [UInt8] {
        let bytes = try TestFiles.read("Fixtures/cards/\(name)/card.json")
        var card = try JSONCursor(JSONValue(parsing: bytes)).object()
        var behavior = JSONObject([])
        if case .object(let known)? = card["virtual"] { behavior = known }
        behavior["quirks"] = .array(quirks.map { .string($0) })
        card["virtual"] = .object(behavior)
        return Array(JSONValue.object(card).compactText.utf8)
    }

    private static func dump(_ name: String, _ quirks: [String]) throws -> DumpOutcome? {
        let reader = InProcessReader(try VirtualField(cardFile: card(name, quirks)))
        guard
            case .found(let found) = try CardFinder(reader: reader).find([.transit, .any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { return nil }
        return CardDumper(session: CardSession(reader: reader, target: target)).dump()
    }

    /// All blocks by service, whatever the system: a card without a list of systems may be read under another code.
    private static func blocks(_ dump: CardDump) -> [ServiceCode: BlockTable] {
        dump.systems.flatMap(\.services).reduce(into: [:]) { found, service in
            if !service.blocks.isEmpty { found[service.code] = service.blocks }
        }
    }

    @Test("Every oddity of every card: no wrong block, and complete only with every block", arguments: names, quirks)
    func dumps(name: String, quirk: String) throws {
        let usual = try #require(try Self.dump(name, []))
        let outcome = try #require(try Self.dump(name, [quirk]))
        let (expected, found) = (Self.blocks(usual.dump), Self.blocks(outcome.dump))
        for (service, blocks) in found {
            let known = try #require(expected[service], "\(service)")
            for (number, block) in blocks { #expect(known[number] == block, "\(service) \(number)") }
        }
        if outcome.dump.isComplete {
            #expect(outcome.interruption == nil && outcome.dump.missing.isEmpty)
        } else {
            #expect(outcome.interruption != nil || !outcome.dump.missing.isEmpty)
        }
        // Of a card that lists no services, those are read that Kazasu knows of its kind; of a Lite-S without its PMm, the
        // blocks of a Lite.
        let unlisted = ["fel-octopus", "fel-any-system", "fel-search-ends", "fel-search-mute", "fel-flags-b"]
        let isKnown = !unlisted.contains(quirk) && (name, quirk) != ("felica-lite-s", "fel-zero-pmm")
        let isWhole = found == expected
        if outcome.dump.isComplete, isKnown { #expect(isWhole) }
    }

    @Test("Lost reads do not prove that a service cannot be read", arguments: ["suica-p1", "edy", "five-systems"])
    func lostReads(name: String) throws {
        let usual = try #require(try Self.dump(name, []))
        let outcome = try #require(try Self.dump(name, ["fel-search-lost"]))
        #expect(!outcome.dump.isComplete || Self.blocks(outcome.dump) == Self.blocks(usual.dump))
    }

    @Test("Each switch of the table exists, and those that the documents list are the ones that exist")
    func switches() throws {
        let rows = String(decoding: try TestFiles.read("Fixtures/quirks/field.tsv"), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.dropFirst()
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) } }
        #expect(rows.count >= 252)
        let page = String(decoding: try TestFiles.read("Docs/virtual-cards.md"), as: UTF8.self)
        for row in rows where row[8] != "-" {
            #expect(page.contains("`\(row[8])`"), "\(row[8])")
            // The test that the row names reads a card with this switch.
            let test = String(decoding: try TestFiles.read(row[9].prefix { $0 != "#" }.description), as: UTF8.self)
            #expect(test.contains("\"\(row[8])"), "\(row[0]): \(row[8]) is not in \(row[9])")
        }
        for quirk in Self.quirks { #expect(page.contains("`\(quirk.prefix { $0 != "=" })`"), "\(quirk)") }
        #expect(throws: DocumentError.self) { try VirtualField(cardFile: Self.card("edy", ["fel-nonsense"])) }
    }

    @Test("A card whose IDm changes is another one each time")
    func randomIDm() throws {
        let reader = InProcessReader(try VirtualField(cardFile: Self.card("suica-p1", ["fel-random-idm"])))
        var seen: Set<IDm> = []
        for _ in 0..<4 {
            guard case .felica(let card)? = try reader.activate(.felica(.transit)) else {
                Issue.record("no card")
                return
            }
            seen.insert(card.idm)
            reader.field.switchOff()
        }
        #expect(seen.count == 4)
    }
}
