// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("Cards that leave, keep silent or answer nonsense", .waits)
struct CardFaultTests {
    private func dump(_ folder: TemporaryFolder, _ name: String) throws -> CardDump {
        try CardDump(parsing: try TestFiles.read("\(folder.path)/\(name)"))
    }

    private func isSameCard(_ one: CardDump, _ other: CardDump) -> Bool {
        var (one, other) = (one, other)
        (one.readAt, other.readAt, one.reader, other.reader) = (nil, nil, nil, nil)
        return one.json.prettyText == other.json.prettyText
    }

    /// The undisturbed dump takes 22 exchanges.
    @Test("A card that leaves at any exchange", arguments: 1...24)
    func leaves(at exchange: Int) throws {
        let folder = try TemporaryFolder()
        let whole = try folder.card(Card.transit(), as: "whole.json")
        let leaving = try folder.card(Card.transit(faults: #"{"fault":"absent","from":\#(exchange)}"#))
        let undisturbed = try Kazasu.run("dump", "-o", "\(folder.path)/expected", "-r", whole)
        try #require(undisturbed.hasEnded(0), "\(undisturbed.errors)")
        let part = "\(folder.path)/part"
        let result = try Kazasu.run("dump", "-o", part, "-r", leaving, "-t", "0")
        #expect(result.output.isEmpty)
        if exchange == 1 {
            result.expectError(75, "no card")
            #expect(!folder.names.contains("part"))
            return
        }
        let expected = try dump(folder, "expected")
        if result.hasEnded(0) {
            // It left when all was read: when systems that are not on the card's list were asked for.
            #expect(exchange > 18)
            #expect(try isSameCard(dump(folder, "part"), expected))
            return
        }
        result.expectError(74, "the card left the reader; the data read so far is kept")
        #expect(result.errors.contains("hint: continue with: kazasu dump --resume \(part) -o \(part)"))
        let kept = try dump(folder, "part")
        #expect(!kept.isComplete)
        #expect(!kept.missing.isEmpty)
        #expect(kept.missing.allSatisfy { $0.reason == .cardLost })
        #expect(try Kazasu.run("dump", "--resume", part, "-o", part, "-r", whole).hasEnded(0))
        #expect(try isSameCard(dump(folder, "part"), expected))
        #expect(folder.names == ["card.json", "expected", "part", "whole.json"], "no file is left over")
    }

    @Test("Prints the blocks that were read")
    func keptOnOutput() throws {
        let folder = try TemporaryFolder()
        let leaving = try folder.card(Card.long(faults: #"{"fault":"absent","from":40}"#))
        let text = try Kazasu.run("dump", "-r", leaving, "-t", "0")
        text.expectError(74)
        #expect(text.output.contains("0003 900B 0000 00000000000000000000000000000000\n"))
        #expect(text.output.contains("# missing: 0003 900B from block "))
        let json = try Kazasu.run("dump", "--json", "-r", leaving, "-t", "0")
        #expect(try json.errorDocument().required("reason").text() == "cardLost")
        let kept = try CardDump(parsing: Array(json.output.utf8))
        #expect(!kept.isComplete)
        #expect(kept.systems.first?.services.first { $0.code.rawValue == 0x900B }?.blocks.isEmpty == false)
    }

    @Test("Another card does not go on with a dump")
    func otherCardOnResume() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/part"
        let leaving = try folder.card(Card.transit(faults: #"{"fault":"absent","from":9}"#))
        #expect(try Kazasu.run("dump", "-o", path, "-r", leaving, "-t", "0").hasEnded(74))
        let before = try folder.text("part")
        let result = try Kazasu.run("dump", "--resume", path, "-o", path, "-r", Card.fixture("edy"))
        result.expectError(76, "this is not the card in")
        #expect(try folder.text("part") == before)
    }

    /// A fault, and what the sentence says of it.
    static let answers: [(fault: String, words: String)] = [
        (#""truncated","length":5"#, "its length is wrong"), (#""truncated","length":0"#, "the card"),
        (#""truncated","length":27"#, "its length is wrong"), (#""lengthened""#, "its length is wrong"),
        (#""otherIDm""#, "it carries another card's IDm"), (#""wrongCount""#, "its count is wrong"),
        (#""wrongResponseCode""#, "its response code is wrong"), (#""flipped","offset":0"#, "its length is wrong"),
        (#""damaged","status":"02""#, "the card's answers were corrupted"),
        (#""damaged","status":"06""#, "the card's answers were corrupted"),
    ]

    @Test("Answers that no card may give", arguments: answers)
    func nonsense(_ row: (fault: String, words: String)) throws {
        let folder = try TemporaryFolder()
        let card = try folder.card(Card.transit(faults: #"{"fault":\#(row.fault),"command":"06","from":1}"#))
        let balance = try Kazasu.run("balance", "-r", card, "-t", "0")
        balance.expectError(74, row.words)
        #expect(balance.output.isEmpty, "no number that was not on the card")
        let dump = try Kazasu.run("dump", "-r", card, "-t", "0", "--lang", "ja")
        dump.expectError(74, "それまでに読んだ分は残っています")
        #expect(dump.output.contains("# missing: 0003 008B"))
    }

    @Test("One damaged answer is asked for again", arguments: ["damaged", "otherIDm", "wrongCount", "lengthened"])
    func once(fault: String) throws {
        let folder = try TemporaryFolder()
        let card = try folder.card(Card.transit(faults: #"{"fault":"\#(fault)","command":"06","at":1}"#))
        let result = try Kazasu.run("balance", "-r", card, "-t", "0")
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.output == "10\n")
    }

    @Test("A card that is silent to reads is there all the same")
    func silent() throws {
        let folder = try TemporaryFolder()
        let card = try folder.card(Card.transit(faults: #"{"fault":"silence","command":"06","from":1}"#))
        try Kazasu.run("balance", "-r", card, "-t", "0").expectError(74, "the card answers too little")
        try Kazasu.run("read", "008B", "-r", card, "-t", "0", "--lang=ja").expectError(74, "カードの応答が足りず")
    }

    @Test("Prints the blocks that were read, and marks the others")
    func readIncomplete() throws {
        let folder = try TemporaryFolder()
        let card = try folder.card(Card.transit())
        let refused = try Kazasu.run("read", "090F", "--blocks", "0,5", "-r", card, "-t", "0", "--json")
        #expect(refused.hasEnded(77), "\(refused.errors)")
        #expect(refused.output.contains(#""complete": false"#) && refused.output.contains(#""0000": "1601"#))
        let text = try Kazasu.run("read", "090F", "--blocks", "0,5", "-r", card, "-t", "0")
        #expect(
            text.hasEnded(77) && text.output.hasPrefix("0003 090F 0000 ") && text.output.hasSuffix("\n# not complete\n")
        )
        let whole = try Kazasu.run("read", "090F", "--blocks", "0", "-r", card, "-t", "0", "--json")
        #expect(whole.hasEnded(0) && whole.output.contains(#""complete": true"#))
    }

    /// Two cards that answer at once garble each other's answer to a Polling.
    @Test("No card, and two cards", arguments: ["absent", "silence", "damaged", "truncated\",\"length\":\"3"])
    func noCard(fault: String) throws {
        let folder = try TemporaryFolder()
        let rule = #"{"fault":"\#(fault)","from":1}"#.replacing(#":"3""#, with: ":3")
        let card = try folder.card(Card.transit(faults: rule))
        for command in [
            ["poll"], ["scan"], ["dump"], ["balance"], ["history"], ["read", "008B"], ["felica", "0C:IDM"],
        ] {
            let result = try Kazasu.run(command + ["-r", card, "--timeout", "0"])
            result.expectError(75, "put one card")
            #expect(result.output.isEmpty)
        }
        let json = try Kazasu.run("poll", "--json", "-r", card, "-t", "0")
        #expect(try json.errorDocument().required("status").integer() == 75)
        try Kazasu.run("poll", "-t", "0.2", "-r", card, "--lang", "ja").expectError(75, "1 枚だけ")
    }

    @Test("A card of the wrong kind is named", arguments: ["luluca", "felica-lite-s"])
    func wrongKind(card: String) throws {
        let name = card == "luluca" ? "04A6 LuLuCa" : "88B4 FeliCa Lite"
        for command in ["balance", "history"] {
            let result = try Kazasu.run(command, "-r", Card.fixture(card))
            result.expectError(76, name)
            #expect(result.output.isEmpty)
        }
        let json = try Kazasu.run("balance", "--card", "edy", "--json", "-r", Card.fixture("awkward"))
        #expect(try json.errorDocument().required("reason").text() == "otherCard")
        try Kazasu.run("poll", "--system", "0003,FE00", "-r", Card.fixture(card), "--lang=ja").expectError(76)
    }

    @Test("A card that has the system but none of the services is another card, not one that refuses")
    func withoutTheService() throws {
        let common = "FE00 Common Area"
        for command in ["balance", "history"] {
            try Kazasu.run(command, "-r", Card.fixture("quicpay")).expectError(76, common)
            let edy = try Kazasu.run(command, "--card", "edy", "-r", Card.fixture("suica-p1"))
            edy.expectError(76, "it is not Rakuten Edy")
            let japanese = try Kazasu.run(command, "--card", "edy", "--lang=ja", "-r", Card.fixture("suica-p1"))
            japanese.expectError(76, "ではありません")
        }
    }
}
