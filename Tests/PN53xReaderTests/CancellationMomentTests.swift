// SPDX-License-Identifier: Apache-2.0

import CardModel
import PN53xReader
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

/// Cancelling at each step that the chip takes. Whenever it comes, the field is off afterwards, no card stays halted, and
/// the next run finds the card at its first look.
@Suite(.waits)
struct CancellationMomentTests {
    /// Cancels at the step with a number.
    private final class Trigger: Sendable {
        let cancellation = CancellationToken()
        private let rest: Mutex<Int>

        init(at step: Int) { rest = Mutex(step) }

        var hasFired: Bool { rest.withLock { $0 < 0 } }

        func count() {
            let isNow = rest.withLock { rest in
                rest -= 1
                return rest == -1
            }
            if isNow { cancellation.cancel() }
        }
    }

    /// What is cancelled: an answer in two parts from a card with ISO-DEP, and a session that is long enough for the
    /// serial line to be raised.
    enum Work: Sendable, CaseIterable {
        case typeA, typeB, felica

        func card() throws -> any VirtualCard {
            switch self {
            case .typeA: try ISO14443Tests.cardA()
            case .typeB: try ISO14443Tests.cardB()
            case .felica: TestCard()
            }
        }

        var request: ActivationRequest {
            switch self {
            case .typeA: .typeA()
            case .typeB: .typeB()
            case .felica: .felica(.transit)
            }
        }

        func run(_ reader: any Reader) throws {
            guard try reader.activate(request) != nil else { return }
            switch self {
            case .typeA, .typeB:
                _ = try reader.transceive(ISO14443Tests.select, timeout: ISO14443Tests.time)
                _ = try reader.transceive([0x00, 0xB0, 0x81, 0x00, 0x80], timeout: ISO14443Tests.time)
            case .felica:
                for _ in 0..<6 { _ = try reader.transceive(TestCard.requestSystemCode, timeout: .milliseconds(10)) }
            }
        }
    }

    /// - Returns: whether the chip got as far as that step.
    private func cancels(_ work: Work, _ way: Way, at step: Int) throws -> Bool {
        let trigger = Trigger(at: step)
        // With the time that bytes take on the line, so that an answer can still be on its way.
        let server = try PN532Server(
            field: VirtualField(cards: [try work.card()]), timing: TimeModel(serialLine: true, radio: false),
            observer: { trigger.count() })
        defer { server.stop() }
        do {
            let reader = try way.driver(patience: 4).open(way.id(server.path), cancellation: trigger.cancellation)
            defer { reader?.close() }
            try reader.map { try work.run($0) }
        } catch TransportError.cancelled {}
        #expect(!server.statistics.isFieldOn, "cancelled at step \(step)")
        #expect(server.comes(to: 115_200), "cancelled at step \(step)")
        // libnfc's last command when it closes a reader; not sent when one of those before meets a stale answer.
        if way == .libnfc { #expect(server.statistics.commandsByCode[0x16] == 1, "cancelled at step \(step)") }
        let hasFired = trigger.hasFired
        let next = try way.open(server, patience: 4)
        defer { next.close() }
        #expect(try next.activate(work.request) != nil, "cancelled at step \(step)")
        return hasFired
    }

    /// The chip asks a card that is gone to let go, and waits for its answer as long as for the last command's.
    @Test(arguments: Way.allCases) func switchesTheFieldOffAfterRemoval(_ way: Way) throws {
        let bench = try Bench(way, card: try ISO14443Tests.cardA(), timing: TimeModel(serialLine: false, radio: true))
        #expect(try bench.reader.activate(.typeA()) != nil)
        // More than libnfc waits for InRelease.
        let time = Duration.milliseconds(400)
        #expect(try bench.exchange(ISO14443Tests.select, within: time) == [0x90, 0x00])
        bench.field.removeCards()
        #expect(throws: TransportError.self) { try bench.exchange([0x00, 0xB0, 0x81, 0x00, 0x10], within: time) }
        bench.reader.close()
        #expect(!bench.server.statistics.isFieldOn)
        if way == .libnfc { #expect(bench.server.statistics.commandsByCode[0x16] == 1) }
    }

    /// All the steps, shared out among tests that run side by side.
    @Test(arguments: Way.with(Work.allCases), 0..<6)
    func nextRunFindsTheCard(_ run: (work: Work, way: Way), _ first: Int) throws {
        var step = first
        while try cancelsInTime(run.work, run.way, at: step) { step += 6 }
        #expect(step > 30)
    }

    /// libnfc waits for its own times, whatever they are multiplied with: on a busy machine a simulated chip can be late for them,
    /// and the step is taken again.
    private func cancelsInTime(_ work: Work, _ way: Way, at step: Int) throws -> Bool {
        for _ in 0..<(way == .libnfc ? 4 : 0) {
            do { return try cancels(work, way, at: step) } catch TransportError.readerTimeout {}
        }
        return try cancels(work, way, at: step)
    }
}
