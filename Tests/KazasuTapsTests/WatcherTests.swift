// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Kazasu
import Synchronization
import TestSupport
import Testing

@testable import KazasuTaps

@Suite("The watcher")
struct WatcherTests {
    /// A table without stations that does something when the card is read for the first time: before the card is reported.
    private final class FirstReading: StationNames {
        private let action: Mutex<(@Sendable () -> Void)?>

        init(_ action: @escaping @Sendable () -> Void) { self.action = Mutex(action) }

        func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
            let action = action.withLock { action in
                defer { action = nil }
                return action
            }
            action?()
            return nil
        }

        func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
    }

    /// A watcher whose reader has a card on it.
    private final class Run: Sendable {
        private let events = Mutex<[StoredEvent]>([])
        private let watcher = Mutex<Watcher?>(nil)
        private let outbox: Outbox?
        let plan: Watcher.Plan

        init(_ outbox: Outbox? = nil, _ sinks: [SinkFactory] = []) {
            let card = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
            self.outbox = outbox
            plan = Watcher.Plan(site: "here", readers: [card], names: [card: "door"], reading: .history, sinks: sinks)
        }

        func stop() { watcher.withLock { $0 }?.stop() }
        func change(to plan: Watcher.Plan) { watcher.withLock { $0 }?.change(to: plan) }

        /// Runs until it is stopped.
        ///
        /// - Parameters:
        ///   - first: called while the card is read, before it is reported.
        ///   - isLast: whether an event stops it.
        /// - Returns: the events, each as its type with the reason.
        func events(
            duringFirstReading first: @escaping @Sendable () -> Void,
            until isLast: @escaping @Sendable (StoredEvent) -> Bool = { _ in false }
        ) async throws -> [String] {
            var plan = plan
            plan.stations = FirstReading(first)
            let watcher = Watcher(plan, outbox: outbox) { event, _ in
                self.events.withLock { $0.append(event) }
                if isLast(event) { self.stop() }
            } tell: { _ in
            }
            self.watcher.withLock { $0 = watcher }
            try await watcher.run()
            return events.withLock { $0 }.map { event in
                guard case .off(_, let visit) = event.kind else { return event.kind.word }
                return "off" + (visit.reason.map { " \($0.rawValue)" } ?? "")
            }
        }

        /// Runs until a card whose history was read is there again, of which only the number is read then.
        func eventsAsThePlanChanges() async throws -> [String] {
            try await events(
                duringFirstReading: {
                    var plan = self.plan
                    plan.reading = .id
                    self.change(to: plan)
                },
                until: { event in
                    if case .on(_, let content) = event.kind { content.records == nil } else { false }
                })
        }
    }

    @Test("A card that is read while the watcher is stopped has its events")
    func stopped() async throws {
        let run = Run()
        let events = try await run.events { run.stop() }
        #expect(events == ["reader", "on", "off shutdown"])
    }

    @Test("A card that is read while its reader is to be watched differently has its events")
    func replaced() async throws {
        #expect(try await Run().eventsAsThePlanChanges() == Self.replacing)
    }

    @Test("A reader that no driver knows ends a watcher at its start only")
    func changedToAnUnknownReader() async throws {
        let run = Run()
        let card = try #require(run.plan.readers?.first)
        let events = try await run.events(
            duringFirstReading: {
                var plan = run.plan
                plan.readers = ["toaster", card]
                run.change(to: plan)
            },
            until: { event in event.event.reader == "toaster" })
        // The card is read meanwhile, so its event may be before that of the unknown reader or after it.
        #expect(events.sorted() == ["off shutdown", "on", "reader", "reader"])

        let first = Watcher(Watcher.Plan(site: "here", readers: ["toaster"], names: [:], sinks: []), outbox: nil) {
            _, _ in
        } tell: { _ in
        }
        let failure = await #expect(throws: KazasuError.self) { try await first.run() }
        #expect(failure == .unknownReader("toaster"))
    }

    @Test("A watcher whose only reader was changed to an unknown one goes on until it has another")
    func changedBack() async throws {
        let run = Run()
        let card = try #require(run.plan.readers?.first)
        let events = try await run.events(
            duringFirstReading: {
                var plan = run.plan
                plan.readers = ["toaster"]
                run.change(to: plan)
            },
            until: { event in
                if event.event.reader == "toaster" {
                    var plan = run.plan
                    plan.readers = [card]
                    run.change(to: plan)
                }
                guard case .on = event.kind else { return false }
                return event.event.sequence > 3
            })
        #expect(events.filter { $0 == "on" }.count == 2)
    }

    /// The events of a card whose reader is watched differently while it lies there.
    private static let replacing = ["reader", "on", "off shutdown", "on", "off shutdown"]

    /// The sinks of a stranger: what each of them has lived through.
    private final class Lives: Sendable {
        private let lives = Mutex<[[String]]>([])

        var all: [[String]] { lives.withLock { $0 } }

        func make() -> any Sink {
            lives.withLock { lives in
                lives.append([])
                return One(lives: self, number: lives.count - 1)
            }
        }

        private struct One: Sink {
            let lives: Lives
            let number: Int
            let name = "own"
            let window = 5

            private func note(_ word: String) { lives.lives.withLock { $0[number].append(word) } }

            func start() async { note("start") }
            func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
                for event in events { note(event.kind.word) }
                return events.map { _ in .delivered }
            }
            func close() async { note("close") }
        }
    }

    @Test("A plan with the sinks of the one before makes them again, after theirs are closed; none gets an event twice")
    func replacedSinks() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        let lives = Lives()
        #expect(try await Run(outbox, [{ lives.make() }]).eventsAsThePlanChanges() == Self.replacing)
        #expect(lives.all == [["start", "reader", "on", "off", "close"], ["start", "on", "off", "close"]])
        await outbox.close()
    }

    @Test("A factory that returns the same sink has it started again")
    func sameSink() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        let lives = Lives()
        let sink = lives.make()
        #expect(try await Run(outbox, [{ sink }]).eventsAsThePlanChanges() == Self.replacing)
        #expect(lives.all == [["start", "reader", "on", "off", "close", "start", "on", "off", "close"]])
        await outbox.close()
    }

    @Test("Watches readers that the program opens itself")
    func ownReaders() async throws {
        let path = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let source = ReaderSource("counter") { cancellation throws(KazasuError) in
            try ReaderRegistry.openReader(path, cancellation)
        }
        let plan = Watcher.Plan(
            site: "shop", sources: [source], names: ["counter": "door"], reading: .balance, sinks: [])
        var words: [String] = []
        for try await event in Watcher.events(plan, outbox: nil) {
            #expect(event.reader == "door" && event.site == "shop")
            words.append(event.kind.word)
            if event.kind.word == "on" { break }
        }
        #expect(words == ["reader", "on"])
    }

    @Test("Events are made without a watcher")
    func madeEvents() throws {
        let card = TapEvent.Card(technology: .felica, system: .transit, tag: "0102030405060708", name: "Aya")
        let moment = TapEvent.Moment(Timestamp(milliseconds: 1_800_000_000_123), uptime: 5, isSynchronized: false)
        let report = BalanceReport(balances: [
            BalanceEntry(kind: "transit", name: LocalizedText("Transit IC", "交通系IC"), amount: 10)
        ])
        let identity = CardIdentity.felica(idm: IDm(rawValue: 1), pmm: PMm(rawValue: 2))
        let kinds: [TapEvent.Kind] = [
            .on(card, .nothing), .on(card, TapEvent.Content(of: identity, balance: report, in: .japanese)),
            .on(card, TapEvent.Content(of: identity, error: "cardLost")),
            .off(card, TapEvent.Visit(on: "a", dwell: 5, reason: .reader)), .reader(.gone),
            .answer(TapEvent.Answer(on: "a", verdict: .yes, milliseconds: 7)),
        ]
        for kind in kinds {
            let event = TapEvent(id: "a", sequence: 1, kind: kind, moment: moment, site: "shop", reader: "door")
            #expect(try TapEvent(parsing: event.line) == event)
        }
        let second = TapEvent(id: "a", sequence: 1, kind: kinds[1], moment: moment, site: "shop", reader: "door")
        #expect(second.line.contains("交通系IC") && second.line.contains(#""amount":10"#))
    }
}
