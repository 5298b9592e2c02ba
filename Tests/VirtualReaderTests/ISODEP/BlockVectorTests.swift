// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Testing
import VirtualReader

/// Blocks byte for byte, as nfcpy's tests send them to a card.
@Suite("ISO-DEP: the card's side")
struct BlockVectorTests {
    @Test func commandsAndAnswersWithAlternatingNumbers() throws {
        let raw = try RawCard.typeA(FileCards.scripted(["01": ["0203"], "0102": ["0203"]]))
        #expect(try raw.ask("0201") == "020203")
        #expect(try raw.ask("030102") == "030203")
    }

    @Test func commandInParts() throws {
        let raw = try RawCard.typeA(FileCards.scripted(["010203040506": ["0203"]]))
        #expect(try raw.ask("120102030405") == "a2")
        #expect(try raw.ask("0306") == "030203")
    }

    @Test func answerInPartsWithARepeatedPart() throws {
        let raw = try RawCard.typeA(FileCards.scripted(["01": ["000102030405060708090a0b0c0d0e0f10"]]), rats: "e000")
        #expect(try raw.ask("0201") == "12000102030405060708090a0b0c")
        #expect(try raw.ask("b2") == "12000102030405060708090a0b0c", "R(NAK) with the same number asks again")
        #expect(try raw.ask("a3") == "030d0e0f10")
        #expect(try raw.ask("b3") == "030d0e0f10")
        #expect(try raw.ask("b2") == "a3", "R(NAK) with the other number: the card is there and waits")
        #expect(try raw.ask("0201").map { $0.hasPrefix("12") } == true)
    }

    @Test func waitingTimeExtensionsComeFirst() throws {
        var options = ISODEPOptions()
        options.waitingTimeExtensions = 2
        options.waitingTimeMultiplier = 2
        let raw = try RawCard.typeA(FileCards.scripted(["0102": ["0203"]], options))
        #expect(try raw.ask("020102") == "f202")
        #expect(try raw.ask("b2") == "f202", "asked again")
        #expect(try raw.ask("f202") == "f202")
        #expect(try raw.ask("f202") == "020203")
    }

    @Test func cardNumber() throws {
        let raw = try RawCard.typeA(FileCards.scripted(["01": ["0203"]]), rats: "e083")
        #expect(try raw.ask("0a0301") == "0a030203")
        #expect(try raw.ask("0301") == nil, "a block without the number is not for card 3")
        #expect(try raw.ask("0b0401") == nil)
        #expect(try raw.ask("c2") == nil)
        #expect(try raw.ask("ca03") == "ca03")
    }

    @Test func cardWithoutANumber() throws {
        let raw = try RawCard.typeA(FileCards.scripted(["01": ["0203"]], ats: "0578008100"))
        #expect(try raw.ask("0a0001") == nil)
        #expect(try raw.ask("0201") == "020203")
    }

    @Test func deselectHaltsTheCard() throws {
        let card = try FileCards.scripted(["01": ["0203"]])
        let raw = try RawCard.typeA(card)
        #expect(try raw.ask("c2") == "c2")
        #expect(try raw.ask("0201") == nil)
        #expect(try raw.ask("26", bits: 7, crc: false) == nil)
        #expect(try raw.ask("52", bits: 7, crc: false) == "0400")
        card.losePower()
        #expect(try raw.ask("26", bits: 7, crc: false) == "0400")
    }

    @Test(arguments: ["", "02", "e080", "26", "9320", "62", "c3", "f2", "f20102", "a200", "0601", "ff", "5000"])
    func ignoresMalformedBlocks(_ frame: String) throws {
        let raw = try RawCard.typeA(FileCards.scripted(["01": ["0203"]]))
        let answer = try raw.ask(frame)
        #expect(frame == "02" ? answer == "026700" : answer == nil)
        #expect(try raw.ask("0201").map { $0.hasSuffix("0203") } == true, "and changes nothing")
    }

    @Test func frameLongerThanTheCardAccepts() throws {
        let raw = try RawCard.typeA(FileCards.scripted([:], ats: "0570008102"))
        #expect(try raw.ask("0200a4000000000000000000000000") == nil)
        #expect(try raw.ask("0200a400000000000000000000") == "026700")
    }

    @Test func acceptsProtocolParameters() throws {
        let raw = try RawCard.typeA(FileCards.scripted(["01": ["0203"]]))
        #expect(try raw.ask("d01100") == "d0")
        #expect(try raw.ask("d01100") == nil, "only once, right after RATS")
        #expect(try raw.ask("0201") == "020203")
    }
}
