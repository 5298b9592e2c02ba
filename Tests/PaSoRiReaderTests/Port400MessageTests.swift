// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import NFCTransport
import TestSupport
import Testing

@testable import PaSoRiReader

/// Messages, commands and data objects of the Port-400, against bytes that others have published.
struct Port400MessageTests {
    @Test func commandsOfTheVectors() throws {
        func message(_ command: [UInt8], _ sequence: UInt8) -> String {
            Hex.encode(Port400Message.command(command, sequence: sequence), uppercase: true)
        }
        #expect(message(Port400Command.manageSession(.end), 0x21) == "6B0800000000210000" + "00FF50000002820000")
        #expect(message(Port400Command.manageSession(.start), 1).hasSuffix("FF50000002810000"))
        #expect(message(Port400Command.manageSession(.fieldOff), 1).hasSuffix("FF50000002830000"))
        #expect(message(Port400Command.manageSession(.fieldOn), 1).hasSuffix("FF50000002840000"))
        #expect(
            message(Port400Command.switchProtocol(.felica(.kbps212)), 0x2B)
                == "6B0A000000002B000000FF500002048F02030000")
        #expect(Hex.encode(Port400Command.speed(0x09), uppercase: true) == "FF50000006FF6E0305010900")
    }

    /// The vector of esp32-pasori-rcs300 has neither flags nor bits; what is sent beside them is always sent.
    @Test func theExchangeOfTheVectors() throws {
        let command = Port400Command.exchange(
            [0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00], microseconds: 100_000, flags: .felica, lastByteBits: 8)
        #expect(
            Hex.encode(command, uppercase: true)
                == "FF500001000018" + "5F4604A0860100" + "9002001C" + "910100" + "95820006" + "0600FFFF0100" + "000000")
    }

    @Test func theAnswerOfTheVectors() throws {
        let empty = try Hex.decode("83 07000000 00 05 000000 C003009000 9000")
        var parser = Port400MessageParser()
        parser.feed(empty)
        guard case .message(let message) = parser.next() else {
            Issue.record("no message")
            return
        }
        #expect(message.sequence == 5)
        #expect(message.status == .done)
        let objects = try #require(Port400Objects(Array(message.data.dropLast(2))))
        #expect(objects.status == 0x9000)
        #expect(objects.data == nil)
    }

    /// A successful Polling: 46 bytes, the IDm at 26, the PMm at 34.
    @Test func aPollingAnswerAsItIsPublished() throws {
        let bytes = try Hex.decode(
            "83 24000000 00 07 000000 C003009000 920100 96020000 97 14 1401 01010701260CCA02 0F0D23042F7783FF 12FC 9000"
        )
        #expect(bytes.count == 46)
        #expect(Array(bytes[26..<34]) == [0x01, 0x01, 0x07, 0x01, 0x26, 0x0C, 0xCA, 0x02])
        var parser = Port400MessageParser()
        parser.feed(bytes)
        guard case .message(let message) = parser.next() else {
            Issue.record("no message")
            return
        }
        let objects = try #require(Port400Objects(Array(message.data.dropLast(2))))
        #expect(objects.data?.count == 20)
        #expect(objects.lastByteBits == 8)
        let target = try FeliCaPolling(.any, requestCode: 1).target(from: objects.data ?? [], bitRate: .kbps212)
        #expect(target.requestData == 0x12FC)
    }

    static let statuses: [(UInt8, UInt8, Port400Message.Status)] = [
        (0x00, 0x00, .done), (0x01, 0x81, .done), (0x40, 0xE0, .busy), (0x42, 0x05, .failed(error: 5)),
        (0x80, 0x01, .moreTime), (0xC0, 0x00, .failed(error: 0)),
    ]

    @Test(arguments: statuses) func statusOfAMessage(_ status: UInt8, _ error: UInt8, _ expected: Port400Message.Status)
    {
        #expect(Port400Message(sequence: 0, status: status, error: error, data: []).status == expected)
    }

    @Test func messagesMayComeInPiecesAndTogether() throws {
        let all = try Hex.decode("83 02000000 00 01 000000 9000 83 00000000 00 02 80 00 00")
        for cut in 0...all.count {
            var parser = Port400MessageParser()
            var numbers: [UInt8] = []
            for piece in [all[..<cut], all[cut...]] {
                parser.feed(Array(piece))
                while case .message(let message) = parser.next() { numbers.append(message.sequence) }
            }
            #expect(numbers == [1, 2], "cut at \(cut)")
            #expect(parser.next() == .incomplete)
        }
    }

    @Test(arguments: ["80", "6B", "00", "83FFFFFFFF", "8301080000"]) func refusesWhatIsNoMessage(_ text: String) throws
    {
        var parser = Port400MessageParser()
        parser.feed(try Hex.decode(text))
        #expect(parser.next() == .damaged)
        #expect(parser.next() == .incomplete)
    }

    @Test func parserIsTotal() {
        var random = SeededGenerator(seed: 300)
        for _ in 0..<3000 {
            var parser = Port400MessageParser()
            for _ in 0..<4 {
                var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random), !bytes.isEmpty { bytes[0] = 0x83 }
                if Bool.random(using: &random), bytes.count > 4 {
                    bytes.replaceSubrange(1...4, with: [UInt8(bytes.count & 15), 0, 0, 0])
                }
                parser.feed(bytes)
                var outcomes = 0
                while parser.next() != .incomplete { outcomes += 1 }
                #expect(outcomes <= 20)
            }
        }
    }

    static let brokenObjects = [
        "C0", "C003", "C0030090", "97", "9780", "9783000001AA", "978200", "FF", "FF6D", "FF6D02AA", "9702AA",
    ]

    @Test(arguments: brokenObjects) func refusesBrokenObjects(_ text: String) throws {
        #expect(Port400Objects(try Hex.decode(text)) == nil)
    }

    @Test func readsEveryKindOfObject() throws {
        let objects = try #require(
            Port400Objects(try Hex.decode("FF6D03010203 C003016401 920104 96020200 AA01FF 97820002 0A0B")))
        #expect(objects.status == 0x6401)
        #expect(objects.lastByteBits == 4)
        #expect(objects.damage == 2)
        #expect(objects.data == [0x0A, 0x0B])
        #expect(Port400Objects([])?.status == 0x9000)
    }

    @Test func objectsAreTotal() {
        var random = SeededGenerator(seed: 301)
        let tags: [UInt8] = [0xC0, 0x92, 0x96, 0x97, 0xFF, 0x6D, 0x82, 0x03]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? tags.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...8, using: &random)
            }
            guard let objects = Port400Objects(bytes) else { continue }
            #expect((1...8).contains(objects.lastByteBits))
        }
    }
}
