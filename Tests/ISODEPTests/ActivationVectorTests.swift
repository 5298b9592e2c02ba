// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Testing

@testable import ISODEP

/// The answers of cards to their activation, byte for byte, from the suites of public projects and from real cards.
struct ActivationVectorTests {
    struct ATSVector: Sendable {
        let hex: String
        let size: Int
        let microseconds: Int64
        let historical: [UInt8]
    }

    static let ats: [ATSVector] = [
        ATSVector(hex: "067077010280", size: 16, microseconds: 302, historical: [0x80]),
        ATSVector(hex: "067277210280", size: 32, microseconds: 1208, historical: [0x80]),
        ATSVector(hex: "067477410280", size: 48, microseconds: 4833, historical: [0x80]),
        ATSVector(hex: "067577810280", size: 64, microseconds: 77_328, historical: [0x80]),
        ATSVector(hex: "067877810280", size: 256, microseconds: 77_328, historical: [0x80]),
        ATSVector(hex: "067D77D10280", size: 4096, microseconds: 2_474_516, historical: [0x80]),
        // Only TL; and T0 alone: every default.
        ATSVector(hex: "01", size: 32, microseconds: 4833, historical: []),
        ATSVector(hex: "0208", size: 256, microseconds: 4833, historical: []),
        // FWI 15 is reserved and stands for 4.
        ATSVector(hex: "0328F0", size: 256, microseconds: 4833, historical: []),
        // What follows the ATS is not part of it.
        ATSVector(hex: "0208AABB", size: 256, microseconds: 4833, historical: []),
    ]

    @Test(arguments: ats) func readsATS(_ vector: ATSVector) throws {
        let ats = try #require(AnswerToSelect(Hex.decode(vector.hex)))
        #expect(ats.frameSize.bytes == vector.size)
        #expect(
            abs(
                ats.waitingTime.components.attoseconds / 1_000_000_000_000
                    + ats.waitingTime.components.seconds * 1_000_000 - vector.microseconds) <= 2)
        #expect(ats.historicalBytes == vector.historical)
        #expect(ats.supportsCID)
    }

    @Test(arguments: ["", "00", "02", "0670770102", "0210", "0220", "0240", "0270"])
    func refusesShortATS(_ hex: String) throws {
        #expect(AnswerToSelect(try Hex.decode(hex)) == nil)
    }

    @Test func readsOptionsOfATS() throws {
        #expect(try #require(AnswerToSelect([0x03, 0x48, 0x00])).supportsCID == false)
        #expect(try #require(AnswerToSelect([0x03, 0x28, 0x82])).guardTime == WaitingTime.guardTime(code: 2))
        #expect(WaitingTime.guardTime(code: 15) == .zero)
    }

    @Test func readsATQB() throws {
        let first = try #require(AnswerToRequestB(Hex.decode("5030702A1C00000011000105")))
        #expect(first.pupi == [0x30, 0x70, 0x2A, 0x1C])
        #expect(first.applicationData == [0, 0, 0, 0x11])
        #expect(first.frameSize.bytes == 16)
        #expect(first.waitingTime == WaitingTime.frame(code: 0))
        #expect(first.supportsCID && first.supportsISODEP)
        let second = try #require(AnswerToRequestB(Hex.decode("50E8253EEC00000011008185")))
        #expect(second.pupi == [0xE8, 0x25, 0x3E, 0xEC])
        #expect(second.frameSize.bytes == 256)
        #expect(second.waitingTime == WaitingTime.frame(code: 8))
        let extended = try #require(AnswerToRequestB(Hex.decode("5030702A1C0000001100818530")))
        #expect(extended.guardTime == WaitingTime.guardTime(code: 3))
        #expect(extended.protocolInfo == [0x00, 0x81, 0x85, 0x30])
    }

    @Test(arguments: ["", "50", "5030702A1C000000110001", "5130702A1C00000011000105", "5030702A1C0000001100010500AA"])
    func refusesWhatIsNoATQB(_ hex: String) throws {
        #expect(AnswerToRequestB(try Hex.decode(hex)) == nil)
    }

    @Test func computesChecksums() {
        #expect(Checksum.a.bytes(of: [0x30, 0x00]) == [0x02, 0xA8])
        #expect(Checksum.a.bytes(of: [0xE0, 0x80]) == [0x31, 0x73])
        #expect(Checksum.b.bytes(of: [0x05, 0x00, 0x08]) == [0x39, 0x73])
        #expect(Checksum.a.verified([0x30, 0x00, 0x02, 0xA8]) == [0x30, 0x00])
        #expect(Checksum.a.verified([0x30, 0x00, 0x02, 0xA9]) == nil)
        #expect(Checksum.b.verified([0x02, 0xA8]) == nil)
    }

    @Test(
        arguments: [[], [0x02, 0xA8], [0x30, 0x00, 0xA8, 0x02], [0x30, 0x01, 0x02, 0xA8], [0x63, 0x63]] as [[UInt8]])
    func whatIsDamagedIsNotVerified(_ frame: [UInt8]) {
        #expect(Checksum.a.verified(frame) == nil)
    }

    @Test func knowsFrameSizes() {
        let sizes = (0...15).map { FrameSize(code: $0).bytes }
        #expect(sizes == [16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096, 4096, 4096, 4096])
        #expect(FrameSize(fitting: 0).bytes == 16)
        #expect(FrameSize(fitting: 290).code == 8)
        #expect(FrameSize(fitting: .max).bytes == 4096)
    }
}
