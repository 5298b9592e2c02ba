// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import KazasuLedger
import LedgerSupport
import TestSupport
import Testing

@Suite("Brands in a ledger")
struct LedgerBrandTests {
    private static let suica = CardBrand(id: "suica", name: LocalizedText("Suica", "Suica"))
    private static let pasmo = CardBrand(id: "pasmo", name: LocalizedText("PASMO", "PASMO"))

    private static func keep(_ number: UInt64, _ brand: CardBrand?, in ledger: Ledger) throws {
        let record = try ExampleCard.record(Int(number), "2026-05-01", .rail, -200, 1_000)
        let report = CardReport(
            kind: .transit, name: LocalizedText("Transit IC", "交通系IC"), history: [record])
        try ledger.keep(
            report, of: IDm(rawValue: 0x0101_0312_0000_0000 + number), brand: brand, source: LedgerSource(.card))
    }

    private static func serials(_ ledger: Ledger, _ word: String) throws -> Set<Int?> {
        Set(try ledger.records(LedgerFilter(cards: [word])).map(\.record.serial))
    }

    @Test(
        "A brand's word chooses that brand alone; cards of unknown brand are told, and chosen by number, name or kind")
    func brands() throws {
        let ledger = try LedgerFolder().open()
        try Self.keep(1, Self.suica, in: ledger)
        try Self.keep(2, Self.pasmo, in: ledger)
        #expect(try Self.serials(ledger, "Suica") == [1])
        #expect(try Self.serials(ledger, "pasmo") == [2])
        #expect(try Self.serials(ledger, "transit") == [1, 2])
        #expect(throws: LedgerError.noSuchCard("icoca")) { try ledger.records(LedgerFilter(cards: ["icoca"])) }
        #expect(try ledger.purses(ofUnknownBrandIn: LedgerFilter(cards: ["suica"])).isEmpty)
        try Self.keep(3, nil, in: ledger)
        #expect(try Self.serials(ledger, "suica") == [1])
        let left = try ledger.purses(ofUnknownBrandIn: LedgerFilter(cards: ["suica"]))
        #expect(left.map(\.purse.card) == ["0101031200000003"] && left.allSatisfy(\.isRead))
        #expect(try ledger.purses(ofUnknownBrandIn: LedgerFilter(cards: ["suica", "transit"])).isEmpty)
        #expect(try ledger.purses(ofUnknownBrandIn: LedgerFilter(cards: ["suica", "0003"])).isEmpty)
        #expect(throws: LedgerError.noSuchCard("icoca")) { try ledger.records(LedgerFilter(cards: ["icoca"])) }
        #expect(try Self.serials(ledger, "transit") == [1, 2, 3])
        #expect(try Self.serials(ledger, "0003") == [3])
        try ledger.name("0003", as: "Work")
        #expect(try Self.serials(ledger, "Work") == [3])
    }

    @Test("A card is changed by the word of its brand only where that is known")
    func changes() throws {
        let ledger = try LedgerFolder().open()
        try Self.keep(1, Self.suica, in: ledger)
        #expect(throws: LedgerError.noSuchCard("pasmo")) { try ledger.name("pasmo", as: "Mine") }
        try Self.keep(3, nil, in: ledger)
        #expect(throws: LedgerError.noSuchCard("pasmo")) { try ledger.name("pasmo", as: "Mine") }
        try ledger.name("suica", as: "Mine")
        #expect(try ledger.cards().map(\.purse.cardName) == ["Mine", nil])
    }

    @Test("A later reading tells the brand, and one without it takes none away")
    func learns() throws {
        let ledger = try LedgerFolder().open()
        try Self.keep(1, nil, in: ledger)
        #expect(try ledger.cards().map(\.purse.label.english) == ["Transit IC"])
        try Self.keep(1, Self.suica, in: ledger)
        try Self.keep(1, nil, in: ledger)
        #expect(try ledger.cards().map(\.purse.label.english) == ["Suica"])
    }
}
