// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import Kazasu
@testable import KazasuReading

/// FeliCa Lite-S through the facade.
struct LiteCardTests {
    private static let (open, issued) = ("felica/lite-s.json", "felica/lite-s-issued.json")
    /// The keys of the card files: test data.
    private static let key: [UInt8] = Array("76543210fedcba98".utf8)

    private static func reader(_ file: String) throws -> (CardReader, VirtualField) {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/\(file)"))
        let cancellation = CancellationToken()
        let reader = CardReader(InProcessReader(field, cancellation: cancellation), cancellation: cancellation)
        reader.clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
        return (reader, field)
    }

    private static func source() throws -> LiteKeySource { .card(try #require(LiteKey(key))) }
    private static func master() throws -> LiteKeySource {
        .master(try #require(LiteMasterKey((0..<24).map { UInt8($0) })))
    }

    @Test("A card is verified however it was found", arguments: [CardQuery.lite, .feliCa, .tag, .any])
    func verified(_ query: CardQuery) throws {
        let (reader, _) = try Self.reader(Self.open)
        let card = try reader.waitForCard(query)
        let result = try card.lite().verify(Self.source())
        #expect(result.isGenuine && result.isLiteS && result.keyVersion == 1)
        #expect(result.card == card.identity)
        #expect(try !card.lite().verify(Self.master()).isGenuine)
    }

    @Test func otherCards() throws {
        for file in ["cards/suica-p1/card.json", "virtual/ntag213.json"] {
            let (reader, _) = try Self.reader(file)
            let card = try reader.waitForCard(.any)
            #expect { _ = try card.lite() } throws: { error in
                if case KazasuError.wrongCard = error { true } else { false }
            }
        }
    }

    @Test func factoryKeys() throws {
        let (reader, _) = try Self.reader(Self.open)
        let factory = LiteKeySource.card(try #require(LiteKey([UInt8](repeating: 1, count: 16))))
        let card = try reader.waitForCard(.lite).lite()
        #expect(throws: KazasuError.lite(.factoryKey)) { try card.verify(factory) }
        #expect(throws: KazasuError.lite(.factoryKey)) {
            try card.issue(LiteProfile(keyVersion: 1), key: factory) { _ throws(KazasuError) in }
        }
    }

    @Test func information() throws {
        let open = try Self.reader(Self.open).0.waitForCard(.lite).lite().information()
        #expect(!open.isLocked && open.writes == nil && open.dataFormatCode == 0x68 && open.answersNDEF)
        let issued = try Self.reader(Self.issued).0.waitForCard(.lite).lite().information()
        #expect(issued.isLocked && issued.writes == 42 && issued.writesLeft == 16_776_662)
        #expect(issued.authenticatedReads == [1] && issued.writesWithMAC == [1] && issued.isKeyChangeable)
    }

    @Test func blocksThatNeedTheKey() throws {
        let (reader, _) = try Self.reader(Self.issued)
        let card = try reader.waitForCard(.lite).lite()
        #expect(throws: KazasuError.self) { try card.read([1], key: Self.master()) }
        let data = try #require(Block([UInt8](repeating: 7, count: 16)))
        try card.write(data, to: 1, key: Self.master())
        #expect(try card.read([1], key: Self.master(), authenticates: true) == [data])
        #expect(throws: KazasuError.lite(.notGenuine)) { try card.read([2], key: Self.source()) }
    }

    @Test("Issued with a master key: the key follows from the ID that the profile gives")
    func issued() throws {
        let (reader, _) = try Self.reader(Self.open)
        var profile = LiteProfile(keyVersion: 3)
        profile.free = [9, 9, 9, 9, 9, 9]
        let card = try reader.waitForCard(.lite).lite()
        #expect(try card.changes(profile).last == .lock(isKeyChangeable: false))
        var steps: [LiteStep] = []
        try card.issue(profile, key: Self.master()) { step throws(KazasuError) in steps.append(step) }
        #expect(steps.last == .done)
        #expect(try card.verify(Self.master()).isGenuine)
        #expect(throws: KazasuError.lite(.locked)) { try card.changes(profile) }
        try card.issue(profile, key: Self.master(), resuming: LiteInterruption()) { _ throws(KazasuError) in }
    }

    @Test("An interrupted issuance goes on with its own key only", arguments: 1...60)
    func resumedWithAnotherKey(_ exchange: Int) throws {
        let (reader, field) = try Self.reader(Self.open)
        let profile = LiteProfile(keyVersion: 3)
        let card = try reader.waitForCard(.lite).lite()
        let check = try card.keyCheck(profile, key: Self.master())
        field.plan(.cardAway(from: field.statistics.exchanges + exchange))
        var steps: [LiteStep] = []
        do {
            try card.issue(profile, key: Self.master()) { step throws(KazasuError) in steps.append(step) }
            return
        } catch is KazasuError {}
        field.plan([])
        let lite = (field.cards.first as? VirtualFeliCaCard)?.lite
        // With the check value no other key is tried; once the key was proved, it is not needed.
        let known = LiteInterruption(keyCheck: check, hasProvedKey: steps.contains(.keyProved))
        var refused = [(known, KazasuError.lite(.otherKey))]
        if known.hasProvedKey { refused.append((LiteInterruption(hasProvedKey: true), .lite(.notGenuine))) }
        let again = try reader.waitForCard(.lite).lite()
        for (interruption, error) in refused {
            #expect(throws: error, "\(exchange)") {
                try again.issue(profile, key: Self.source(), resuming: interruption) { step throws(KazasuError) in
                    Issue.record("\(step) was taken")
                }
            }
        }
        let left = (field.cards.first as? VirtualFeliCaCard)?.lite
        for number in [UInt16](0...14) + [0x82, 0x84, 0x86, 0x87, 0x88] { #expect(left?[number] == lite?[number]) }
        try again.issue(profile, key: Self.master(), resuming: known) { _ throws(KazasuError) in }
        #expect(try again.verify(Self.master()).isGenuine)
    }

    @Test func checkValuesOfKeys() throws {
        let (one, other) = (try #require(LiteKey((1...16).map { UInt8($0 * 2) })), try #require(LiteKey(Self.key)))
        let check = LiteKeyCheck(one)
        #expect(check.matches(one) && !check.matches(other))
        #expect(LiteKeyCheck(one) != check)
        #expect(LiteKeyCheck(salt: check.salt, value: check.value) == check)
        #expect(LiteKeyCheck(salt: [], value: check.value) == nil)
        // CBC-MAC of Triple DES, by openssl.
        let fixed = try #require(
            LiteKeyCheck(salt: (0..<32).map { UInt8($0) }, value: [0x44, 0x94, 0x1F, 0x0A, 0x99, 0x85, 0x56, 0xBB]))
        #expect(fixed.matches(one))
    }

    @Test("A step that cannot be stored is not taken")
    func journal() throws {
        let (reader, field) = try Self.reader(Self.open)
        let card = try reader.waitForCard(.lite).lite()
        for failing in [LiteStep.key, .lock] {
            #expect(throws: KazasuError.noCard) {
                try card.issue(LiteProfile(keyVersion: 3), key: Self.master()) { step throws(KazasuError) in
                    if step == failing { throw .noCard }
                }
            }
            let lite = try #require((field.cards.first as? VirtualFeliCaCard)?.lite)
            #expect(lite[0x88]?[2] == 0xFF)
            if failing == .key { #expect(lite[0x87]?.bytes == Self.key) }
        }
    }

    @Test func waitsUntilTheCardIsBack() throws {
        let (reader, field) = try Self.reader(Self.open)
        let card = try reader.waitForCard(.lite).lite()
        let now = field.statistics.exchanges
        field.plan(.cardAway(from: now + 4, until: now + 20))
        try card.waitForReturn()
        #expect(field.statistics.exchanges >= now + 20)
        // It stays where it is.
        #expect(throws: KazasuError.noCard) { try card.waitForReturn(timeout: .seconds(5)) }
    }

    @Test("Equal keys are one proof, so that reading the settings again opens no reader again")
    func proofs() throws {
        #expect(try TapProof(Self.source()) == TapProof(Self.source()))
        #expect(try TapProof(Self.source()) != TapProof(Self.master()))
        let card = try Self.reader(Self.issued).0.waitForCard(.any)
        try TapProof(Self.master()).check(card)
        #expect(throws: KazasuError.lite(.notGenuine)) { try TapProof(Self.source()).check(card) }
    }

    @Test func asynchronous() async throws {
        let bytes = try TestFiles.read("Fixtures/\(Self.issued)")
        let reader = try await AsyncCardReader.open { cancellation throws(KazasuError) in
            guard let field = try? VirtualField(cardFile: bytes) else { throw .noCard }
            return InProcessReader(field, cancellation: cancellation)
        }
        let card = try await reader.waitForCard(.lite)
        #expect(try await card.verifyLite(Self.master()).isGenuine)
        #expect(try await card.liteInformation().writes == 42)
        await reader.close()
    }
}
