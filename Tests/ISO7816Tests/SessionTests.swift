// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import ReaderTesting
import Testing
import VirtualReader

@testable import ISO7816

@Suite("Sessions: the duties of the terminal")
struct SessionTests {
    /// What goes over the air for one command, and what the caller gets.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let command: String
        let air: [(String, String)]
        let answer: String
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "plain", command: "00B0000002", air: [("00B0000002", "AABB9000")], answer: "AABB9000"),
        Case(
            name: "GET RESPONSE twice", command: "00A4040007A000000003101000",
            air: [("00A4040007A000000003101000", "AA6103"), ("00C0000003", "BBCC6101"), ("00C0000001", "DD9000")],
            answer: "AABBCCDD9000"),
        Case(
            name: "6100 is 256 or more", command: "00CA0001",
            air: [
                ("00CA0001", "6100"), ("00C0000000", String(repeating: "55", count: 256) + "6102"),
                ("00C0000002", "66779000"),
            ], answer: String(repeating: "55", count: 256) + "66779000"),
        Case(
            name: "GET RESPONSE on a logical channel", command: "01CA000100",
            air: [("01CA000100", "6102"), ("01C0000002", "AABB9000")], answer: "AABB9000"),
        Case(
            name: "GET RESPONSE ends with a warning", command: "00B0000000",
            air: [("00B0000000", "6102"), ("00C0000002", "AABB6282")], answer: "AABB6282"),
        Case(
            name: "Le corrected", command: "00B0000000", air: [("00B0000000", "6C02"), ("00B0000002", "AABB9000")],
            answer: "AABB9000"),
        Case(
            name: "Le corrected once only", command: "00B0000000",
            air: [("00B0000000", "6C02"), ("00B0000002", "6C03")], answer: "6C03"),
        Case(
            name: "Le corrected, then GET RESPONSE corrected", command: "00B0000000",
            air: [
                ("00B0000000", "6C10"), ("00B0000010", "6104"), ("00C0000004", "6C02"), ("00C0000002", "AABB9000"),
            ], answer: "AABB9000"),
        Case(
            name: "6C00 is 256", command: "00B00000", air: [("00B00000", "6C00"), ("00B0000000", "AA9000")],
            answer: "AA9000"),
        Case(
            name: "any status word comes through", command: "00B0000000", air: [("00B0000000", "FFFF")],
            answer: "FFFF"),
        Case(
            name: "extended as it was written", command: "00B0000000000A",
            air: [("00B0000000000A", "AA9000")], answer: "AA9000"),
    ]

    @Test(arguments: cases) func airs(_ row: Case) throws {
        let channel = try SessionTests.channel(row.air)
        let response = try SessionTests.session(channel).transmit(CommandAPDU(decoding: Hex.decode(row.command)))
        #expect(Hex.encode(response.encoded(), uppercase: true) == row.answer)
        #expect(channel.finish().isEmpty, "\(channel.finish())")
        #expect(channel.timeouts.allSatisfy { $0 == .seconds(5) }, "a card may take seconds")
    }

    static func channel(_ air: [(String, String)]) throws -> ScriptedChannel {
        ScriptedChannel(try air.map { try ScriptedExchange($0.0, answer: $0.1) })
    }

    static func session(_ channel: any CardChannel, _ limits: APDULimits = APDULimits()) -> ISO7816Session {
        ISO7816Session(channel: channel, limits: limits) { () throws(TransportError) in true }
    }

    @Test func longDataGoesInAChain() throws {
        let data = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        let parts = [data[..<255], data[255..<510], data[510...]].map { Hex.encode($0) }
        let channel = try SessionTests.channel([
            ("10DB3FFFFF" + parts[0], "9000"), ("10DB3FFFFF" + parts[1], "9000"),
            ("00DB3FFF5A" + parts[2] + "00", "AA9000"),
        ])
        let response = try SessionTests.session(channel).transmit(
            CommandAPDU(0xDB, p1: 0x3F, p2: 0xFF, data: data, ne: 256))
        #expect(response == ResponseAPDU(data: [0xAA], status: .success))
        #expect(channel.finish().isEmpty)
    }

    @Test func chainStopsAtARefusal() throws {
        let data = [UInt8](repeating: 1, count: 300)
        let channel = try SessionTests.channel([("10DB0000FF" + Hex.encode(data[..<255]), "6884")])
        let response = try SessionTests.session(channel).transmit(CommandAPDU(0xDB, data: data))
        #expect(response.status == 0x6884)
        #expect(channel.finish().isEmpty)
    }

    @Test func extendedWhereItIsAllowed() throws {
        let data = [UInt8](repeating: 1, count: 300)
        let channel = try SessionTests.channel([("00DB000000012C" + Hex.encode(data) + "0000", "AA9000")])
        let limits = APDULimits(longestCommand: 4096, longestResponse: 65_538, allowsExtended: true)
        let response = try SessionTests.session(channel, limits).transmit(
            CommandAPDU(0xDB, data: data, ne: 65_536))
        #expect(response.status == .success)
        #expect(channel.finish().isEmpty)
    }

    @Test func limits256BytesWithoutExtendedLengths() throws {
        let channel = try SessionTests.channel([("00B0000000", "AA9000"), ("00DB000001AA00", "9000")])
        let session = SessionTests.session(channel)
        #expect(try session.data(CommandAPDU(.readBinary, ne: 0x10000)) == [0xAA])
        #expect(try session.data(CommandAPDU(0xDB, data: [0xAA], ne: 0x101)) == [])
        #expect(channel.finish().isEmpty)
    }

    struct Limits: Sendable {
        let command: Int
        let response: Int
        let allowsExtended: Bool
        let data: Int
        let read: Int
        let expected: Int
    }

    /// What fits beside header, Lc and Le, and before the status word; never less than one byte.
    static let limits: [Limits] = [
        Limits(command: 261, response: 258, allowsExtended: false, data: 255, read: 256, expected: 256),
        Limits(command: 262, response: 259, allowsExtended: false, data: 255, read: 256, expected: 256),
        Limits(command: 260, response: 257, allowsExtended: false, data: 254, read: 240, expected: 255),
        Limits(command: 255, response: 250, allowsExtended: false, data: 249, read: 240, expected: 248),
        Limits(command: 24, response: 34, allowsExtended: false, data: 18, read: 32, expected: 32),
        Limits(command: 23, response: 33, allowsExtended: false, data: 17, read: 16, expected: 31),
        Limits(command: 8, response: 19, allowsExtended: false, data: 2, read: 16, expected: 17),
        Limits(command: 7, response: 18, allowsExtended: false, data: 1, read: 16, expected: 16),
        Limits(command: 6, response: 17, allowsExtended: false, data: 1, read: 15, expected: 15),
        Limits(command: 5, response: 3, allowsExtended: false, data: 1, read: 1, expected: 1),
        Limits(command: 0, response: 2, allowsExtended: false, data: 1, read: 1, expected: 1),
        Limits(command: 70_000, response: 70_000, allowsExtended: true, data: 0xFFFF, read: 0xFFFF, expected: 0x10000),
        Limits(command: 65_544, response: 65_538, allowsExtended: true, data: 0xFFFF, read: 0xFFFF, expected: 0x10000),
        Limits(command: 65_543, response: 65_537, allowsExtended: true, data: 65_534, read: 0xFFFF, expected: 0xFFFF),
        Limits(command: 270, response: 260, allowsExtended: true, data: 261, read: 258, expected: 258),
        Limits(command: 11, response: 4, allowsExtended: true, data: 2, read: 2, expected: 2),
        Limits(command: 10, response: 3, allowsExtended: true, data: 1, read: 1, expected: 1),
        Limits(command: 9, response: 1, allowsExtended: true, data: 1, read: 1, expected: 1),
    ]

    @Test(arguments: limits) func limitsOfTheReader(_ row: Limits) {
        let limits = APDULimits(
            longestCommand: row.command, longestResponse: row.response, allowsExtended: row.allowsExtended)
        #expect(limits.longestData == row.data)
        #expect(limits.bytesPerRead == row.read)
        #expect(limits.longestExpected == row.expected)
        #expect(APDULimits() == APDULimits(longestCommand: 261, longestResponse: 258, allowsExtended: false))
    }

    /// Only such a SELECT may follow when the current file was lost.
    @Test func selectsFromTheRoot() throws {
        let application = try #require(AID([1, 2]))
        let file = FileIdentifier(rawValue: 0x2F01)
        let absolute: [SelectTarget] = [
            .masterFile, .masterFileWithoutName, .application(application), .pathFromMF([file]),
        ]
        let relative: [SelectTarget] = [
            .file(file), .childDF(file), .childEF(file), .parent, .pathFromCurrentDF([file]),
        ]
        #expect(absolute.allSatisfy { CommandAPDU.select($0).selectsFromTheRoot })
        #expect(absolute.allSatisfy { CommandAPDU.select($0, answer: .fileControlInformation).selectsFromTheRoot })
        #expect(relative.allSatisfy { !CommandAPDU.select($0).selectsFromTheRoot })
        for occurrence in 1...3 as ClosedRange<UInt8> {
            #expect(!CommandAPDU(.select, p1: 4, p2: 0x0C | occurrence, data: [1, 2]).selectsFromTheRoot)
        }
        #expect(!CommandAPDU(.readBinary, p1: 4).selectsFromTheRoot)
    }

    @Test func dataThatFitsNeedsNoChain() throws {
        let data = [UInt8](repeating: 1, count: 255)
        let channel = try SessionTests.channel([("80DB0000FF" + Hex.encode(data), "9000")])
        #expect(try SessionTests.session(channel).data(CommandAPDU(0xDB, cla: 0x80, data: data)) == [])
        #expect(channel.finish().isEmpty)
    }

    @Test func sendsTheLongestFrame() throws {
        let frame = "00DB000003AABBCC"
        let fitting = try SessionTests.channel([(frame, "9000")])
        let command = try CommandAPDU(decoding: Hex.decode(frame))
        _ = try SessionTests.session(fitting, APDULimits(longestCommand: 8)).transmitOnce(command)
        #expect(fitting.finish().isEmpty)
        #expect(throws: ISO7816Error.transport(.frameTooLong(length: 8, limit: 7))) {
            try SessionTests.session(SessionTests.channel([]), APDULimits(longestCommand: 7)).transmitOnce(command)
        }
    }

    @Test func chainsTheLongestData() throws {
        let card = EndlessCard([0x90, 0x00])
        let data = [UInt8](repeating: 1, count: 0xFFFF)
        #expect(try SessionTests.session(card).transmit(CommandAPDU(0xDB, data: data)).status == .success)
        #expect(card.exchanges == 257)
        #expect(throws: ISO7816Error.invalidCommand(.noChaining(0x10))) {
            try SessionTests.session(card).transmit(CommandAPDU(0xDB, cla: 0x10, data: data))
        }
    }

    /// 65,536 bytes are the most that a command can ask for.
    @Test(arguments: [0x8000, 0x8001]) func longestAnswer(_ second: Int) throws {
        let card = TwoPartCard(second)
        if second == 0x8000 {
            let answer = try SessionTests.session(card).transmit(CommandAPDU(.readBinary, ne: 256))
            #expect(answer.data.count == 0x10000 && answer.status == .success)
        } else {
            #expect(throws: ISO7816Error.malformed(.readBinary, .endlessResponse)) {
                try SessionTests.session(card).transmit(CommandAPDU(.readBinary, ne: 256))
            }
        }
    }

    /// A card that gives 32,768 bytes and then the rest, which no reader of short APDUs passes on.
    final class TwoPartCard: CardChannel {
        private let second: Int
        private var isFirst = true

        init(_ second: Int) { self.second = second }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            defer { isFirst = false }
            return [UInt8](repeating: 1, count: isFirst ? 0x8000 : second) + (isFirst ? [0x61, 0x00] : [0x90, 0x00])
        }
    }

    @Test func rejectsUnsendableFrames() throws {
        let channel = try SessionTests.channel([])
        let session = SessionTests.session(channel)
        let data = [UInt8](repeating: 1, count: 300)
        #expect(throws: ISO7816Error.invalidCommand(.noChaining(0x80))) {
            try session.transmit(CommandAPDU(0xDB, cla: 0x80, data: data))
        }
        #expect(throws: ISO7816Error.invalidCommand(.dataTooLong(65_536))) {
            try session.transmit(CommandAPDU(0xDB, data: .init(repeating: 1, count: 65_536)))
        }
        #expect(throws: ISO7816Error.transport(.frameTooLong(length: 307, limit: 261))) {
            try session.transmit(CommandAPDU(0xDB, data: data, lengthForm: .extended))
        }
        for code in 0...255 {
            let instruction = Instruction(rawValue: UInt8(code))
            guard instruction.needsGuard else { continue }
            for cla in [0x00, 0x10, 0x80, 0x0C] as [ClassByte] {
                #expect(throws: ISO7816Error.guarded(instruction)) {
                    try session.transmit(CommandAPDU(instruction, cla: cla, data: [0x31]))
                }
            }
        }
        #expect(channel.timeouts.isEmpty)
    }

    /// A reader behind PC/SC passes on what is in a command of class FF: a PIN must not go that way past its guard.
    @Test func guardChecksReaderCommandsToo() throws {
        let channel = try SessionTests.channel([])
        let session = SessionTests.session(channel)
        let harmless: [UInt8] = [0xCA, 0xA4, 0xB0, 0xD6]
        for code in UInt8.min...UInt8.max where !harmless.contains(code) {
            let command = CommandAPDU(Instruction(rawValue: code), cla: 0xFF, data: [0xD4, 0x40, 0x01, 0x00, 0x20])
            #expect(throws: ISO7816Error.guarded(command.ins)) { try session.transmit(command) }
            #expect(throws: ISO7816Error.guarded(command.ins)) { try session.transmitOnce(command) }
        }
        #expect(channel.timeouts.isEmpty)
        #expect(harmless.allSatisfy { !ClassByte(rawValue: 0xFF).maySmuggle(Instruction(rawValue: $0)) })
        #expect(!ClassByte.interindustry.maySmuggle(Instruction(rawValue: 0x00)))
    }

    /// A card that never has enough: it is left after a bounded number of exchanges.
    final class EndlessCard: CardChannel {
        let answer: [UInt8]
        private(set) var exchanges = 0

        init(_ answer: [UInt8]) { self.answer = answer }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            exchanges += 1
            return answer
        }
    }

    static let endless: [(answer: [UInt8], most: Int)] = [
        ([0x61, 0x10], 2), ([0xAA, 0x61, 0x01], 301), ([UInt8](repeating: 1, count: 256) + [0x61, 0x00], 257),
        ([UInt8](repeating: 1, count: 4000) + [0x61, 0x00], 17),
    ]

    @Test(arguments: endless) func stopsAtEndlessAnswers(_ row: (answer: [UInt8], most: Int)) {
        let card = EndlessCard(row.answer)
        #expect(throws: ISO7816Error.malformed(.readBinary, .endlessResponse)) {
            try SessionTests.session(card).transmit(CommandAPDU(.readBinary, ne: 256))
        }
        #expect(card.exchanges == row.most)
    }

    @Test(arguments: [[], [0x90]] as [[UInt8]]) func shortAnswers(_ answer: [UInt8]) {
        #expect(throws: ISO7816Error.malformed(.readBinary, .tooShort(length: answer.count))) {
            try SessionTests.session(EndlessCard(answer)).transmit(CommandAPDU(.readBinary, ne: 256))
        }
    }
}
