// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816
import Testing

@Suite("Commands, byte by byte")
struct CommandTests {
    /// Commands that were seen to work on real cards (facts of the license, Type 4 Tags, passports), and each form.
    static func commands() throws -> [(CommandAPDU, String)] {
        let license = try #require(AID("A0000002310100000000000000000000"))
        let ndef = try #require(AID("D2760000850101"))
        let (id, other) = (FileIdentifier(rawValue: 0x2F01), FileIdentifier(rawValue: 0x0001))
        return [
            (.select(.masterFile), "00A4000C023F00"),
            (CommandAPDU.select(.masterFileWithoutName, answer: .fileControlInformation), "00A4000000"),
            (.select(.file(id)), "00A4000C022F01"),
            (.select(.childDF(id)), "00A4010C022F01"), (.select(.childEF(id)), "00A4020C022F01"),
            (.select(.parent), "00A4030C"), (.select(.parent, answer: .fileControlInformation), "00A4030000"),
            (.select(.application(license)), "00A4040C10A0000002310100000000000000000000"),
            (.select(.application(ndef), answer: .fileControlInformation), "00A4040007D276000085010100"),
            (.select(.pathFromMF([id, other])), "00A4080C042F010001"),
            (.select(.pathFromCurrentDF([other]), cla: 0x01), "01A4090C020001"),
            (try .readBinary(offset: 0, count: 256), "00B0000000"),
            (try .readBinary(offset: 0x7FFF, count: 1), "00B07FFF01"),
            (try .readBinary(offset: 0, count: 880), "00B00000000370"),
            (try .readBinary(farOffset: 0x8000, count: 256), "00B1000004 5402 8000 00"),
            (try .readBinary(farOffset: 0, count: 4), "00B1000004 5402 0000 04"),
            (try .updateBinary(offset: 0, data: [0, 3, 0xD5, 0, 0]), "00D600000500 03D50000"),
            (try .updateBinary(offset: 0x7FFF, data: [1]), "00D67FFF0101"),
            (try .readBinary(farOffset: 0xFFFF_FFFF, count: 4), "00B1000006 5404 FFFFFFFF 04"),
            (try .readBinary(farOffset: 0x0100_0000, count: 4), "00B1000006 5404 01000000 04"),
        ]
    }

    @Test func bytes() throws {
        for (command, text) in try CommandTests.commands() {
            #expect(Hex.encode(try command.encoded()) == Hex.encode(try Hex.decode(text)), "\(command)")
        }
    }

    @Test func unaddressableBlocks() throws {
        #expect(throws: APDUError.offset(0x8000)) { try CommandAPDU.readBinary(offset: 0x8000, count: 1) }
        #expect(throws: APDUError.offset(-1)) { try CommandAPDU.readBinary(offset: -1, count: 1) }
        #expect(throws: APDUError.offset(1 << 32)) { try CommandAPDU.readBinary(farOffset: 1 << 32, count: 1) }
        #expect(throws: APDUError.offset(-1)) { try CommandAPDU.readBinary(farOffset: -1, count: 1) }
        #expect(throws: APDUError.offset(0x8000)) { try CommandAPDU.updateBinary(offset: 0x8000, data: [1]) }
        #expect(throws: APDUError.count(0)) { try CommandAPDU.updateBinary(offset: 0, data: []) }
    }
}
