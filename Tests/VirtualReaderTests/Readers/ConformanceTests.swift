// SPDX-License-Identifier: Apache-2.0

import NFCTransport
import ReaderConformance
import Testing
import VirtualReader

/// What every reader must do, on the readers that have no hardware at all.
struct VirtualConformanceTests {
    @Test func inProcess() throws {
        let field = VirtualField(cards: [try ReaderConformance.card()])
        let token = CancellationToken()
        var conformance = ReaderConformance(
            InProcessReader(field, cancellation: token), field: field, cancellation: token)
        conformance.run()
        #expect(conformance.breaches == [])
    }

    @Test func aRecordingOfIt() throws {
        let field = VirtualField(cards: [try ReaderConformance.card()])
        let recorded = CancellationToken()
        var lines = ""
        let recorder = RecordingReader(InProcessReader(field, cancellation: recorded)) { lines += $0 + "\n" }
        var first = ReaderConformance(recorder, field: nil, cancellation: recorded)
        first.run()
        #expect(first.breaches == [])
        let token = CancellationToken()
        let replay = ReplayReader(try Transcript(parsing: Array(lines.utf8)), cancellation: token)
        var second = ReaderConformance(replay, field: nil, cancellation: token)
        second.run()
        #expect(second.breaches == [])
    }
}
