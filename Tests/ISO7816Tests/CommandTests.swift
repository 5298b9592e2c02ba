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
        let (id, sfi) = (FileIdentifier(rawValue: 0x2F01), try #require(ShortFileIdentifier(1)))
        let other = FileIdentifier(rawValue: 0x0001)
        return [
            (.select(.masterFile), "00A4000C023F00"),
            (CommandAPDU.select(.masterFileWithoutName, answer: .fileControlInformation), "00A4000000"),
            (.select(.file(id)), "00A4000C022F01"),
            (.select(.childDF(id)), "00A4010C022F01"), (.select(.childEF(id)), "00A4020C022F01"),
            (.select(.parent), "00A4030C"), (.select(.parent, answer: .fileControlParameters), "00A4030400"),
            (.select(.application(license)), "00A4040C10A0000002310100000000000000000000"),
            (.select(.application(ndef), answer: .fileControlInformation), "00A4040007D276000085010100"),
            (.select(.application(ndef), answer: .fileManagementData, occurrence: .next), "00A4040A07D276000085010100"),
            (.select(.application(ndef), occurrence: .last), "00A4040D07D2760000850101"),
            (.select(.application(ndef), occurrence: .previous), "00A4040F07D2760000850101"),
            (.select(.pathFromMF([id, other])), "00A4080C042F010001"),
            (.select(.pathFromCurrentDF([other]), cla: 0x01), "01A4090C020001"),
            (try .readBinary(offset: 0, count: 256), "00B0000000"),
            (try .readBinary(offset: 0x7FFF, count: 1), "00B07FFF01"),
            (try .readBinary(offset: 0, count: 880), "00B00000000370"),
            (try .readBinary(sfi, count: 17), "00B0810011"),
            (try .readBinary(sfi, offset: 255, count: 240), "00B081FFF0"),
            (try .readBinary(try #require(ShortFileIdentifier(30)), count: 1), "00B09E0001"),
            (try .updateBinary(try #require(ShortFileIdentifier(30)), data: [1]), "00D69E000101"),
            (try .readBinary(farOffset: 0x8000, count: 256), "00B1000004 5402 8000 00"),
            (try .readBinary(farOffset: 0x12345, count: 10, file: id), "00B12F0105 5403 012345 0A"),
            (try .readBinary(farOffset: 0, count: 4), "00B1000004 5402 0000 04"),
            (try .updateBinary(offset: 0, data: [0, 3, 0xD5, 0, 0]), "00D600000500 03D50000"),
            (try .updateBinary(sfi, offset: 2, data: [1]), "00D681020101"),
            (try .updateBinary(sfi, data: [1]), "00D681000101"),
            (try .updateBinary(offset: 0x7FFF, data: [1]), "00D67FFF0101"),
            (try .readBinary(farOffset: 0xFFFF_FFFF, count: 4), "00B1000006 5404 FFFFFFFF 04"),
            (try .readBinary(farOffset: 0x0100_0000, count: 4), "00B1000006 5404 01000000 04"),
            (.readRecord(1, file: sfi), "00B2010C00"), (.readRecord(2), "00B2020400"),
            (.readRecord(1, andFollowing: true, count: 16), "00B2010510"),
            (try .getData(0x5A), "00CA005A00"), (try .getData(0x9F7F, cla: 0x80), "80CA9F7F00"),
            (.getChallenge(), "0084000008"), (.getChallenge(256), "0084000000"),
        ]
    }

    @Test func bytes() throws {
        for (command, text) in try CommandTests.commands() {
            #expect(Hex.encode(try command.encoded()) == Hex.encode(try Hex.decode(text)), "\(command)")
        }
    }

    @Test func unaddressableBlocks() throws {
        let sfi = try #require(ShortFileIdentifier(30))
        #expect(throws: APDUError.offset(0x8000)) { try CommandAPDU.readBinary(offset: 0x8000, count: 1) }
        #expect(throws: APDUError.offset(-1)) { try CommandAPDU.readBinary(offset: -1, count: 1) }
        #expect(throws: APDUError.offset(256)) { try CommandAPDU.readBinary(sfi, offset: 256, count: 1) }
        #expect(throws: APDUError.offset(1 << 32)) { try CommandAPDU.readBinary(farOffset: 1 << 32, count: 1) }
        #expect(throws: APDUError.offset(-1)) { try CommandAPDU.readBinary(farOffset: -1, count: 1) }
        #expect(throws: APDUError.offset(0x8000)) { try CommandAPDU.updateBinary(offset: 0x8000, data: [1]) }
        #expect(throws: APDUError.offset(300)) { try CommandAPDU.updateBinary(sfi, offset: 300, data: [1]) }
        #expect(throws: APDUError.count(0)) { try CommandAPDU.updateBinary(offset: 0, data: []) }
        #expect(throws: APDUError.count(0)) { try CommandAPDU.updateBinary(sfi, data: []) }
        #expect(throws: APDUError.count(3)) { try CommandAPDU.getData(0x5F8101) }
        #expect([0, 31, 255].allSatisfy { ShortFileIdentifier($0) == nil })
        #expect("\(sfi)" == "1E")
    }
}
