// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import TestSupport
import Testing

@testable import PaSoRiReader

/// Messages, commands and data objects of the Port-400, against bytes that others have published.
struct Port400MessageTests {
    @Test func sendsTheCommandsOfTheVectors() throws {
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
        #expect(Hex.encode(Port400Command.speed(0x89), uppercase: true) == "FF50000006FF6E0305018900")
    }

    /// As EspUsbHost sends it with flags, but for the length of the frame, which others write in three bytes.
    @Test func exchangesLikeTheVectors() throws {
        let (command, frameObject) = Port400Command.exchange(
            [0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00], microseconds: 100_000, flags: .felica)
        #expect(
            Hex.encode(command, uppercase: true)
                == "FF500001000015" + "5F4604A0860100" + "9002001C" + "95820006" + "0600FFFF0100" + "000000")
        #expect(frameObject == 3)
        let bits = Port400Command.exchange([0x52], microseconds: 10_000, flags: .typeA, lastByteBits: 7)
        #expect(
            Hex.encode(bits.command, uppercase: true)
                == "FF500001000013" + "5F460410270000" + "90020010" + "910107" + "9582000152" + "000000")
        #expect(bits.frameObject == 4)
    }

    @Test func parsesTheAnswerOfTheVectors() throws {
        let empty = try Hex.decode("83 07000000 00 05 020000 C003009000 9000")
        var parser = Port400MessageParser()
        parser.feed(empty)
        guard case .message(let message) = parser.next() else {
            Issue.record("no message")
            return
        }
        #expect(message.sequence == 5)
        #expect(message.status == .done)
        let answer = try #require(TransparentAnswer(message.data))
        #expect(answer.meaning == .done)
        #expect(answer.frame == nil)
    }

    /// A successful Polling: 46 bytes, the IDm at 26, the PMm at 34.
    @Test func parsesAPublishedPollingAnswer() throws {
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
        let answer = try #require(TransparentAnswer(message.data))
        #expect(answer.frame?.count == 20)
        let target = try FeliCaPolling(.any, requestCode: 1).target(from: answer.frame ?? [], bitRate: .kbps212)
        #expect(target.requestData == 0x12FC)
    }

    static let statuses: [(UInt8, UInt8, Port400Message.Status)] = [
        (0x00, 0x00, .done), (0x02, 0x00, .done), (0x01, 0x81, .done), (0x40, 0xE0, .busy),
        (0x42, 0x05, .failed(error: 5)),
        (0x80, 0x01, .moreTime), (0xC0, 0x00, .failed(error: 0)),
    ]

    @Test(arguments: statuses) func statusOfAMessage(_ status: UInt8, _ error: UInt8, _ expected: Port400Message.Status)
    {
        #expect(Port400Message(sequence: 0, status: status, error: error, data: []).status == expected)
    }

    @Test func parsesSplitAndJoinedMessages() throws {
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

    @Test(arguments: ["80", "6B", "00", "83FFFFFFFF", "8301080000"]) func rejectsMalformedMessages(_ text: String)
        throws
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
}
