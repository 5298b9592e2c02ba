// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import Recordings

@Suite("The check of recordings")
struct CheckTests {
    private static func lines(_ card: String = CourseTests.cards[0]) throws -> [String] {
        try Made(card).text.split(separator: "\n").map { String($0) }
    }

    private static func faults(_ lines: [String]) -> [RecordingCheck.Found] {
        RecordingCheck(Array(lines.map { $0 + "\n" }.joined().utf8), name: nil).faults
    }

    /// A value of a person or a card, and how it gets into a good recording.
    static let planted: [(name: String, card: Int, old: String, new: String)] = [
        ("IDm of a search", 0, "\"idm\":\"", "\"idm\":\"0101031234567890\",\"x\":\""),
        ("IDm", 0, "0000000001\",\"pmm\"", "1234567890\",\"pmm\""),
        ("UID", 4, "\"uid\":\"04000000000001\"", "\"uid\":\"04a1b2c3d4e5f6\""),
        ("PUPI", 6, "\"pupi\":\"00000001\"", "\"pupi\":\"e8253eec\""),
        ("name", 0, "\"distribution\":\"debian 12\"", "\"distribution\":\"Yamada Taro\""),
        ("host", 0, "\"kernel\":\"6.1.0\"", "\"kernel\":\"myhost\""),
        ("address", 0, "\"kernel\":\"6.1.0\"", "\"kernel\":\"192.168.1.20\""),
        ("path", 0, "\"name\":\"other\"", "\"name\":\"/srv/taro/card.json\""),
        ("serial number", 0, "\"id\":\"in-process\"", "\"id\":\"rcs380:serial=0123456\""),
        ("section", 0, "\"command\":\"looks\"", "\"command\":\"taro\""),
        ("tool", 0, "\"tool\":\"kazasu 0.3.0\"", "\"tool\":\"kazasu 0.3.0 of taro\""),
        ("another member", 0, "\"status\":0", "\"status\":0,\"owner\":\"taro\""),
        ("a comment in white space", 0, "\"status\":0", "\"status\": 0"),
    ]

    @Test("A value put in on purpose is refused", arguments: planted.indices)
    func refusesPlanted(index: Int) throws {
        let planted = Self.planted[index]
        var lines = try Self.lines(CourseTests.cards[planted.card])
        let place = try #require(lines.firstIndex { $0.contains(planted.old) }, "\(planted.name)")
        lines[place] = lines[place].replacing(planted.old, with: planted.new, maxReplacements: 1)
        let faults = Self.faults(lines)
        #expect(faults.contains { $0.line == place + 1 }, "\(planted.name): \(faults)")
    }

    static let exchanges: [(name: String, card: Int, tx: String, rx: String, fault: RecordingCheck.Fault)] = [
        (
            "a block", 0, "10060101000000000001010f09018000",
            "1d0701010000000000010000010102030405060708090a0b0c0d0e0f00", .unmasked
        ),
        ("a read of a block", 0, "10060101000000000001010f09018000", "0c070101000000000001ffa6", .notHarmless),
        (
            "a write", 0, "20080101000000000001010900018000" + String(repeating: "00", count: 16),
            "0c0901010000000000010000", .unmasked
        ),
        ("an authentication", 0, "0a100101000000000001", "0a110101000000000001", .notHarmless),
        ("a PIN", 5, "002000820431323334", "9000", .unmasked),
        ("a masked PIN without a mark", 5, "002000820400000000", "9000", .unmasked),
        ("a challenge", 5, "0084000008", "9000", .notHarmless),
        ("READ BINARY", 5, "00b0000010", "9000", .notHarmless),
        ("another name", 5, "00a4040007d276000085010100", "9000", .notHarmless),
        ("a page without a mark", 4, "3004", String(repeating: "00", count: 16), .unmasked),
        ("a signature", 4, "3c00", String(repeating: "ab", count: 32), .unmasked),
        ("the UID in its page", 4, "3000", "04a1b22f" + String(repeating: "0", count: 24), .unmasked),
        ("a key", 4, "1bffffffff", "8080", .unmasked),
    ]

    @Test("An exchange put in on purpose is refused", arguments: exchanges.indices)
    func refusesExchange(index: Int) throws {
        let planted = Self.exchanges[index]
        var lines = try Self.lines(CourseTests.cards[planted.card])
        let place = try #require(lines.lastIndex { $0.contains("\"op\":\"transceive\"") })
        let old = lines[place]
        let time = try #require(old.firstMatch(of: /"t":[0-9.]+/)).output
        lines[place] =
            "{\(time),\"op\":\"transceive\",\"tx\":\"\(planted.tx)\",\"timeoutMs\":50,\"rx\":\"\(planted.rx)\"}"
        #expect(
            Self.faults(lines).contains(.init(line: place + 1, fault: planted.fault)),
            "\(planted.name): \(Self.faults(lines))")
    }

    @Test("Other forms, versions, lengths, digests and times are refused")
    func refusesOthers() throws {
        let made = try Made(CourseTests.cards[0])
        #expect(
            RecordingCheck(made.bytes, name: "virtual-0123456789abcdef.jsonl").faults == [
                .init(line: 1, fault: .digest)
            ])
        #expect(RecordingCheck([], name: nil).faults == [.init(line: 1, fault: .notThisForm)])
        #expect(RecordingCheck(Array(made.bytes.dropLast()), name: nil).faults.count == 1)
        let newer = Array(made.text.replacing("kazasu.recording/1", with: "kazasu.recording/2").utf8)
        #expect(
            RecordingCheck(newer, name: nil).faults == [.init(line: 1, fault: .version(found: "kazasu.recording/2"))])
        #expect(throws: DocumentError.unknownSchema(found: "kazasu.recording/2", supported: Recording.schema)) {
            try Transcript(parsing: newer)
        }
        let long = [UInt8](repeating: UInt8(ascii: "\n"), count: Recording.longestFile + 1)
        #expect(RecordingCheck(long, name: nil).faults == [.init(line: 1, fault: .tooLong)])
        var lines = made.text.split(separator: "\n").map { String($0) }
        let place = try #require(lines.lastIndex { $0.contains("\"t\":") })
        lines[place] = lines[place].replacing(/"t":[0-9.]+/, with: "\"t\":0")
        #expect(Self.faults(lines) == [.init(line: place + 1, fault: .timeGoesBack)])
        // A recording that took three days is fine, and plays without waiting.
        lines[place] = lines[place].replacing("\"t\":0", with: "\"t\":259200000")
        #expect(Self.faults(lines) == [])
    }

    @Test("Ten thousand mutated recordings are refused or as good as before")
    func mutated() throws {
        let originals = try [4, 6].map { try Made(CourseTests.cards[$0]).bytes }
        var generator = SeededGenerator(seed: 53)
        for round in TestEffort.rounds(10_000) {
            var bytes = originals[round % originals.count]
            for _ in 0...Int.random(in: 0..<3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes[place..<min(place + 40, bytes.count)], at: place)
                }
            }
            let check = RecordingCheck(bytes, name: nil)
            guard check.faults.isEmpty else { continue }
            // Nothing that was not there before: the same digits, other places.
            let header = try #require(check.header)
            let text = ([header.line] + check.items.map(\.line)).map { $0 + "\n" }.joined()
            #expect(Array(text.utf8) == bytes)
            #expect(RecordingMask.apply(check.items).map(\.item.line) == check.items.map(\.line))
        }
    }
}
