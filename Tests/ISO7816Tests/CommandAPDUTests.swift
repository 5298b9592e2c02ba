// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816
import TestSupport
import Testing

@Suite("Command APDUs")
struct CommandAPDUTests {
    /// A command and its bytes: PA1 to PA8 of the vectors (nfcpy's test suite), and the edges of the forms.
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let command: CommandAPDU
        let bytes: [UInt8]
        var testDescription: String { name }

        init(
            _ name: String, data: [UInt8] = [], ne: Int = 0, form: APDULengthForm = .automatic, _ bytes: [UInt8]
        ) {
            self.name = name
            command = CommandAPDU(0x02, cla: 0x01, p1: 0x03, p2: 0x04, data: data, ne: ne, lengthForm: form)
            self.bytes = [1, 2, 3, 4] + bytes
        }
    }

    static let ramp = (0..<0x10000).map { UInt8(truncatingIfNeeded: $0) }
    static let vectors: [Vector] = [
        Vector("PA1 case 1", []), Vector("PA2 case 2S", ne: 1, [1]),
        Vector("PA3 case 2E", ne: 257, [0, 1, 1]), Vector("PA4 case 2E, all", ne: 65536, [0, 0, 0]),
        Vector("PA5 case 3S", data: [1, 2, 3], [3, 1, 2, 3]),
        Vector("PA6 case 4S", data: [0x35, 0x36], ne: 1, [2, 0x35, 0x36, 1]),
        Vector("PA7 case 4E, forced", data: [0x35, 0x36], ne: 1, form: .extended, [0, 0, 2, 0x35, 0x36, 0, 1]),
        Vector("PA8 case 2S, all", ne: 256, [0]),
        Vector("case 2E, forced", ne: 1, form: .extended, [0, 0, 1]),
        Vector("case 3E, forced", data: [7], form: .extended, [0, 0, 1, 7]),
        Vector("case 4S, 255 and 256", data: Array(ramp[..<255]), ne: 256, [255] + ramp[..<255] + [0]),
        Vector("case 4E, 255 and 257", data: Array(ramp[..<255]), ne: 257, [0, 0, 255] + ramp[..<255] + [1, 1]),
        Vector("case 3E, 256", data: Array(ramp[..<256]), [0, 1, 0] + ramp[..<256]),
        Vector("case 4E, 256 and 1", data: Array(ramp[..<256]), ne: 1, [0, 1, 0] + ramp[..<256] + [0, 1]),
        Vector(
            "case 4E, the longest", data: Array(ramp[..<0xFFFF]), ne: 0x10000,
            [0, 0xFF, 0xFF] + ramp[..<0xFFFF] + [0, 0]),
    ]

    @Test(arguments: vectors) func writes(_ vector: Vector) throws {
        #expect(try vector.command.encoded() == vector.bytes)
    }

    @Test(arguments: vectors) func reads(_ vector: Vector) throws {
        let command = try CommandAPDU(decoding: vector.bytes)
        #expect(command.data == vector.command.data)
        #expect(command.ne == vector.command.ne)
        #expect([command.cla.rawValue, command.ins.rawValue, command.p1, command.p2] == [1, 2, 3, 4])
        #expect(try command.encoded() == vector.bytes, "the form is kept")
        #expect(command.isExtended == vector.command.isExtended || vector.bytes.count == 4)
    }

    static let noAPDUs: [(text: String, flaw: APDUError)] = [
        ("", .tooShort(length: 0)), ("00", .tooShort(length: 1)), ("00A404", .tooShort(length: 3)),
        ("00A4040002AA", .inconsistentLength(length: 6)), ("00A4040002AABBCCDD", .inconsistentLength(length: 9)),
        ("00B000000001", .inconsistentLength(length: 6)),  // a long Le of one byte
        ("00A40400000000AA", .inconsistentLength(length: 8)),  // a long Lc of 0
        ("00A404000000", .inconsistentLength(length: 6)),
        ("00A40400000000AABB", .inconsistentLength(length: 9)),  // the same with a long Le
        ("00A40400000002AA", .inconsistentLength(length: 8)),
        ("00A40400000001AA00", .inconsistentLength(length: 9)),  // a long Lc with a short Le
        ("00A40400000001AA000000", .inconsistentLength(length: 11)),
    ]

    @Test(arguments: noAPDUs) func refuses(_ row: (text: String, flaw: APDUError)) throws {
        let bytes = try Hex.decode(row.text)
        #expect(throws: row.flaw) { try CommandAPDU(decoding: bytes) }
    }

    @Test func rejectsTooLongData() {
        let long = CommandAPDU(.updateBinary, data: CommandAPDUTests.ramp)
        #expect(throws: APDUError.dataTooLong(0x10000)) { try long.encoded() }
        for (ne, form) in [(65537, APDULengthForm.automatic), (-1, .automatic), (257, .short), (65537, .extended)] {
            let command = CommandAPDU(.readBinary, ne: ne, lengthForm: form)
            #expect(throws: APDUError.expectedLength(ne)) { try command.encoded() }
        }
        let short = CommandAPDU(.updateBinary, data: Array(CommandAPDUTests.ramp[..<256]), lengthForm: .short)
        #expect(throws: APDUError.dataTooLong(256)) { try short.encoded() }
    }

    @Test func goesRound() throws {
        var generator = SeededGenerator(seed: 7816)
        for _ in 0..<2000 {
            let form = [APDULengthForm.automatic, .short, .extended].randomElement(using: &generator) ?? .short
            let most = form == .short ? 255 : 700
            let count = Bool.random(using: &generator) ? 0 : Int.random(in: 1...most, using: &generator)
            let command = CommandAPDU(
                Instruction(rawValue: .random(in: 0...255, using: &generator)),
                cla: ClassByte(rawValue: .random(in: 0...255, using: &generator)),
                p1: .random(in: 0...255, using: &generator), p2: .random(in: 0...255, using: &generator),
                data: (0..<count).map { _ in .random(in: 0...255, using: &generator) },
                ne: Bool.random(using: &generator) ? 0 : Int.random(in: 1...most + 1, using: &generator),
                lengthForm: form)
            let bytes = try command.encoded()
            let again = try CommandAPDU(decoding: bytes)
            #expect(try again.encoded() == bytes)
            #expect(again.data == command.data && again.ne == command.ne)
        }
    }

    @Test func anyBytesGiveACommandOrAnError() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...300, using: &generator)
            var bytes: [UInt8] = (0..<count).map { _ in .random(in: 0...255, using: &generator) }
            if count > 6, Bool.random(using: &generator) { bytes[4] = 0 }
            guard let command = try? CommandAPDU(decoding: bytes) else { continue }
            #expect((try? command.encoded()) == bytes)
        }
    }

    @Test func tellsNoPIN() throws {
        let verify = try CommandAPDU(decoding: Hex.decode("00 20 00 81 04 31 32 33 34"))
        var dumped = ""
        dump(verify, to: &dumped)
        for text in ["\(verify)", String(reflecting: verify), dumped] {
            #expect(!text.contains("31323334") && !text.contains("49"), "\(text)")
            #expect(text.contains("Redacted"))
        }
        #expect("\(CommandAPDU(.select, p1: 4, data: [0xA0], ne: 256))" == "00A40400 A0 Ne 256")
        #expect("\(CommandAPDU(.select, p1: 4))" == "00A40400" && "\(CommandAPDU(.select, ne: 1))" == "00A40000 Ne 1")
        #expect("\(ClassByte(rawValue: 0x0C)) \(Instruction(rawValue: 0x0A))" == "0C 0A")
    }

    static let classes: [(cla: ClassByte, isInterindustry: Bool, isChaining: Bool, channel: Int?)] = [
        (0x00, true, false, 0), (0x03, true, false, 3), (0x10, true, true, 0), (0x0C, true, false, 0),
        (0x20, false, false, nil), (0x40, true, false, 4), (0x5F, true, true, 19), (0x80, false, false, nil),
        (0x90, false, false, nil), (0xFF, false, false, nil), (0x1F, true, true, 3), (0x3F, false, false, nil),
        (0x4F, true, false, 19), (0x50, true, true, 4), (0x7F, true, true, 19), (0x30, false, false, nil),
    ]

    @Test(arguments: classes)
    func classBytes(_ row: (cla: ClassByte, isInterindustry: Bool, isChaining: Bool, channel: Int?)) {
        #expect(row.cla.isInterindustry == row.isInterindustry)
        #expect(row.cla.isChaining == row.isChaining)
        #expect(row.cla.channel == row.channel)
        #expect(row.cla.chaining(true).isChaining == row.isInterindustry)
        #expect(row.cla.chaining(true).chaining(false) == row.cla.chaining(false))
    }

    @Test func instructionsThatNeedTheGuard() {
        let guarded = (0...255).filter { Instruction(rawValue: UInt8($0)).needsGuard }
        #expect(guarded == [0x20, 0x21, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2C, 0x2D, 0xC2, 0xC3])
        #expect(Instruction.readBinary.name == "READ BINARY")
        #expect(Instruction(rawValue: 0x02).name == nil)
    }
}
