// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NDEF
import TestSupport
import Testing

@Suite("Against ndeflib, which nobody here wrote")
struct NdeflibTests {
    private static let alphabet = Array("abcXYZ 0123-_/äéあ漢😀")

    private static func text(_ generator: inout SeededGenerator, _ count: ClosedRange<Int> = 0...30) -> String {
        String(
            (0..<Int.random(in: count, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? "x"
            })
    }

    private static func uri(_ generator: inout SeededGenerator) -> String {
        let prefixes = [
            "", "http://www.", "https://", "tel:", "mailto:", "urn:nfc:", "urn:epc:id:", "ftp://ftp.", "x:",
        ]
        let rest = (0..<Int.random(in: 1...30, using: &generator)).map { _ in
            Array("abcdefgh0123456789-._~/").randomElement(using: &generator) ?? "x"
        }
        return (prefixes.randomElement(using: &generator) ?? "") + String(rest)
    }

    /// A record of any kind, and the form in which ``Ndeflib`` prints it.
    private static func record(
        _ generator: inout SeededGenerator, mayBePoster: Bool
    ) throws -> (NDEFRecord, String) {
        let id: [UInt8]? =
            Bool.random(using: &generator) ? nil : [0x41, UInt8.random(in: 0x30...0x7A, using: &generator)]
        let name = Hex.encode(id ?? [])
        let data = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        func hex(_ text: String) -> String { Hex.encode(text.utf8) }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            let encoding: NDEFText.Encoding = Bool.random(using: &generator) ? .utf8 : .utf16
            let text = NDEFText(text(&generator), language: "ja", encoding: encoding)
            return (
                try NDEFRecord(.text(text), id: id),
                "urn:nfc:wkt:T|\(name)|text|ja|\(encoding.rawValue)|\(hex(text.text))"
            )
        case 1:
            let uri = uri(&generator)
            return (try NDEFRecord(.uri(NDEFURI(uri)), id: id), "urn:nfc:wkt:U|\(name)|uri|\(hex(uri))")
        case 2 where mayBePoster:
            let (uri, title) = (uri(&generator), text(&generator, 1...10))
            let poster = NDEFSmartPoster(NDEFURI(uri), titles: [NDEFText(title)], action: .save)
            return (
                try NDEFRecord(.smartPoster(poster), id: id),
                "urn:nfc:wkt:Sp|\(name)|poster|\(hex(uri))|en=\(hex(title))"
            )
        case 3:
            return (
                try NDEFRecord(.mime(type: "text/plain", data: data), id: id),
                "text/plain|\(name)|data|\(Hex.encode(data))"
            )
        case 4:
            return (
                try NDEFRecord(.external(type: "kazasu.example:x", data: data), id: id),
                "urn:nfc:ext:kazasu.example:x|\(name)|data|\(Hex.encode(data))"
            )
        default: return (try NDEFRecord(.unknown(data: data), id: id), "unknown|\(name)|data|\(Hex.encode(data))")
        }
    }

    @Test("Kazasu and ndeflib read each other's messages", .needs(python: "ndef"))
    func bothWays() throws {
        var generator = SeededGenerator(seed: 0x4E44_4546)
        var messages: [NDEFMessage] = []
        var expected: [String] = []
        for _ in 0..<300 {
            var records: [(NDEFRecord, String)] = []
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                // Behind a poster at the start, ndeflib takes further ones for unknown data.
                let hasPoster = records.contains { $0.0.typeText == "Sp" }
                records.append(try Self.record(&generator, mayBePoster: !hasPoster))
            }
            messages.append(NDEFMessage(records.map(\.0)))
            expected.append(records.map(\.1).joined(separator: ";"))
        }
        guard let lines = try Ndeflib.read(messages.map { try $0.encoded() }) else {
            Issue.record("KAZASU_PYTHON names no Python with ndeflib")
            return
        }
        #expect(lines.count == messages.count)
        for ((line, message), said) in zip(zip(lines, messages), expected) {
            let parts = line.split(separator: " ")
            try #require(parts.count == 2, "\(line): \(said)")
            #expect(parts[0] == said)
            let again = try NDEFMessage(decoding: Hex.decode(parts[1]))
            #expect(again.records.count == message.records.count)
            for (theirs, ours) in zip(again.records, message.records) {
                #expect(try Said(theirs.content()) == Said(ours.content()))
                #expect(theirs.id ?? [] == ours.id ?? [])
            }
        }
    }
}
