// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import ReaderTesting
import TestSupport
import Testing

/// The conformance suites through a real pcscd. The FeliCa suite does not apply: it sends packets of any kind and at two
/// speeds, which no reader passes on through PC/SC.
extension PCSCServiceTests {
    @Test func vpcdWithTypesAAndB() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let report = try ReaderConformance.iso14443(
            reader, stage(of: reader, bench, letsGo: true), bench.cancellation)
        #expect(report.breaches == [])
        let cases = [
            "waiting time extensions (single blocks of ISO-DEP)",
            "a card that leaves between two blocks (faults in the air)",
            "an answer that is damaged for good (faults in the air)",
        ]
        #expect(report.skipped == ["typeA", "typeB"].flatMap { type in cases.map { "\(type): \($0)" } })
    }

    @Test func classicAndPasswordsInVPCD() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let report = try ReaderConformance.protectedCards(
            reader, stage(of: reader, bench, letsGo: true), bench.cancellation)
        #expect(report == ConformanceReport())
    }

    @Test func presenceOfCardsInVPCD() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let report = try ReaderConformance.presence(
            reader, stage(of: reader, bench, letsGo: false), bench.cancellation)
        #expect(report == ConformanceReport())
    }

    /// - Parameter letsGo: whether the driver releases a card before the next one comes, as at a real reader, where nobody
    ///   is that fast.
    private func stage(of reader: any Reader, _ bench: PCSCBench, letsGo: Bool) -> ConformanceStage {
        var inserter: VirtualCardInserter?
        return ConformanceStage(
            limits: [.noFaults, .noBlocks],
            place: { card in
                inserter = try VirtualCardInserter(card, port: bench.service.port)
                while try !hasCard(reader) { _ = try reader.waitForEvent(within: .seconds(20)) }
            },
            clear: {
                inserter?.inserted.takeOut()
                inserter = nil
                try bench.service.waitForRemoval()
                if letsGo {
                    if try hasCard(reader) { Issue.record("a card is still there") }
                } else {
                    // The service writes that the card is gone before it tells its clients.
                    for _ in 0..<20 where try reader.isCardPresent() == true {
                        _ = try reader.waitForEvent(within: .seconds(20))
                    }
                }
            })
    }

    private func hasCard(_ reader: any Reader) throws -> Bool {
        try reader.activate(.typeA()) != nil || reader.activate(.typeB()) != nil
    }
}
