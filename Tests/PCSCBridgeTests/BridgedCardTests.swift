// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Kazasu
import ReaderCore
import TestSupport
import Testing

@testable import PCSCBridge

@Suite("Cards as PC/SC programs see them")
struct BridgedCardTests {
    /// A card that answers from a list of commands and answers, in hexadecimal digits.
    private final class Channel: CardChannel {
        var sent: [[UInt8]] = []
        private let answers: [String: String]
        private let failure: TransportError?

        init(_ answers: [String: String] = [:], failure: TransportError? = nil) {
            (self.answers, self.failure) = (answers, failure)
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            sent.append(frame)
            if let failure { throw failure }
            guard let answer = answers[Hex.encode(frame, uppercase: true)], let bytes = try? Hex.decode(answer) else {
                throw .noAnswer
            }
            return bytes
        }
    }

    private static let felica = PICC.felica(
        FeliCaTarget(
            idm: IDm(rawValue: 0x0101_0312_3456_7890),
            pmm: PMm(rawValue: 0x0120_2204_2767_4EFF), bitRate: .kbps212))
    private static let ultralight = PICC.typeA(TypeATarget(uid: [0x04, 1, 2, 3, 4, 5, 6], sak: 0, isISODEP: false))
    private static let typeB = PICC.typeB(
        TypeBTarget(
            pupi: [1, 2, 3, 4], applicationData: [0x00, 0x00, 0x05, 0xE0], protocolInfo: [0xB3, 0x81, 0xA1]))

    private static func typeA(ats: String) -> PICC {
        .typeA(TypeATarget(uid: [8, 1, 2, 3], sak: 0x20, ats: try? Hex.decode(ats), isISODEP: true))
    }

    private static func card(_ picc: PICC, guardsPINs: Bool = false, longest: Int = 261) -> BridgedCard {
        BridgedCard(
            picc, on: ReaderInformation(id: "x", name: "x", longestCommandAPDU: longest), guardsPINs: guardsPINs)
    }

    private static func answer(
        _ card: inout BridgedCard, _ apdu: String, _ channel: Channel
    ) throws -> String {
        Hex.encode(try card.answer(try Hex.decode(apdu), over: channel).apdu, uppercase: true)
    }

    /// The ATRs of PC/SC part 3 in pcsc-tools' `smartcard_list.txt` and in OpenSC's pull request 3744.
    @Test(
        "ATRs",
        arguments: [
            (felica, "3B8F8001804F0CA00000030611003B0000000042"),
            (ultralight, "3B8F8001804F0CA0000003060300030000000068"),
            (typeA(ats: "0578807002"), "3B80800101"),
            (typeA(ats: "067877710280"), "3B81800180" + "80"),
            (typeB, "3B888001000005E0B381A1007F"),
        ])
    func atr(_ picc: PICC, _ atr: String) throws {
        let bytes = Self.card(picc).answerToReset
        #expect(Hex.encode(bytes, uppercase: true) == atr)
        #expect(bytes.dropFirst().reduce(0, ^) == 0)
    }

    /// A reader for short APDUs: 256 bytes of a longer file must not look like all of it.
    @Test("An extended Le that the reader cannot carry")
    func extendedLe() throws {
        let whole = String(repeating: "AB", count: 256)
        for (first, rest, expected) in [
            (whole + "9000", nil, "6700"),
            ("AABB9000", nil, "AABB9000"),
            (String(repeating: "AB", count: 255) + "9000", nil, String(repeating: "AB", count: 255) + "9000"),
            (whole + "6102", "CCDD9000", whole + "CCDD9000"),
            ("6A82", nil, "6A82"),
        ] as [(String, String?, String)] {
            var answers = ["00B0000000": first]
            answers["00C0000002"] = rest
            for le in ["000000", "000370"] {
                var card = Self.card(Self.typeA(ats: "0578807002"))
                #expect(
                    try Self.answer(&card, "00B00000" + le, Channel(answers)) == expected, "\(first.suffix(4)) \(le)")
            }
            var card = Self.card(Self.typeA(ats: "0578807002"))
            guard rest == nil else { continue }
            #expect(try Self.answer(&card, "00B0000000", Channel(answers)) == first, "a short Le is the card's matter")
        }
    }

    @Test("Any ATS gives a valid ATR")
    func anyATS() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let ats = (0..<Int.random(in: 0...24, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            let card = Self.card(.typeA(TypeATarget(uid: [], ats: ats, isISODEP: true)))
            let atr = card.answerToReset
            #expect(atr.count == 5 + Int(atr[1] & 0x0F) && atr.count <= 20)
            #expect(atr.dropFirst().reduce(0, ^) == 0)
        }
    }

    @Test("The number and more of any card")
    func numbers() throws {
        let channel = Channel()
        var card = Self.card(Self.felica)
        #expect(try Self.answer(&card, "FFCA000000", channel) == "01010312345678909000")
        #expect(try Self.answer(&card, "FFCA000008", channel) == "01010312345678909000")
        #expect(try Self.answer(&card, "FFCA000004", channel) == "6C08")
        #expect(try Self.answer(&card, "FFCA00000A", channel) == "01010312345678906282")
        #expect(try Self.answer(&card, "FFCA010000", channel) == "0120220427674EFF9000")
        card = Self.card(Self.typeB)
        #expect(try Self.answer(&card, "FFCA000000", channel) == "010203049000")
        #expect(try Self.answer(&card, "FFCA010000", channel) == "6A81")
        #expect(try Self.answer(&card, "FF8600000501000460", channel) == "6700")
        #expect(try Self.answer(&card, "FF86000005", channel) == "6A81")
        #expect(try Self.answer(&card, "00A4", channel) == "6700")
        #expect(channel.sent.isEmpty)
    }

    @Test("Blocks of a FeliCa service, as Sony's commands read them")
    func felicaBlocks() throws {
        let read = "1006" + "0101031234567890" + "010F09018000"
        let channel = Channel([
            read: "1D07" + "0101031234567890" + "000001" + "16010002166CE33BE6210A000001E300",
            "1006" + "0101031234567890" + "010F09018020": "0C07" + "0101031234567890" + "01A8",
            read.replacing("0F09", with: "0E09"): "0B07",
        ])
        var card = Self.card(Self.felica)
        #expect(try Self.answer(&card, "FFB0000000", channel) == "6985", "no service yet")
        #expect(try Self.answer(&card, "FFA40001020F09", channel) == "9000")
        #expect(try Self.answer(&card, "FFB0000000", channel) == "16010002166CE33BE6210A000001E3009000")
        #expect(try Self.answer(&card, "FFB0000010", channel) == "16010002166CE33BE6210A000001E3009000")
        #expect(try Self.answer(&card, "FFB0002000", channel) == "6A82")
        #expect(try Self.answer(&card, "FFA40001030F0900", channel) == "6700")
        #expect(try Self.answer(&card, "00A4040000", channel) == "6E00")
        #expect(try Self.answer(&card, "FF00000010" + read, channel).hasSuffix("E3009000"))
        card.reset()
        #expect(try Self.answer(&card, "FFB0000000", channel) == "6985")
    }

    @Test("Pages of a Type 2 Tag")
    func pages() throws {
        let channel = Channel(["3004": "000102030405060708090A0B0C0D0E0F", "A20411223344": "0A", "A20511223344": "00"])
        var card = Self.card(Self.ultralight)
        #expect(try Self.answer(&card, "FFB0000410", channel) == "000102030405060708090A0B0C0D0E0F9000")
        #expect(try Self.answer(&card, "FFB0000404", channel) == "000102039000")
        #expect(try Self.answer(&card, "FFD600040411223344", channel) == "9000")
        #expect(try Self.answer(&card, "FFD600050411223344", channel) == "6A82")
        #expect(try Self.answer(&card, "FFD6000403112233", channel) == "6700")
        #expect(try Self.answer(&card, "FFB0000510", channel) == "6300", "the tag does not answer")
    }

    @Test("Long commands are sent in parts, or refused")
    func longCommands() throws {
        // 300 bytes: two commands in a chain, and the answer in two parts.
        let data = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let first = "10DA0000FF" + Hex.encode(Array(data.prefix(255)), uppercase: true)
        let second = "00DA00002D" + Hex.encode(Array(data.dropFirst(255)), uppercase: true) + "00"
        let channel = Channel([first: "9000", second: "AABB6102", "00C0000002": "CCDD9000"])
        var card = Self.card(Self.typeB)
        let long = "00DA0000" + "00012C" + Hex.encode(data, uppercase: true) + "0000"
        #expect(try Self.answer(&card, long, channel) == "AABBCCDD9000")
        // A class without chaining.
        let proprietary = "80" + long.dropFirst(2)
        #expect(try Self.answer(&card, proprietary, channel) == "6700")
        // The reader passes it on as it is.
        card = Self.card(Self.typeB, longest: 65_544)
        let direct = Channel()
        #expect(try Self.answer(&card, "00B0" + "0000" + "20", direct) == "6F00")
        #expect(direct.sent == [[0x00, 0xB0, 0x00, 0x00, 0x20]])
    }

    @Test("Every command of any length is answered")
    func anyCommand() throws {
        var random = SeededGenerator(seed: 6)
        for picc in [Self.felica, Self.ultralight, Self.typeB] {
            var card = Self.card(picc, guardsPINs: true)
            for _ in 0..<3000 {
                let count = Int.random(in: 0...40, using: &random)
                var apdu = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                if Bool.random(using: &random), !apdu.isEmpty { apdu[0] = 0xFF }
                #expect(try card.answer(apdu, over: Channel()).apdu.count >= 2)
            }
            #expect(try card.answer([UInt8](repeating: 0, count: 65_535), over: Channel()).apdu.count >= 2)
        }
    }

    @Test(
        "--guard lets a PIN through with two tries left, and refuses it with one, or when the card does not tell",
        arguments: [
            ("63C3", "9000"), ("63C2", "9000"), ("63C1", "6985"), ("63C0", "6985"), ("6983", "6985"), ("6A80", "6985"),
            ("6300", "6985"), ("9000", "9000"),
        ])
    func guarding(_ tries: String, _ result: String) throws {
        let pin = "00200080" + "04" + "31313131"
        let change = "00240080" + "08" + "3131313132323232"
        let channel = Channel(["00200080": tries, pin: "9000", change: "9000"])
        var card = Self.card(Self.typeB, guardsPINs: true)
        #expect(try Self.answer(&card, pin, channel) == result)
        #expect(try Self.answer(&card, change, channel) == result)
        #expect(channel.sent.count == (result == "9000" ? 4 : 2))
        // In a chain, with a PUK, hidden in another command.
        #expect(try Self.answer(&card, "10" + pin.dropFirst(2), channel) == "6985")
        #expect(try Self.answer(&card, "002C0080" + "083131313132323232", channel) == "6985")
        #expect(try Self.answer(&card, "00C20000" + "09" + pin, channel) == "6985")
        // The question itself.
        #expect(try Self.answer(&card, "00200080", channel) == tries)
    }

    @Test("A reader that fails ends the visit; a card that does not answer may be gone")
    func failures() throws {
        var card = Self.card(Self.typeB)
        #expect(throws: TransportError.readerTimeout) {
            _ = try card.answer([0, 0xB0, 0, 0, 0], over: Channel(failure: .readerTimeout))
        }
        let answer = try card.answer([0, 0xB0, 0, 0, 0], over: Channel(failure: .cardReleased))
        #expect(answer.isMissing && answer.apdu == [0x6F, 0x00])
        #expect(try card.answer([0, 0xB0, 0, 0, 0], over: Channel(failure: .answerTooLong)).apdu == [0x67, 0x00])
    }
}

@Suite("Messages of vpcd")
struct VPCDParserTests {
    /// The messages in the order in which facts of vsmartcard's driver show them.
    private static let stream: [UInt8] = [0, 1, 1, 0, 1, 4, 0, 5, 0, 0xA4, 4, 0, 0, 0, 1, 0, 0, 1, 2, 0, 1, 9, 0, 0]
    private static let messages: [VPCDMessage] = [
        .powerOn, .answerToReset, .command([0, 0xA4, 4, 0, 0]), .powerOff, .reset, .other(9),
    ]

    @Test("Messages may arrive together, and in parts")
    func parts() {
        for size in 1...Self.stream.count {
            var parser = VPCDParser()
            var found: [VPCDMessage] = []
            var rest = Self.stream[...]
            while !rest.isEmpty {
                parser.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let message = parser.next() { found.append(message) }
            }
            #expect(found == Self.messages, "in parts of \(size)")
        }
    }

    @Test("Any bytes are taken apart in full")
    func anything() {
        var random = SeededGenerator(seed: 7)
        var parser = VPCDParser()
        var (sent, seen) = (0, 0)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...700, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random)
            }
            sent += bytes.count
            parser.append(bytes)
            while let message = parser.next() {
                if case .command(let apdu) = message { seen += apdu.count } else { seen += 1 }
            }
        }
        #expect(seen > 0 && seen <= sent)
    }
}
