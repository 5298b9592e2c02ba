// SPDX-License-Identifier: Apache-2.0

import CardReading
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

@testable import Kazasu
@testable import KazasuReading

/// What one reader notices. The pauses between two questions are over at once; in them cards are taken and put.
struct CardWatchTests {
    /// A card file of each kind, and whether asking for it may select it again.
    static let cards = [
        (file: "cards/suica-p1/card.json", isSelectedAgain: false),
        (file: "tags/lite-s-no-ndef.json", isSelectedAgain: true),
        (file: "tags/ntag213.json", isSelectedAgain: false),
        (file: "tags/type4.json", isSelectedAgain: false),
        (file: "iso7816/mynumber/card.json", isSelectedAgain: false),
    ]

    private static func card(_ file: String) throws -> any VirtualCard {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/\(file)"))
        return try #require(field.cards.first)
    }

    /// A watch over a reader, and a step for each pause: what stands at that place is done to the field, and after the last
    /// step nothing changes any more.
    private static func watch(
        _ field: VirtualField, _ steps: [@Sendable (VirtualField) -> Void], reading: TapReading = .id
    ) -> CardWatch {
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        let waiting = Waiting(steps)
        let clock = SearchClock(now: SearchClock.system.now) { _ in waiting.next()?(field) }
        return CardWatch(reader, .any, reading, clock: clock)
    }

    private final class Waiting: Sendable {
        private let steps: Mutex<[@Sendable (VirtualField) -> Void]>

        init(_ steps: [@Sendable (VirtualField) -> Void]) { self.steps = Mutex(steps) }

        func next() -> (@Sendable (VirtualField) -> Void)? {
            steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    private static let nothing: @Sendable (VirtualField) -> Void = { _ in }
    private static let removal: @Sendable (VirtualField) -> Void = { $0.removeCards() }

    @Test(arguments: cards) func cardComesAndGoes(_ card: (file: String, isSelectedAgain: Bool)) throws {
        let field = VirtualField(cards: [try Self.card(card.file)])
        var watch = Self.watch(field, [Self.nothing, Self.nothing, Self.removal])
        let (on, off) = (try watch.next(), try watch.next())
        #expect([on.kind, off.kind] == [.on, .off])
        #expect(off.card == on.card)
    }

    @Test(arguments: cards) func twoMissedQuestionsDoNotEndATap(
        _ card: (file: String, isSelectedAgain: Bool)
    ) throws {
        let virtual = try Self.card(card.file)
        let field = VirtualField(cards: [virtual])
        let back: @Sendable (VirtualField) -> Void = { $0.place(virtual) }
        let steps = [Self.removal, Self.nothing, back, Self.nothing, Self.removal]
        let counted = Mutex(0)
        let counting = steps.map { step in
            { @Sendable (field: VirtualField) in
                counted.withLock { $0 += 1 }
                step(field)
            }
        }
        var watch = Self.watch(field, counting)
        #expect(try watch.next().kind == .on)
        #expect(try watch.next().kind == .off)
        #expect(counted.withLock { $0 } == steps.count, "it was gone only after the second removal")
    }

    @Test func replacedCardIsOffAndOn() throws {
        let card = try Self.card("cards/suica-p1/card.json")
        var text = String(decoding: try TestFiles.read("Fixtures/felica/two-purses.json"), as: UTF8.self)
        text = text.replacing("1234567890", with: "1234567891")
        let second = try #require(try VirtualField(cardFile: Array(text.utf8)).cards.first)
        let field = VirtualField(cards: [card])
        var watch = Self.watch(
            field,
            [
                Self.nothing,
                { field in
                    field.removeCards(); field.place(second)
                },
            ])
        let (first, off, other) = (try watch.next(), try watch.next(), try watch.next())
        #expect([first.kind, off.kind, other.kind] == [.on, .off, .on])
        #expect(off.card == first.card)
        #expect(other.card != first.card)
    }

    @Test(arguments: cards, [1, 2] as [UInt64])
    func lostFramesNeverEndATapOfAnHour(
        _ card: (file: String, isSelectedAgain: Bool), seed: UInt64
    ) throws {
        let field = VirtualField(cards: [try Self.card(card.file)])
        let time = Mutex(Duration.zero)
        let token = CancellationToken()
        let clock = SearchClock(now: { time.withLock { $0 } }) { pause in
            let isOver = time.withLock { time in
                time += pause
                return time > .seconds(3600)
            }
            if isOver { token.cancel() }
        }
        let lossy = LossyReader(InProcessReader(field), seed: seed)
        var watch = CardWatch(CardReader(lossy, cancellation: token), .any, .id, clock: clock)
        #expect(try watch.next().kind == .on)
        lossy.isLossy = true
        #expect(throws: KazasuError.cancelled) { try watch.next() }
        #expect(lossy.lost > 100)
    }

    /// A phone that comes at any moment gives its transit card within a second of the field's time, and keeps its wallet
    /// shut. It answers from the fourth Polling on.
    @Test func noticesAPhoneWithinASecond() throws {
        let file = String(decoding: try TestFiles.read("Fixtures/felica/express-phone.json"), as: UTF8.self)
        // In the first second and a half, then when the reader has been idle for a while.
        for moment in Array(stride(from: 0, to: 1500, by: 7)) + stride(from: 15_000, to: 16_500, by: 7) {
            let phone = try #require(
                try VirtualField(cardFile: Array(file.utf8)).cards.first as? VirtualPhone)
            let field = VirtualField()
            let arriving = ArrivingReader(field, phone, at: .milliseconds(moment))
            let reader = CardReader(arriving, cancellation: CancellationToken())
            reader.clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
            var watch = CardWatch(reader, .phones(wildcard: false), .id)
            let tap = try watch.next()
            let time = field.now - (arriving.arrival ?? .zero)
            #expect(tap.system == .transit && time <= .seconds(1), "\(moment) ms: \(time)")
            #expect(phone.walletOpenings == 0, "\(moment) ms")
        }
    }

    /// A reader on which nobody has put a card for a while asks less. It still notices a card within a second, or within three if
    /// the card answers only what would open a phone's wallet.
    @Test(arguments: [
        ("cards/suica-p1/card.json", 900), ("cards/felica-lite-s/card.json", 3000), ("tags/ntag213.json", 900),
        ("virtual/type4-b.json", 1000),
    ])
    func idleReaderPollsLess(_ file: String, within milliseconds: Int) throws {
        for moment in stride(from: 20_000, to: 23_000, by: 110) {
            let field = VirtualField()
            let arriving = ArrivingReader(field, try Self.card(file), at: .milliseconds(moment))
            let reader = CardReader(arriving, cancellation: CancellationToken())
            reader.clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
            var watch = CardWatch(reader, .any, .id)
            #expect(try watch.next().kind == .on)
            let time = field.now - (arriving.arrival ?? .zero)
            #expect(time <= .milliseconds(milliseconds), "\(moment) ms: \(time)")
            #expect(arriving.requests(from: 12, to: 20) * 5 < arriving.requests(from: 0, to: 8) * 3)
        }
    }

    /// A card that only a Polling for any system finds names its system then.
    @Test(arguments: [("felica-lite-s", 0x88B4), ("edy", 0xFE00), ("octopus", 0x8008)] as [(String, UInt16)])
    func systemOfACardFoundByWildcard(_ card: String, _ system: UInt16) throws {
        let field = VirtualField(cards: [try Self.card("cards/\(card)/card.json")])
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        reader.clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
        for query in [CardQuery.any, .phones(wildcard: true)] {
            var watch = CardWatch(reader, query, .id)
            #expect(try watch.next().system == SystemCode(rawValue: system))
        }
    }

    /// Where the last card was such a card, the next one is found as soon as before an idle reader.
    @Test func readsSuchCardsQuickly() throws {
        for delay in stride(from: 100, to: 2100, by: 130) {
            let field = VirtualField(cards: [try Self.card("cards/edy/card.json")])
            let arriving = ArrivingReader(field, try Self.card("cards/fcf/card.json"), at: .seconds(3600))
            let reader = CardReader(arriving, cancellation: CancellationToken())
            reader.clock = SearchClock(now: { field.now }, pause: { field.pass($0) })
            var watch = CardWatch(reader, .any, .id, clock: reader.clock)
            #expect(try watch.next().kind == .on)
            field.removeCards()
            #expect(try watch.next().kind == .off)
            arriving.moment = field.now + .milliseconds(delay)
            #expect(try watch.next().kind == .on)
            let time = field.now - (arriving.arrival ?? .zero)
            #expect(time <= .milliseconds(1000), "\(delay) ms: \(time)")
        }
    }

    /// A reader on which a card is put at a moment of the field's time.
    private final class ArrivingReader: Reader {
        private let reader: InProcessReader
        private let (field, card): (VirtualField, any VirtualCard)
        var moment: Duration
        private(set) var arrival: Duration?
        /// When each card was asked for.
        private var times: [Duration] = []

        /// How often a card was asked for between two seconds of the field's time.
        func requests(from start: Int, to end: Int) -> Int {
            times.count { $0 >= .seconds(start) && $0 < .seconds(end) }
        }

        init(_ field: VirtualField, _ card: any VirtualCard, at moment: Duration) {
            (reader, self.field, self.card, self.moment) = (InProcessReader(field), field, card, moment)
        }

        private func arrive() {
            guard arrival == nil, field.now >= moment else { return }
            arrival = field.now
            field.place(card)
        }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            arrive()
            times.append(field.now)
            return try reader.activate(request)
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            try reader.transceive(frame, timeout: timeout)
        }
        func isCardPresent() throws(TransportError) -> Bool? { try reader.isCardPresent() }
        func close() { reader.close() }
    }

    /// A reader between which and the card one frame in a hundred is lost: an exchange has two frames.
    private final class LossyReader: Reader {
        private let reader: InProcessReader
        private var random: SeededGenerator
        var isLossy = false
        private(set) var lost = 0

        init(_ reader: InProcessReader, seed: UInt64) {
            self.reader = reader
            random = SeededGenerator(seed: seed)
        }

        private var loses: Bool {
            guard isLossy, (0..<2).contains(where: { _ in Int.random(in: 0..<100, using: &random) == 0 }) else {
                return false
            }
            lost += 1
            return true
        }

        var information: ReaderInformation { reader.information }
        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            loses ? nil : try reader.activate(request)
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            if loses { throw .noAnswer }
            return try reader.transceive(frame, timeout: timeout)
        }
        func isCardPresent() throws(TransportError) -> Bool? { loses ? false : try reader.isCardPresent() }
        func close() { reader.close() }
    }

    @Test(arguments: cards) func presenceCheckAvoidsSelection(
        _ card: (file: String, isSelectedAgain: Bool)
    ) throws {
        let reader = InProcessReader(VirtualField(cards: [try Self.card(card.file)]))
        let found = try #require(try CardFinder(reader: reader).findAll(for: .once).first)
        // The search has looked for other cards after it.
        _ = try Presence.check(found, on: reader)
        let before = reader.activations
        for _ in 0..<5 {
            guard case .present = try Presence.check(found, on: reader) else {
                Issue.record("it is there: \(try Presence.check(found, on: reader))")
                return
            }
        }
        #expect((reader.activations > before) == card.isSelectedAgain)
    }

    @Test func readsTheBalanceWhileTheCardIsPresent() throws {
        let field = VirtualField(cards: [try Self.card("cards/suica-p1/card.json")])
        var watch = Self.watch(field, [], reading: .history)
        let tap = try watch.next()
        #expect(tap.balance?.balances.map(\.amount) == [10])
        #expect(tap.history?.history?.count == 20)
        #expect(tap.readError == nil)
    }

    @Test func cardWithoutPurseIsATap() throws {
        let field = VirtualField(cards: [try Self.card("tags/ntag213.json")])
        var watch = Self.watch(field, [], reading: .balance)
        let tap = try watch.next()
        #expect(tap.kind == .on)
        #expect(tap.balance == nil)
        #expect(tap.readError != nil)
    }

    @Test(arguments: [
        ([0x08, 1, 2, 3] as [UInt8], true), ([0x04, 1, 2, 3], false), ([0x08, 1, 2, 3, 4, 5, 6], false),
    ])
    func randomNumbers(_ uid: [UInt8], _ isRandom: Bool) {
        #expect(PICC.typeA(TypeATarget(uid: uid, atqa: 0x0004, sak: 0x20, isISODEP: true)).isRandom == isRandom)
    }
}
