// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import ReaderTesting
import Testing
import VirtualReader

/// The conformance suites on the readers without hardware.
struct VirtualConformanceTests {
    @Test func inProcess() throws {
        let report = try ReaderConformance.check { field, token in InProcessReader(field, cancellation: token) }
        #expect(report == ConformanceReport())
    }

    @Test("Classic and passwords") func protectedCards() throws {
        let field = VirtualField()
        let report = try ReaderConformance.protectedCards(
            InProcessReader(field), ConformanceStage(field), CancellationToken())
        #expect(report == ConformanceReport())
    }

    @Test func skipsWhatTheReaderDoesNotSupport() throws {
        let information = ReaderInformation(id: "felica-only", name: "FeliCa only")
        let report = try ReaderConformance.check { field, token in
            InProcessReader(field, information: information, cancellation: token)
        }
        #expect(report.breaches == [])
        #expect(
            report.skipped == ["typeA", "typeB", "typeA: presence of a card", "typeB: presence of a card"])
    }

    @Test(arguments: Mistake.allCases) func detects(_ mistake: Mistake) throws {
        let report = try ReaderConformance.check { field, token in
            MistakenReader(InProcessReader(field, cancellation: token), mistake)
        }
        #expect(report.breaches.contains { $0.hasPrefix(mistake.breach) }, "\(report)")
    }

    @Test func replayedFeliCa() throws {
        try expectReplay(ReaderConformance.feliCa)
    }

    @Test func replayedTypesAAndB() throws {
        try expectReplay(ReaderConformance.iso14443)
    }

    private func expectReplay(
        _ suite: (any Reader, ConformanceStage, CancellationToken) throws -> ConformanceReport
    ) throws {
        let field = VirtualField()
        let recorded = CancellationToken()
        var lines = ""
        let recorder = RecordingReader(InProcessReader(field, cancellation: recorded)) { lines += $0 + "\n" }
        #expect(try suite(recorder, ConformanceStage(field), recorded) == ConformanceReport())
        let token = CancellationToken()
        let replay = ReplayReader(try Transcript(parsing: Array(lines.utf8)), cancellation: token)
        #expect(try suite(replay, .recording, token) == ConformanceReport())
    }
}

/// A mistake of a driver, and the beginning of the breach that reports it.
enum Mistake: CaseIterable {
    case wrongIDm, cutAnswer, silenceAsFailure, ignoresCancellation, worksAfterClosing, keepsFile

    var breach: String {
        switch self {
        case .wrongIDm: "finds 0003"
        case .cutAnswer: "reading 15 blocks"
        case .silenceAsFailure: "reports a silent card"
        case .ignoresCancellation: "is cancelled while exchanging"
        case .worksAfterClosing: "works after closing"
        case .keepsFile: "typeA: the file is still selected"
        }
    }
}

/// A reader that makes one mistake.
private final class MistakenReader: Reader {
    let information: ReaderInformation
    private let reader: InProcessReader
    private let mistake: Mistake
    private var found: PICC?

    init(_ reader: InProcessReader, _ mistake: Mistake) {
        self.reader = reader
        self.mistake = mistake
        information = reader.information
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        switch (mistake, found) {
        case (.keepsFile, .typeA(let target)?) where target.isISODEP && request == .typeA(): return found
        default: break
        }
        do throws(TransportError) {
            found = try reader.activate(request)
        } catch {
            if mistake == .worksAfterClosing { return nil }
            throw error
        }
        guard mistake == .wrongIDm, case .felica(let target)? = found else { return found }
        return .felica(
            FeliCaTarget(
                idm: .init(rawValue: target.idm.rawValue ^ 1), pmm: target.pmm, requestData: target.requestData,
                bitRate: target.bitRate))
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        do throws(TransportError) {
            let answer = try reader.transceive(frame, timeout: timeout)
            return mistake == .cutAnswer ? Array(answer.prefix(240)) : answer
        } catch {
            switch (mistake, error) {
            case (.silenceAsFailure, .noAnswer): throw .readerTimeout
            case (.ignoresCancellation, .cancelled): return []
            default: throw error
            }
        }
    }

    func isCardPresent() throws(TransportError) -> Bool? { try reader.isCardPresent() }

    func close() { reader.close() }
}
