// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import TestSupport
import Testing

/// The calls of a card that do not block: each answers what the one of ``Card`` does.
@Suite("Cards without blocking")
struct AsyncCardTests {
    /// Does the same with a card in both ways, each on a reader of its own.
    private static func both<Value: Sendable>(
        _ file: String, _ body: @escaping @Sendable (Card) throws -> Value, _ call: (AsyncCard) async throws -> Value
    ) async throws -> (blocking: Value, other: Value) {
        let id = "virtual:\(TestFiles.root)/Fixtures/\(file)"
        let blocking = try body(try openReader(id).waitForCard())
        let reader = try await AsyncCardReader.open(id)
        let other = try await call(try await reader.waitForCard())
        await reader.close()
        return (blocking, other)
    }

    @Test(
        "Identifies cards by their applications and by their answers",
        arguments: [
            "iso7816/license/sample.json", "virtual/ntag213.json", "virtual/classic-1k.json",
        ])
    func identify(file: String) async throws {
        let cards = try await Self.both(file) {
            try $0.identify()
        } _: {
            try await $0.identify()
        }
        #expect(cards.other == cards.blocking && !cards.other.isEmpty)
    }

    @Test("Decodes with every decoder that knows the card")
    func reports() async throws {
        let reports = try await Self.both("cards/suica-p1/card.json") {
            try $0.reports(with: .standard)
        } _: {
            try await $0.reports(with: .standard)
        }
        #expect(reports.other == reports.blocking)
        #expect(reports.other.contains { $0.history?.count == 20 })
    }

    @Test("Sends a frame: Request Response with the IDm of the card")
    func transceive() async throws {
        let frame: @Sendable (CardIdentity) -> [UInt8] = { [10, 0x04] + ($0.idm?.bytes ?? []) }
        let answers = try await Self.both("cards/suica-p1/card.json") {
            try $0.transceive(frame($0.identity))
        } _: {
            try await $0.transceive(frame($0.identity))
        }
        #expect(answers.other == answers.blocking)
        #expect(answers.other.prefix(2) == [11, 0x05] && answers.other.last == 0)
    }

    @Test("Writes a message that is read back")
    func writesNDEF() async throws {
        let message = NDEFMessage([try .text("開く", language: "ja")])
        let written = try await Self.both("virtual/ntag213.json") { card in
            try card.writeNDEF(message)
            return try card.readNDEF()
        } _: { card in
            try await card.writeNDEF(message)
            return try await card.readNDEF()
        }
        #expect(written.other == message && written.blocking == message)
    }

    @Test("Reads residence cards and passports")
    func identities() async throws {
        let number = try #require(ResidenceNumber("AA12345678BB"))
        let residence = try await Self.both("iso7816/residence/first.json") {
            try $0.residence(number)
        } _: {
            try await $0.residence(number)
        }
        #expect(residence.other == residence.blocking)
        #expect(try residence.other.get().address?.hasPrefix("東京都新宿区") == true)
        let key = try #require(PassportKey("SP1234567,800405,360614"))
        let passport = try await Self.both("iso7816/passport/card.json") {
            try $0.passport(key)
        } _: {
            try await $0.passport(key)
        }
        #expect(passport.other == passport.blocking)
        #expect(try passport.other.get().machineReadableZone?.surname == "SPECIMEN")
    }

    @Test("A reader that was cancelled can only be closed")
    func cancelled() throws {
        let reader = try openReader("virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json")
        let card = try reader.waitForCard(timeout: .seconds(Int64.max))
        reader.cancel()
        #expect(throws: KazasuError.cancelled) { try reader.waitForCard(timeout: .seconds(Int64.max)) }
        #expect(throws: KazasuError.cancelled) { try card.balance() }
        reader.close()
    }

    @Test(
        "A phone's number is random",
        arguments: [
            ("virtual/phone.json", CardQuery.isoDEP, true), ("virtual/phone.json", .feliCa, false),
            ("virtual/ntag213.json", .any, false),
        ])
    func randomNumbers(file: String, query: CardQuery, isRandom: Bool) throws {
        let card = try openReader("virtual:\(TestFiles.root)/Fixtures/\(file)").waitForCard(query)
        #expect(card.hasRandomID == isRandom)
    }
}
