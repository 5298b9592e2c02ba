// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing
import USBTransport

@testable import PaSoRiReader

/// The recordings of PaSoRi, played to their drivers transfer by transfer.
@Suite("Recorded transfers of PaSoRi")
struct RecordedTransferTests {
    static let files = RecordedLink.files(of: "rcs380", "rcs300")

    @Test("The driver sends the recorded commands and returns the recorded results", arguments: files)
    func recorded(file: String) throws {
        let transcript = try RecordedLink.transcript(file)
        let recorded = RecordedLink(transcript)
        #expect(!recorded.entries.isEmpty)
        let link = RecordedUSBLink(recorded)
        let token = CancellationToken()
        let reader: any Reader =
            transcript.reader.id.hasPrefix("rcs380")
            ? try PaSoRiReader(rcs380: link, transcript.reader, token)
            : try PaSoRiReader(rcs300: link, transcript.reader, token, pause: { _ in })
        #expect(recorded.differences(on: reader) == [])
        if recorded.isWhole {
            reader.close()
            #expect(link.left == 0)
        }
        #expect(link.complaint == nil)
    }

    @Test("Every transfer failure has its own keyword")
    func words() {
        for error in [USBError.timedOut, .stalled, .overflow, .gone, .taken, .cancelled, .failed(code: -99)] {
            #expect(USBError(word: error.word) == error)
        }
        #expect(USBError(word: "failed") == nil)
    }
}

/// A link that gives what was recorded, as long as it is asked what was asked then.
final class RecordedUSBLink: USBLink {
    private var events: ArraySlice<RecordedLink.Event>
    /// What was done otherwise than it was recorded, the first time.
    private(set) var complaint: String?
    /// How much of the recording is left.
    var left: Int { events.count }

    init(_ recorded: RecordedLink) { events = recorded.events[...] }

    func send(_ bytes: [UInt8], within time: Duration) throws(USBError) {
        guard case .sent(bytes)? = events.first else { throw differs("\(bytes) was sent") }
        events = events.dropFirst()
        // A transfer to the reader that failed.
        if case .failed(let word)? = events.first, let error = USBError(word: word), error != .timedOut {
            events = events.dropFirst()
            throw error
        }
    }

    func receive(within time: Duration) throws(USBError) -> [UInt8] {
        switch events.first {
        case .received(let bytes)?:
            events = events.dropFirst()
            return bytes
        case .failed(let word)?:
            events = events.dropFirst()
            throw USBError(word: word) ?? .gone
        default: throw differs("a transfer was asked for")
        }
    }

    func ignoreCancellation() {}

    func close() {}

    private func differs(_ what: String) -> USBError {
        complaint = complaint ?? "\(what), expected \(String(describing: events.first))"
        return .gone
    }
}

extension USBError {
    /// Returns the error of a keyword in a recording.
    fileprivate init?(word: String) {
        switch word {
        case "timedOut": self = .timedOut
        case "stalled": self = .stalled
        case "overflow": self = .overflow
        case "gone": self = .gone
        case "taken": self = .taken
        case "cancelled": self = .cancelled
        default:
            guard word.hasPrefix("failed "), let code = Int32(word.dropFirst(7)) else { return nil }
            self = .failed(code: code)
        }
    }
}
