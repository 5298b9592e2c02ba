// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NDEF
import TestSupport
import Testing

@Suite("Changed messages, against ndeflib")
struct NdeflibMutationTests {
    /// Where one of both takes a message that the other refuses; everything else is taken or refused by both.
    struct Difference: CustomTestStringConvertible, Sendable {
        /// Why Kazasu refuses it; `nil` when it takes it.
        let ours: NDEFError.Reason?
        /// How ndeflib's refusal begins; `nil` when it takes it.
        let theirs: String?
        let why: String
        var testDescription: String { why }
    }

    static let differences = [
        Difference(ours: nil, theirs: "'ascii' codec can't decode", why: "types are bytes here, ASCII there"),
        Difference(
            ours: nil, theirs: "ndef.record.Record can not convert the record type string",
            why: "a type that should be a URI is shown as it is"),
        Difference(ours: .chunkUnfinished, theirs: nil, why: "ndeflib knows no chunks"),
        Difference(ours: .chunkWithoutStart, theirs: nil, why: "a later chunk is a record of its own there"),
        Difference(ours: .notAURI, theirs: nil, why: "DEL is a control character here"),
        Difference(ours: .notText, theirs: nil, why: "control characters are not a language"),
        Difference(ours: .trailingBytes, theirs: nil, why: "behind the last record of a poster nothing may follow"),
    ]

    /// The vectors of ndeflib's suite with bytes changed, cut off or added.
    private static func mutations() throws -> [[UInt8]] {
        var generator = SeededGenerator(seed: 0x4D55_5441)
        // A record that says to be a later chunk, which chance seldom makes.
        var mutations: [[UInt8]] = [[0xD6, 0x00, 0x00]]
        for vector in MessageVectorTests.valid {
            let bytes = try Hex.decode(vector.hex)
            for _ in 0..<1_500 {
                var changed = bytes
                for _ in 0...Int.random(in: 0...1, using: &generator) { change(&changed, &generator) }
                mutations.append(changed)
            }
        }
        return mutations
    }

    private static func change(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        let place = Int.random(in: bytes.indices, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0 where bytes.count > 1: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
        case 1: bytes.append(UInt8.random(in: 0...255, using: &generator))
        case 2: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
    }

    @Test(
        "Both take a message and read the same in it, or both refuse it; each listed difference occurs",
        .needs(python: "ndef"))
    func bothOrNeither() throws {
        let mutations = try Self.mutations()
        guard let lines = try Ndeflib.read(mutations) else {
            Issue.record("KAZASU_PYTHON names no Python with ndeflib")
            return
        }
        try #require(lines.count == mutations.count)
        var seen: Set<String> = []
        var same = 0
        for (line, bytes) in zip(lines, mutations) {
            let ours = Result { () throws(NDEFError) in
                let message = try NDEFMessage(decoding: bytes, allowingTrailingBytes: true)
                for record in message.records { _ = try record.content() }
                return message
            }
            let refusal = line.hasPrefix("error ") ? String(line.dropFirst(6)) : nil
            switch (ours, refusal) {
            case (.failure, .some): continue
            case (.success(let message), nil):
                same += 1
                try compare(message, line, bytes)
            default:
                let reason: NDEFError.Reason? = if case .failure(let error) = ours { error.reason } else { nil }
                let listed = Self.differences.first { difference in
                    difference.ours == reason
                        && (difference.theirs.map { refusal?.hasPrefix($0) == true } ?? (refusal == nil))
                }
                seen.insert(listed?.why ?? "")
                #expect(listed != nil, "\(Hex.encode(bytes)): \(reason?.rawValue ?? "taken") here, \(line) there")
            }
        }
        #expect(same > 3_000)
        #expect(seen == Set(Self.differences.map(\.why)), "a difference that no message shows is to be taken off")
    }

    /// What ndeflib read, written again by it, says the same.
    private func compare(_ message: NDEFMessage, _ line: Substring, _ bytes: [UInt8]) throws {
        let parts = line.split(separator: " ")
        try #require(parts.count == 2, "\(Hex.encode(bytes)): \(line)")
        let again = try NDEFMessage(decoding: Hex.decode(parts[1]))
        #expect(again.records.count == message.records.count, "\(Hex.encode(bytes))")
        for (theirs, ours) in zip(again.records, message.records) where !Self.isUnmarkedUTF16(ours) {
            #expect(try Self.said(theirs) == Self.said(ours), "\(Hex.encode(bytes)): \(line)")
            #expect(theirs.id ?? [] == ours.id ?? [], "\(Hex.encode(bytes))")
        }
    }

    /// UTF-16 without a mark is big-endian by NFC Forum's specification; ndeflib takes it for little-endian.
    private static func isUnmarkedUTF16(_ record: NDEFRecord) -> Bool {
        guard record.typeText == "T", let status = record.payload.first, status & 0x80 != 0 else { return false }
        let text = record.payload.dropFirst(1 + Int(status & 0x3F)).prefix(2)
        return !text.elementsEqual([0xFE, 0xFF]) && !text.elementsEqual([0xFF, 0xFE])
    }

    /// What a record says; ndeflib lets go of records in a poster that it does not know.
    private static func said(_ record: NDEFRecord) throws -> Said {
        guard case .smartPoster(var poster) = try record.content() else { return Said(try record.content()) }
        poster.others = []
        return Said(.smartPoster(poster))
    }
}
