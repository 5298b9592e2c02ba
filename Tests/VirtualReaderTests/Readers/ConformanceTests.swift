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

    @Test func typesAAndBInProcess() throws {
        let field = VirtualField()
        let token = CancellationToken()
        var conformance = ISO14443Conformance(
            InProcessReader(field, cancellation: token), stage: ConformanceStage(field), cancellation: token)
        try conformance.run()
        #expect(conformance.breaches == [])
        #expect(conformance.skipped == [])
    }

    @Test func aCardIsAskedWhetherItIsThere() throws {
        let field = VirtualField()
        let breaches = try presenceBreaches(InProcessReader(field), ConformanceStage(field))
        #expect(breaches == [])
    }

    @Test func aRecordingOfTypesAAndB() throws {
        let field = VirtualField()
        let recorded = CancellationToken()
        var lines = ""
        let recorder = RecordingReader(InProcessReader(field, cancellation: recorded)) { lines += $0 + "\n" }
        var first = ISO14443Conformance(recorder, stage: ConformanceStage(field), cancellation: recorded)
        try first.run()
        #expect(first.breaches == [])
        let token = CancellationToken()
        let replay = ReplayReader(try Transcript(parsing: Array(lines.utf8)), cancellation: token)
        var second = ISO14443Conformance(replay, stage: .recording, cancellation: token)
        try second.run()
        #expect(second.breaches == [])
        #expect(second.skipped == [])
        // What was asked after the token was cancelled: once while it was open, once when it was closed.
        #expect(replay.finish().count == 2)
    }
}
