// SPDX-License-Identifier: Apache-2.0

import KazasuCards
import TestSupport
import Testing

/// The product without C libraries, by one import.
struct KazasuCardsTests {
    private func suica() throws -> CardDump {
        try #require(try readDumps(TestFiles.read("Fixtures/cards/suica-p1/card.json")).first)
    }

    @Test func decodesADump() throws {
        let report = try #require(suica().decode().cards.first)
        #expect(report.kind == .transit)
        #expect(report.balances.map(\.amount) == [10])
        #expect(report.history?.count == 20)
        #expect(try suica().decode().license == nil && suica().decode().myNumber == nil)
    }

    @Test func givesTheMoneyAndTheHistoryOfADump() throws {
        #expect(try suica().balance().balances.map(\.amount) == [10])
        #expect(try suica().balance(kinds: [.edy, .transit], all: true).balances.map(\.kind) == [.transit])
        #expect(try suica().history().history?.count == 20)
        #expect(throws: DumpDecodingError.otherCard(wanted: [.waon])) { try suica().balance(kinds: [.waon]) }
        #expect(throws: DumpDecodingError.otherCard(wanted: nil)) {
            try CardDump(card: CardIdentity(technology: .typeA)).history()
        }
    }

    @Test func explainsWhyADumpHasNoBalance() throws {
        var dump = try suica()
        dump.systems[0].services = [ServiceDump(code: ServiceCode(rawValue: 0x008B), state: .lost)]
        let error = #expect(throws: DumpDecodingError.self) { try dump.balance() }
        guard case .decoding(let cause) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == .transit && cause.reason == .lost)
        #expect(dump.decode().cards.isEmpty && dump.decode().errors.map(\.kind) == [.transit])
    }

    @Test(arguments: DumpFileFormat.all) func writesEveryFormat(_ format: DumpFileFormat) throws {
        #expect(DumpFileFormat(rawValue: format.rawValue) == format)
        guard ![.mfd, .mct, .eml].contains(format) else {
            #expect(throws: DumpWritingError.notClassic(.felica)) { try suica().encoded(as: format) }
            return
        }
        let again = try #require(try readDumps(suica().encoded(as: format)).first)
        #expect(try again.history().history?.count == 20)
    }

    @Test func namesNoUnknownFormat() {
        #expect(DumpFileFormat(rawValue: "nothing") == nil)
        #expect(
            [DumpFileFormat.json, .hex, .flipper, .proxmark, .metrodroid, .libpafe].allSatisfy(
                DumpFileFormat.all.contains))
    }

    @Test(arguments: ["", "{", "card", "{\"schema\":\"kazasu.dump/1\"}"]) func rejectsOtherFiles(_ text: String) {
        #expect(throws: DocumentError.self) { try readDumps(Array(text.utf8)) }
    }
}
