// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Silence is not emptiness: what a card does not answer is never reported as absent, and a dump is complete only if an
/// answer shows that it is.
struct SilentCardTests {
    private static func reader(_ name: String, _ quirks: String...) throws -> InProcessReader {
        let bytes = try TestFiles.read("Fixtures/cards/\(name)/card.json")
        var card = try JSONCursor(JSONValue(parsing: bytes)).object()
        var behavior = JSONObject([])
        if case .object(let known)? = card["virtual"] { behavior = known }
        behavior["quirks"] = .array(quirks.map { .string($0) })
        card["virtual"] = .object(behavior)
        return InProcessReader(try VirtualField(cardFile: Array(JSONValue.object(card).compactText.utf8)))
    }

    private static func session(_ reader: InProcessReader) throws -> CardSession {
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        return CardSession(reader: reader, target: target)
    }

    static let names = ["suica-p1", "edy", "five-systems", "awkward"]

    /// What is read of the card without a quirk. One that lists no services has some that nobody knows.
    private static func usualBlocks(_ name: String) throws -> [String: BlockTable] {
        let blocks = Fixture.blocks(of: CardDumper(session: try Fixture(name).session()).dump().dump)
        return try #require(blocks.isEmpty ? nil : blocks)
    }

    @Test(arguments: names, ["fel-slow=1.2", "fel-slow=1.9", "fel-slow=0"])
    func readsACardThatNeedsMoreTimeThanItsPMm(_ name: String, _ quirk: String) throws {
        let outcome = CardDumper(session: try Self.session(Self.reader(name, quirk))).dump()
        #expect(outcome.interruption == nil)
        #expect(outcome.dump.isComplete && outcome.dump.missing.isEmpty)
        #expect(Fixture.blocks(of: outcome.dump) == (try Self.usualBlocks(name)))
    }

    /// Ten times the PMm's maximum is more than any card gets.
    @Test(arguments: names, ["fel-mute", "fel-slow=10"])
    func neverCallsSilenceComplete(_ name: String, _ quirk: String) throws {
        let outcome = CardDumper(session: try Self.session(Self.reader(name, quirk))).dump()
        #expect(outcome.interruption == .cardSilent)
        #expect(!outcome.dump.isComplete)
        let silent = outcome.dump.missing.filter { $0.reason == .cardSilent }.compactMap(\.system)
        #expect(Set(silent) == Set(outcome.dump.systems.map(\.systemCode)) && !silent.isEmpty)
        let scan = CardScanner(session: try Self.session(Self.reader(name, quirk))).scan()
        #expect(scan.interruption == .cardSilent)
        let spoken = scan.systems.filter { !$0.isSilent }
        #expect(spoken.isEmpty)
    }

    /// No service was refused by a card that answers nothing.
    @Test(arguments: ["fel-mute", "fel-slow=10"]) func takesSilenceForNoRefusal(_ quirk: String) throws {
        let session = try Self.session(Self.reader("suica-p1", quirk))
        let system = SystemHandle(code: .transit, idm: session.target.idm, pmm: session.target.pmm)
        for blocks in [ServiceBlocks.Blocks.all(expected: 20), .all(expected: nil), .first(3), .these([0, 1])] {
            let result = session.read([ServiceBlocks(ServiceCode(rawValue: 0x090F), blocks)], of: system)
            #expect(result.interruption == .cardSilent)
            #expect(result.refusals.isEmpty && result.absent.isEmpty)
            #expect(result.services.map(\.state) == [.lost])
        }
    }

    /// A list that breaks off has no end: other commands must show it, and nothing that was found is dropped.
    @Test(arguments: names) func keepsWhatABrokenListNamed(_ name: String) throws {
        let session = try Self.session(Self.reader(name, "fel-search-ends=3"))
        let whole = CardScanner(session: try Fixture(name).session()).scan()
        let scan = CardScanner(session: session, layouts: .none).scan()
        #expect(scan.interruption == nil)
        for system in scan.systems where system.listing == .requestService {
            let all = whole.systems.first { $0.system.code == system.system.code }?.nodes ?? []
            #expect(system.nodes.count >= min(3, all.count))
            #expect(Set(system.nodes.map(\.code)).isSubset(of: all.map(\.code)))
        }
    }

    /// It is the answer to FFFF of Search Service Code, or a Request Service, that ends a list.
    @Test func aBrokenListWithoutAnotherAnswerIsIncomplete() throws {
        let card = TamperedCard(
            try VirtualCardFile.load(TestFiles.read("Fixtures/cards/suica-p1/card.json"))
        ) { command, answer in
            switch command[1] {
            case 0x0A where command.count > 10 && command[10] > 3: nil
            case 0x02, 0x06, 0x1A: nil
            default: answer
            }
        }
        let reader = InProcessReader(VirtualField(cards: [card]))
        let outcome = CardDumper(session: try Self.session(reader), layouts: .none).dump()
        #expect(outcome.interruption == .cardSilent)
        #expect(!outcome.dump.isComplete)
        #expect(!outcome.dump.systems.flatMap(\.services).isEmpty)
    }

    /// Flags decide, whatever follows them.
    @Test(arguments: names) func readsFlagsBeforeACount(_ name: String) throws {
        let outcome = CardDumper(session: try Self.session(Self.reader(name, "fel-count0"))).dump()
        #expect(outcome.interruption == nil)
        #expect(Fixture.blocks(of: outcome.dump) == (try Self.usualBlocks(name)))
    }

    @Test(arguments: names) func readsASystemOnce(_ name: String) throws {
        let reader = try Self.reader(name, "fel-dup-system")
        let codes = try Self.session(reader).systemCodes()
        let expectedCodes = try Fixture(name).session().systemCodes()
        #expect(codes == expectedCodes)
        let scan = CardScanner(session: try Self.session(reader)).scan()
        let expected = CardScanner(session: try Fixture(name).session()).scan()
        #expect(scan.systems.map(\.system) == expected.systems.map(\.system))
    }
}
