// SPDX-License-Identifier: Apache-2.0

import NFCTransport
import ReaderConformance
import TestSupport
import Testing

/// What every reader must do, through a real pcscd. The FeliCa suite does not apply: it sends packets of any kind and
/// at two speeds, which no reader passes on through PC/SC.
extension PCSCServiceTests {
    @Test func vpcdWithTypesAAndB() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        var inserter: VirtualCardInserter?
        let stage = ConformanceStage(
            limits: [.noFaults, .noBlocks],
            place: { card in
                inserter = try VirtualCardInserter(card, port: bench.service.port)
                while try !hasCard(reader) { _ = try reader.waitForEvent(within: .seconds(20)) }
            },
            clear: {
                inserter?.inserted.takeOut()
                inserter = nil
                try bench.service.waitForRemoval()
                // The driver lets go of the card before the next one comes, as nobody is so fast at a real reader.
                if try hasCard(reader) { Issue.record("a card is still there") }
            })
        var conformance = ISO14443Conformance(reader, stage: stage, cancellation: bench.cancellation)
        try conformance.run()
        #expect(conformance.breaches == [])
        let cases = [
            "waiting time extensions (single blocks of ISO-DEP)",
            "a card that leaves between two blocks (faults in the air)",
            "an answer that is damaged for good (faults in the air)",
        ]
        #expect(conformance.skipped == ["typeA", "typeB"].flatMap { type in cases.map { "\(type): \($0)" } })
        _ = inserter
    }

    private func hasCard(_ reader: any Reader) throws -> Bool {
        try reader.activate(.typeA()) != nil || reader.activate(.typeB()) != nil
    }
}
