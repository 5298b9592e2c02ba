// SPDX-License-Identifier: Apache-2.0

import KazasuTaps
import KazasuTesting
import Testing

/// Tests of a program whose heart is a loop over taps: cards come and go as the test says, without a reader.
struct TapLoopTests {
    private static func card(_ idm: String, _ amount: String) -> [UInt8] {
        Array(
            """
            { "schema": "kazasu.card/1", "idm": "\(idm)", "pmm": "0120220427674eff",
              "systems": [{ "code": "0003", "blocks": { "008B": ["0000000000000000200000\(amount)0001e3"] } }] }
            """.utf8)
    }

    private static let (rich, poor) = (card("0102030405060708", "1027"), card("0102030405060709", "0a00"))

    /// The program under test: what it shows for a tap.
    private func shown(_ tap: Tap) -> String? {
        guard tap.kind == .on else { return nil }
        guard let amount = tap.balance?.balances.first?.amount else { return "hold it again" }
        return amount < 1000 ? "top it up" : "\(amount) yen"
    }

    @Test func cardsComeAndGo() async throws {
        let field = VirtualField()
        var shown: [String] = []
        try field.place(cardFile: Self.rich)
        for try await tap in taps(from: [ReaderSource(field, id: "counter")], reading: .balance) {
            #expect(tap.reader == "counter")
            if let text = self.shown(tap) {
                shown.append(text)
                field.removeCards()
            } else if shown.count == 1 {
                try field.place(cardFile: Self.poor)
            } else {
                break
            }
        }
        #expect(shown == ["10000 yen", "top it up"])
    }

    @Test func oneCardAfterAnother() async throws {
        let file = Self.rich
        let field = VirtualField()
        var loop = taps(from: [ReaderSource(field)], reading: .balance).makeAsyncIterator()
        try field.place(cardFile: file)
        let tap = try await loop.next()
        field.removeCards()
        #expect(tap?.kind == .on && tap?.balance?.balances.first?.amount == 10000)
        #expect(try await loop.next()?.kind == .off)
    }

    @Test func aCardThatLeavesTooEarly() async throws {
        let field = try VirtualField(cardFile: Self.rich)
        let source = ReaderSource("counter") { cancellation in
            // Found, then gone.
            field.plan(.cardAway(from: field.statistics.exchanges + 2))
            return InProcessReader(field, cancellation: cancellation)
        }
        for try await tap in taps(from: [source], .purse, reading: .balance) {
            #expect(shown(tap) == "hold it again")
            break
        }
    }

    @Test func oneTap() {
        let card = CardIdentity.typeA(uid: [4, 1, 2, 3, 4, 5, 6])
        #expect(shown(Tap(.on, card, reader: "counter")) == "hold it again")
        #expect(shown(Tap(.off, card, reader: "counter")) == nil)
    }

    @Test func eventsOfAWatcher() async throws {
        let field = try VirtualField(cardFile: Self.rich)
        let plan = Watcher.Plan(
            site: "shop", sources: [ReaderSource(field)], names: ["virtual": "door"], reading: .balance, sinks: [])
        var words: [String] = []
        for try await event in Watcher.events(plan, outbox: nil) {
            #expect(event.reader == "door")
            words.append(event.kind.word)
            if event.kind.word == "on" { field.removeCards() }
            if event.kind.word == "off" { break }
        }
        #expect(words == ["reader", "on", "off"])
    }

    @Test func anEventForASink() throws {
        let card = TapEvent.Card(technology: .felica, tag: "0102030405060708")
        let event = TapEvent(
            id: "01930000-0000-7000-8000-000000000001", sequence: 1, kind: .on(card, .nothing),
            moment: TapEvent.Moment(.now, uptime: 1000), site: "shop", reader: "door")
        #expect(try StoredEvent(parsing: StoredEvent(event).line).event == event)
    }
}
