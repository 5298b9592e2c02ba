// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Issuing, and what interrupts it: a locked card always has the key that was given.
struct LiteIssuerTests {
    private static let profile: LiteProfile = {
        var profile = LiteProfile(keyVersion: 2)
        profile.dataFormatCode = 0x1234
        profile.free = [1, 2, 3, 4, 5, 6]
        profile.blocks = [0: Block([UInt8](repeating: 0xA5, count: 16)) ?? .zero, 5: .zero]
        profile.readOnly = [0]
        profile.authenticatedReads = [5]
        profile.authenticatedWrites = [5]
        profile.writesWithMAC = [5]
        return profile
    }()

    private static func issue(
        _ card: any VirtualCard, _ faults: InjectedFaults = [], key: [UInt8] = LiteFixture.key, resumes: Bool = false,
        profile: LiteProfile = profile, journal: @escaping (LiteStep) -> Void = { _ in }
    ) throws -> Int {
        let channel = try LiteFixture.channel(card, faults)
        try LiteIssuer(channel, profile, LiteFixture.liteKey(key)) { step throws(LiteError) in journal(step) }
            .run(resumes: resumes)
        return (channel.session.reader as? InProcessReader)?.field.statistics.exchanges ?? 0
    }

    private static func isLocked(_ card: VirtualFeliCaCard) -> Bool { card.lite?[0x88]?[2] != 0xFF }

    /// Whether the card is as the profile wants it.
    private static func isIssued(_ card: VirtualFeliCaCard, key: [UInt8] = LiteFixture.key) -> Bool {
        guard let lite = card.lite, let id = lite[0x82] else { return false }
        return isLocked(card) && lite[0x87]?.bytes == key && lite[0x86]?.bytes.prefix(2) == [2, 0]
            && Array(id.bytes.suffix(8)) == [0x12, 0x34, 1, 2, 3, 4, 5, 6]
            && lite[0]?.bytes == [UInt8](repeating: 0xA5, count: 16)
            && lite[0x88]?.description == "FE7F0001070020002000200001000000"
    }

    @Test func issuesInOrder() throws {
        let card = LiteFixture.card()
        nonisolated(unsafe) var steps: [LiteStep] = []
        let exchanges = try Self.issue(card) { steps.append($0) }
        #expect(steps == [.identity, .key, .keyProved, .blocks, .lock, .done])
        #expect(Self.isIssued(card))
        #expect(exchanges < 60)
    }

    @Test func issuedCardsAreRefused() throws {
        let card = LiteFixture.card()
        _ = try Self.issue(card)
        #expect(throws: LiteError.locked) { try Self.issue(card) }
        // With the same key it is the interrupted issuance; with another it is not.
        _ = try Self.issue(card, resumes: true)
        #expect(throws: LiteError.notGenuine) {
            try Self.issue(card, key: (2...17).map { UInt8($0) }, resumes: true)
        }
    }

    @Test func refusals() throws {
        #expect(throws: LiteError.factoryKey) {
            try Self.issue(LiteFixture.card(), key: [UInt8](repeating: 0, count: 16))
        }
        #expect(throws: LiteError.notLiteS) { try Self.issue(LiteFixture.card(.lite)) }
        let count = try LiteFixture.block("FFFFFF" + String(repeating: "00", count: 13))
        let worn = LiteFixture.card(.liteS, [0x90: count])
        #expect(throws: LiteError.writesUsedUp) { try Self.issue(worn) }
        let small = try LiteFixture.channel(LiteFixture.card(), longestAnswer: 40)
        #expect(throws: LiteError.readerTooSmall(longest: 40, needed: 45)) {
            try LiteIssuer(small, Self.profile, LiteFixture.liteKey()) { _ throws(LiteError) in }.run()
        }
    }

    @Test func cardsThatKeepTheirPowerAreNotLocked() throws {
        let card = LiteFixture.card()
        let channel = try LiteFixture.channel(StubbornCard(card))
        #expect(throws: LiteError.keptPower) {
            try LiteIssuer(channel, Self.profile, LiteFixture.liteKey()) { _ throws(LiteError) in }.run()
        }
        #expect(!Self.isLocked(card))
        // The user lifts it.
        let lifted = try LiteFixture.channel(StubbornCard(card))
        try LiteIssuer(lifted, Self.profile, LiteFixture.liteKey()) { () throws(LiteError) in
            card.losePower()
        } journal: { _ throws(LiteError) in
        }.run()
        #expect(Self.isIssued(card))
    }

    /// Another program writes to the card between two steps: the key, the ID, a user block, or the same once more.
    @Test(arguments: [LiteStep.key, .keyProved, .blocks, .lock], [UInt16(0x87), 0x82, 0x86, 5])
    func twoWriters(_ step: LiteStep, _ block: UInt16) throws {
        let card = LiteFixture.card()
        let foreign = [UInt8](repeating: 0x77, count: 16)
        let result = Result {
            try Self.issue(card) { reached in
                guard reached == step else { return }
                let write: [UInt8] = [0x20, 0x08] + LiteFixture.idm.bytes + [1, 9, 0, 1, 0x80, UInt8(block)] + foreign
                #expect(card.answer(write, at: .kbps212)?.frame.suffix(2) == [0, 0])
            }
        }
        if case .success = result {
            #expect(Self.isIssued(card))
        } else {
            #expect(!Self.isLocked(card))
        }
        if step == .lock { #expect(!Self.isLocked(card)) }
    }

    /// A step that cannot be stored is not taken.
    @Test func fullDisk() throws {
        for place in 0..<6 {
            let card = LiteFixture.card()
            nonisolated(unsafe) var steps: [LiteStep] = []
            let issuer = try LiteIssuer(LiteFixture.channel(card), Self.profile, LiteFixture.liteKey()) {
                step throws(LiteError) in
                guard steps.count < place else { throw .reading(.cancelled) }
                steps.append(step)
            }
            #expect(throws: LiteError.reading(.cancelled)) { try issuer.run() }
            #expect(steps.contains(.lock) || !Self.isLocked(card), "\(place)")
            #expect(steps.contains(.key) || card.lite?[0x87]?.bytes != LiteFixture.key, "\(place)")
            card.losePower()
            _ = try Self.issue(card, resumes: true)
            #expect(Self.isIssued(card), "\(place)")
        }
    }

    // MARK: Interruptions

    /// The power is lost at each exchange, before the card carries it out and after: resuming always ends well.
    @Test func everyExchange() throws {
        let exchanges = try Self.issue(LiteFixture.card())
        for place in 1..<exchanges {
            for isDone in [false, true] {
                let card = LiteFixture.card()
                let away = InjectedFaults.cardAway(from: isDone ? place + 1 : place)
                let lost = InjectedFaultRule(.silence, .during(place...place))
                #expect(throws: LiteError.self, "\(place)") {
                    try Self.issue(card, InjectedFaults((isDone ? [lost] : []) + away.rules))
                }
                #expect(!Self.isLocked(card) || card.lite?[0x87]?.bytes == LiteFixture.key, "\(place)")
                card.losePower()
                _ = try Self.issue(card, resumes: true)
                #expect(Self.isIssued(card), "\(place) \(isDone)")
            }
        }
    }

    /// Interrupted up to three times a card.
    @Test func randomInterruptions() throws {
        var (interruptions, locked) = (0, 0)
        let rounds = TestEffort.rounds(60)
        for seed in rounds {
            var random = SeededGenerator(seed: UInt64(seed + 1) &* 0x9E37_79B9_7F4A_7C15)
            let key = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let card = LiteFixture.card()
            var ended = false
            for attempt in 0..<3 where !ended {
                ended =
                    (try? Self.issue(card, .interruption(within: 50, &random), key: key, resumes: attempt > 0)) != nil
                if !ended { interruptions += 1 }
                card.losePower()
                #expect(!Self.isLocked(card) || card.lite?[0x87]?.bytes == key, "seed \(seed)")
                if !ended, Self.isLocked(card) { locked += 1 }
            }
            if !ended { _ = try Self.issue(card, key: key, resumes: true) }
            #expect(Self.isIssued(card, key: key), "seed \(seed)")
        }
        // Some are interrupted between the lock and the last check.
        #expect(locked > 0 && 2 * interruptions > rounds.count)
        TestEffort.report("Lite-S: \(interruptions) interruptions of \(rounds.count) issuances")
    }
}

/// A card that has power also without a field.
private final class StubbornCard: VirtualPacketCard, @unchecked Sendable {
    private let card: VirtualFeliCaCard

    init(_ card: VirtualFeliCaCard) { self.card = card }

    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? { card.answer(frame, at: bitRate) }
    func losePower() {}
}
