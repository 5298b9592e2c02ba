// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing

/// A transcript that is written while a reader works.
struct RecordingReaderTests {
    /// Answers each frame with the frame reversed, or with an error.
    private final class Mirror: Reader {
        let information = ReaderInformation(
            id: "mirror", name: "Mirror", longestFeliCaAnswer: 99, feliCaBitRates: [.kbps424])
        var failure: TransportError?
        var closed = 0

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            if let failure { throw failure }
            return nil
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            if let failure { throw failure }
            return frame.reversed()
        }

        func close() { closed += 1 }
    }

    /// Gives 0, 1.5, 3 … milliseconds.
    private final class Steps {
        private var time = Duration.zero
        func next() -> Duration {
            defer { time += .microseconds(1500) }
            return time
        }
    }

    /// Notes whether a search is said to go on.
    private final class Followed: FollowedSearch {
        let information = ReaderInformation(id: "followed", name: "Followed")
        private(set) var told: [Bool] = []

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            try activate(request, isFollowed: false)
        }

        func activate(_ request: ActivationRequest, isFollowed: Bool) throws(TransportError) -> PICC? {
            told.append(isFollowed)
            return nil
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] { throw .noAnswer }

        func close() {}
    }

    /// Through a recording, too, a driver learns that the search is repeated.
    @Test func passesOnThatASearchIsFollowed() throws {
        let followed = Followed()
        let reader = RecordingReader(followed, note: { _ in })
        for isFollowed in [true, false] {
            #expect(try reader.look(for: .felica(.transit), isFollowed: isFollowed) == nil)
        }
        #expect(try reader.activate(.felica(.transit)) == nil)
        #expect(followed.told == [true, false, false])
    }

    @Test func recordsRequestsAndAnswers() throws {
        let mirror = Mirror()
        let steps = Steps()
        var lines: [String] = []
        let reader = RecordingReader(mirror, now: steps.next) { lines.append($0) }
        #expect(lines.count == 1, "the first line stands before anything was asked")
        #expect(reader.information == mirror.information)
        #expect(try reader.activate(.felica(.transit, bitRate: .kbps424)) == nil)
        #expect(try reader.transceive([1, 2, 3], timeout: .milliseconds(20)) == [3, 2, 1])
        mirror.failure = .corrupted(status: 0x0A)
        #expect(throws: TransportError.corrupted(status: 0x0A)) { try reader.transceive([4], timeout: .zero) }
        mirror.failure = .readerTimeout
        #expect(throws: TransportError.readerTimeout) { try reader.activate(.felica(.any)) }
        reader.close()
        #expect(mirror.closed == 1)
        #expect(
            lines == [
                #"{"schema":"kazasu.trace/1","reader":{"id":"mirror","name":"Mirror","longestFeliCaAnswer":99,"#
                    + #""feliCaBitRates":[424],"technologies":["felica"],"longestCommandAPDU":261,"#
                    + #""longestResponseAPDU":258}}"#,
                #"{"t":0,"op":"activate","request":{"technology":"felica","systemCode":"0003","requestCode":0,"#
                    + #""timeSlots":0,"bitRate":424},"picc":null}"#,
                #"{"t":1.5,"op":"transceive","tx":"010203","timeoutMs":20,"rx":"030201"}"#,
                #"{"t":3,"op":"transceive","tx":"04","timeoutMs":0,"error":"corrupted","status":"0a"}"#,
                #"{"t":4.5,"op":"activate","request":{"technology":"felica","systemCode":"FFFF","requestCode":0,"#
                    + #""timeSlots":0,"bitRate":212},"error":"readerTimeout"}"#,
            ])
        let transcript = try Transcript(parsing: Array(lines.joined(separator: "\n").utf8))
        #expect(transcript.entries.map(\.line) == Array(lines.dropFirst()))
    }

    @Test func secretsAreMaskedBeforeTheyAreWritten() throws {
        var lines: [String] = []
        let reader = RecordingReader(Mirror(), redact: { $0.masking(1..<3) }, now: { .zero }) { lines.append($0) }
        #expect(
            try reader.transceive([0x20, 0x31, 0x32], timeout: .zero) == [0x32, 0x31, 0x20], "the card gets the PIN")
        #expect(
            lines.last
                == #"{"t":0,"op":"transceive","tx":"200000","masked":{"from":1,"count":2},"timeoutMs":0,"rx":"323120"}"#
        )
    }

    @Test func clockStartsWithTheTranscript() throws {
        var lines: [String] = []
        let reader = RecordingReader(Mirror()) { lines.append($0) }
        for _ in 0..<3 { _ = try reader.transceive([1], timeout: .zero) }
        let times = try Transcript(parsing: Array(lines.joined(separator: "\n").utf8)).entries.map(\.time)
        #expect(times == times.sorted())
        #expect(times.allSatisfy { $0 >= .zero })
    }
}
