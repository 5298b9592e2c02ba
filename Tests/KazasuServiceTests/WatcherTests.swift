// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import Kazasu
import Synchronization
import TestSupport
import Testing

@testable import KazasuService

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

        static var plan: Watcher.Plan {
            let card = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
            return Watcher.Plan(site: "here", readers: [card], names: [card: "door"], reading: .history, sinks: [])
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
            var plan = Self.plan
            plan.stations = FirstReading(first)
            let watcher = Watcher(plan, outbox: nil) { event, _ in
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
    }

    @Test("A card that is read while the watcher is stopped has its events")
    func stopped() async throws {
        let run = Run()
        let events = try await run.events { run.stop() }
        #expect(events == ["reader", "on", "off shutdown"])
    }

    @Test("A card that is read while its reader is to be watched differently has its events")
    func replaced() async throws {
        let run = Run()
        let events = try await run.events(
            duringFirstReading: {
                var plan = Run.plan
                plan.reading = .id
                run.change(to: plan)
            },
            until: { event in
                if case .on(_, let content) = event.kind { content.records == nil } else { false }
            })
        #expect(events == ["reader", "on", "off shutdown", "on", "off shutdown"])
    }
}
