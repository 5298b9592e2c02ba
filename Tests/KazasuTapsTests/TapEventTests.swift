// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@testable import KazasuTaps

@Suite("Documents of events")
struct TapEventTests {
    private static let head =
        #"{"schema":"kazasu.tap/1","id":"0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b","seq":7,"type":"TYPE","#
        + #""at":"2026-11-21T20:45:00.123+09:00","mono":123458122,"clock":"synchronised","site":"東京","reader":"door""#
    private static let card =
        #","technology":"felica","system":"0003","tag":"0114b34daa012345","name":"山田","identity":"fixed""#

    /// Lines as they were written before this type existed, except for `name`.
    static let lines = [
        head.replacing("TYPE", with: "reader") + #","state":"ready"}"#,
        head.replacing("TYPE", with: "on").replacing("synchronised", with: "unsynchronised") + card + "}",
        head.replacing("TYPE", with: "on").replacing(#","seq":7"#, with: "") + card + "}",
        head.replacing("TYPE", with: "on") + #","technology":"typeA","identity":"random"}"#,
        head.replacing("TYPE", with: "on") + card + #","card":{"technology":"felica","kind":"transit","brand":null},"#
            + #""balances":[{"kind":"transit","amount":1234,"currency":"JPY","exponent":0}],"#
            + #""records":[{"raw":"00ff","kind":"rail","amount":-1.5}],"readError":"cardLost"}"#,
        head.replacing("TYPE", with: "off") + card
            + #","on":"0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5a","dwellMs":null,"reason":"restart"}"#,
        head.replacing("TYPE", with: "off") + card + #","on":"x","dwellMs":2500}"#,
    ]

    @Test("An event is written as it was read", arguments: lines)
    func roundTrip(line: String) throws {
        let event = try TapEvent(parsing: line)
        #expect(event.line == line)
        #expect(try TapEvent(parsing: event.line) == event)
        #expect(event.moment.milliseconds == 1_795_261_500_123)
    }

    static let damages = [
        ("kazasu.tap/1", "kazasu.tap/2"), (#""seq":7"#, #""seq":0"#), (#""seq":7"#, #""seq":"7""#),
        (#""on","at""#, #""in","at""#), ("2026-11-21T", "2026-02-30T"), ("synchronised", "maybe"),
        (#""technology":"felica","#, ""), ("felica", "radio"), ("fixed", "fluid"), ("0003", "zzzz"), ("door\"", "door"),
        (#""tag":"0114b34daa012345""#, #""tag":7"#), ("{", "["), ("}", #","records":7}"#), ("}", #","balances":{}}"#),
    ]

    @Test("Anything else is refused", arguments: damages)
    func malformed(old: String, new: String) throws {
        let line = Self.head.replacing("TYPE", with: "on") + Self.card + "}"
        let damaged = line.replacing(old, with: new)
        #expect(damaged != line)
        #expect(throws: DocumentError.self) { try TapEvent(parsing: damaged) }
    }

    // MARK: Cards with names

    static let notTags = ["", "01", "0114b34daa01234", "xyz", "0114b34daa012345ff", "山田"]

    @Test("Refuses text that is not a card number", arguments: notTags)
    func notATag(text: String) {
        var known = KnownCards()
        #expect(throws: KnownCards.Refusal.notANumber) { try known.add(text, name: "a") }
    }

    static let tags: [(written: String, technology: Technology, number: [UInt8], tag: String?)] = [
        ("0114B34DAA012345", .felica, [1, 0x14, 0xB3, 0x4D, 0xAA, 1, 0x23, 0x45], "0114b34daa012345"),
        // Another system of the card has another first digit.
        ("41:14:b3:4d:aa:01:23:45", .felica, [1, 0x14, 0xB3, 0x4D, 0xAA, 1, 0x23, 0x45], "0114b34daa012345"),
        ("04 A1-B2 9F", .typeA, [4, 0xA1, 0xB2, 0x9F], "04a1b29f"),
        ("000102030405060708090a0b0c0d0e0f", .typeA, [1, 2, 3, 4], "000102030405060708090a0b0c0d0e0f"),
    ]

    @Test("A card is known by its number in any notation, or by its keyed hash", arguments: tags)
    func known(_ row: (written: String, technology: Technology, number: [UInt8], tag: String?)) throws {
        var known = KnownCards()
        try known.add(row.written, name: "山田")
        #expect(throws: KnownCards.Refusal.twice) { try known.add(row.written, name: "鈴木") }
        #expect(known.name(of: row.technology, number: row.number, tag: row.tag) == "山田")
        #expect(known.name(of: row.technology, number: [9, 9, 9, 9], tag: nil) == nil)
    }
}
