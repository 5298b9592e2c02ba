// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// Dumps of cards as documents: what is written is what was read.
struct DumpFixtureTests {
    static let cards = TestFiles.names(in: "Fixtures/cards")

    static func card(_ name: String) throws -> [UInt8] { try TestFiles.read("Fixtures/cards/\(name)/card.json") }

    @Test func thereAreFixtures() {
        #expect(Self.cards.contains("suica-p1"))
    }

    @Test(arguments: cards) func fixturesComeBackByteByByte(_ name: String) throws {
        let bytes = try Self.card(name)
        let dump = try CardDump(parsing: bytes)
        #expect(dump.json.prettyText + "\n" == String(decoding: bytes, as: UTF8.self))
        #expect(try CardDump(parsing: Array(dump.json.compactText.utf8)) == dump)
        #expect(try CardDump(json: dump.json) == dump)
    }

    @Test func blocksOfAFixture() throws {
        let dump = try CardDump(parsing: Self.card("suica-p1"))
        let system = try #require(dump.system(.transit))
        #expect(dump.system(.octopus) == nil)
        let history = try #require(system.service(ServiceCode(rawValue: 0x090F)))
        #expect(history.blocks.numbers == Array(0..<UInt16(history.blocks.count)))
        #expect(dump.blocks(.transit, ServiceCode(rawValue: 0x090F)) == history.blocks)
        #expect(dump.blocks(.transit, ServiceCode(rawValue: 0xFFC8)) == nil)
        #expect(dump.blocks(.octopus, ServiceCode(rawValue: 0x090F)) == nil)
    }

    /// A text that ends too early: an error, and never a part of the card.
    @Test(arguments: cards) func truncatedFixturesAreErrors(_ name: String) throws {
        let bytes = try Self.card(name)
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
        // The long ones at some places only: the work grows with the square of the length.
        let lengths = stride(from: 0, through: end, by: max(1, end / (60 * TestEffort.factor)))
        var ends = 0
        for length in lengths {
            do throws(DocumentError) {
                _ = try CardDump(parsing: Array(bytes.prefix(length)))
                Issue.record("\(length) bytes of \(bytes.count) are a dump")
            } catch {
                if case .notJSON = error { ends += 1 }
            }
        }
        #expect(ends == Array(lengths).count)
    }

    /// Any byte may be wrong: an error or a dump, and a dump can be written and read again.
    @Test(arguments: cards, [1, 2] as [UInt64]) func changedFixturesNeverTrap(_ name: String, _ seed: UInt64) throws {
        let original = try Self.card(name)
        var random = SeededGenerator(seed: seed)
        var dumps = 0
        let rounds = TestEffort.rounds(60)
        for _ in rounds {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &random) { Self.change(&bytes, &random) }
            guard let dump = try? CardDump(parsing: bytes) else { continue }
            dumps += 1
            #expect(try CardDump(parsing: Array(dump.json.prettyText.utf8)) == dump)
        }
        #expect((1..<rounds.count).contains(dumps), "both outcomes are seen")
    }

    private static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let place = Int.random(in: bytes.indices, using: &random)
        let punctuation = Array("{}[]\",:\\0aF-.eE ".utf8)
        switch Int.random(in: 0...4, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        case 2: bytes[place] = punctuation.randomElement(using: &random) ?? 0
        case 3: bytes.remove(at: place)
        default: bytes.insert(bytes[Int.random(in: bytes.indices, using: &random)], at: place)
        }
    }

    @Test func longDocumentsAreRefusedUnread() throws {
        #expect(CardDump.longestDocument == 8 << 20)
        let small = Array(#"{"schema":"kazasu.dump/1","card":{"technology":"typeA"}}"#.utf8)
        let blanks = [UInt8](repeating: 0x20, count: CardDump.longestDocument - small.count)
        #expect(try CardDump(parsing: small + blanks).card.technology == .typeA)
        #expect(throws: DocumentError.tooLong(bytes: (8 << 20) + 1, limit: 8 << 20)) {
            try CardDump(parsing: small + blanks + [0x20])
        }
    }
}
