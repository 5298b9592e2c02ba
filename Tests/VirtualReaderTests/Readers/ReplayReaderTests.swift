// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// What a recording reader writes down, a replaying reader plays.
struct ReplayReaderTests {
    static let second = Duration.seconds(1)

    /// Some work with a card, with every kind of outcome.
    private func work(_ reader: any Reader) -> [String] {
        func outcome<Value>(_ body: () throws(TransportError) -> Value) -> String {
            do { return "\(try body())" } catch { return "\(error)" }
        }
        return [
            outcome { () throws(TransportError) in try reader.activate(.felica(.octopus)) },
            outcome { () throws(TransportError) in try reader.activate(.felica(.any, requestCode: 1)) },
            outcome { () throws(TransportError) in
                try reader.transceive(InProcessReaderTests.request, timeout: Self.second)
            },
            outcome { () throws(TransportError) in
                try reader.transceive(VirtualFieldTests.read, timeout: Self.second)
            },
            outcome { () throws(TransportError) in
                try reader.transceive(VirtualFieldTests.read, timeout: Self.second)
            },
            outcome { () throws(TransportError) in
                try reader.transceive([UInt8](repeating: 0, count: 300), timeout: Self.second)
            },
        ]
    }

    private func record() throws -> (lines: [String], outcomes: [String]) {
        var lines: [String] = []
        let field = VirtualField(cards: [try VirtualFieldTests.card()], faults: .once(.damaged(status: 5), at: 4))
        var time = 0
        let reader = RecordingReader(
            InProcessReader(field),
            now: {
                time += 1500
                return .microseconds(time)
            }
        ) { lines.append($0) }
        let outcomes = work(reader)
        reader.close()
        return (lines, outcomes)
    }

    @Test func sameRequestsGiveTheSameAnswers() throws {
        let (lines, outcomes) = try record()
        let text = lines.joined(separator: "\n")
        let transcript = try Transcript(parsing: Array(text.utf8))
        #expect(transcript.text == text + "\n")
        let replay = ReplayReader(transcript)
        #expect(replay.information == InProcessReader().information)
        #expect(work(replay) == outcomes)
        #expect(replay.finish().isEmpty)
        replay.close()
    }

    @Test func writesTheLines() throws {
        let lines = try record().lines
        #expect(
            lines == [
                """
                {"schema":"kazasu.trace/1","reader":{"id":"in-process","name":"Virtual reader",\
                "longestFeliCaAnswer":255,"feliCaBitRates":[212,424],"technologies":["felica","typeA","typeB"],\
                "longestCommandAPDU":261,"longestResponseAPDU":258}}
                """,
                """
                {"t":1.5,"op":"activate","request":{"technology":"felica","systemCode":"8008","requestCode":0,\
                "timeSlots":0,"bitRate":212},"picc":null}
                """,
                """
                {"t":3,"op":"activate","request":{"technology":"felica","systemCode":"FFFF","requestCode":1,\
                "timeSlots":0,"bitRate":212},"picc":{"technology":"felica","idm":"0102030405060708",\
                "pmm":"01368b868fbecbff","requestData":"0003","bitRate":212}}
                """,
                """
                {"t":4.5,"op":"transceive","tx":"0a0c0102030405060708","timeoutMs":1000,\
                "rx":"0d0d0102030405060708010003"}
                """,
                """
                {"t":6,"op":"transceive","tx":"10060102030405060708010b10018000","timeoutMs":1000,\
                "error":"corrupted","status":"05"}
                """,
                """
                {"t":7.5,"op":"transceive","tx":"10060102030405060708010b10018000","timeoutMs":1000,\
                "rx":"1d07010203040506070800000100000000000000000000000000000000"}
                """,
                """
                {"t":9,"op":"transceive","tx":"\(String(repeating: "00", count: 300))","timeoutMs":1000,\
                "error":"frameTooLong","length":300,"limit":262}
                """,
            ])
    }

    @Test func namesTheLineOfADifferentRequest() throws {
        let transcript = try Transcript(parsing: Array(record().lines.joined(separator: "\n").utf8))
        let replay = ReplayReader(transcript)
        #expect(
            throws: TransportError.outOfScript(
                detail: .init(
                    .transcriptDiffers, "2", "activate 8008 (request code 0, time slots 0, 212 kbit/s)",
                    "activate FFFF (request code 0, time slots 0, 212 kbit/s)"))
        ) { try replay.activate(.felica(.any)) }
        #expect(try replay.activate(.felica(.octopus)) == nil)
        #expect(
            throws: TransportError.outOfScript(
                detail: .init(
                    .transcriptDiffers, "3", "activate FFFF (request code 1, time slots 0, 212 kbit/s)",
                    "transceive 0a0c <IDm>"))
        ) { try replay.transceive(InProcessReaderTests.request, timeout: Self.second) }
        #expect(try replay.activate(.felica(.any, requestCode: 1)) != nil)
        var other = InProcessReaderTests.request
        other[9] ^= 1
        #expect(
            throws: TransportError.outOfScript(
                detail: .init(
                    .transcriptDiffersAt, "4", "transceive 0a0c <IDm>", "transceive 0a0c <IDm>", "9"))
        ) { try replay.transceive(other, timeout: Self.second) }
        #expect(replay.finish().count == 4)
        #expect(replay.finish().last == "line 7: never asked: transceive 00000000… (300 bytes)")
    }

    @Test func replaysA424AnswerAt212() throws {
        let fast = ActivationRequest.felica(.any, requestCode: 1, bitRate: .kbps424)
        let target = FeliCaTarget(
            idm: IDm(rawValue: 1), pmm: PMm(rawValue: 2), requestData: 0xFE00, bitRate: .kbps424)
        let events: [TranscriptEntry.Event] = [
            .activate(.felica(.transit), .success(nil)), .activate(fast, .success(.felica(target))),
        ]
        let replay = ReplayReader(
            Transcript(
                reader: InProcessReader().information,
                entries: events.map { TranscriptEntry(time: .zero, event: $0) }))
        for _ in 0..<2 {
            guard case .felica(let found)? = try replay.activate(.felica(.any, requestCode: 1)) else {
                Issue.record("no card")
                return
            }
            #expect(found.bitRate == .kbps212 && found.requestData == 0xFE00 && found.idm == target.idm)
        }
        #expect(throws: TransportError.self) { try replay.activate(.felica(.octopus, requestCode: 1)) }
        #expect(try replay.activate(fast) == .felica(target))
        #expect(replay.finish().isEmpty)
    }

    @Test func endOfATranscript() throws {
        let replay = ReplayReader(Transcript(reader: InProcessReader().information))
        #expect(
            throws: TransportError.outOfScript(
                detail: .init(.transcriptEnded, "transceive 0600ffff0000"))
        ) { try replay.transceive(VirtualFieldTests.polling, timeout: .zero) }
        let token = CancellationToken()
        token.cancel()
        let cancelled = ReplayReader(Transcript(reader: InProcessReader().information), cancellation: token)
        #expect(throws: TransportError.cancelled) { try cancelled.activate(.felica(.any)) }
    }

    @Test func maskedBytesAreNotCompared() throws {
        let secret: [UInt8] = [0x00, 0x20, 0x00, 0x81, 0x04, 0x31, 0x32, 0x33, 0x34]
        let answer = Result<[UInt8], TransportError>.success([0x90, 0x00])
        let entry = TranscriptEntry(time: .zero, event: .transceive(secret, timeout: Self.second, answer))
        let written = Transcript(reader: InProcessReader().information, entries: [entry.masking(5..<100)]).text
        #expect(!written.contains("31323334"))
        let replay = ReplayReader(try Transcript(parsing: Array(written.utf8)))
        var other = secret
        other[4] = 5
        #expect(
            throws: TransportError.outOfScript(
                detail: .init(
                    .transcriptDiffersAt, "2", "transceive 00200081… (9 bytes)", "transceive 00200081… (9 bytes)", "4"))
        ) { try replay.transceive(other, timeout: Self.second) }
        #expect(try replay.transceive(secret, timeout: Self.second) == [0x90, 0x00])
    }
}
