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
    }

    static let ats: [ATSVector] = [
        ATSVector(hex: "067077010280", size: 16, microseconds: 302),
        ATSVector(hex: "067277210280", size: 32, microseconds: 1208),
        ATSVector(hex: "067477410280", size: 48, microseconds: 4833),
        ATSVector(hex: "067577810280", size: 64, microseconds: 77_328),
        ATSVector(hex: "067877810280", size: 256, microseconds: 77_328),
        ATSVector(hex: "067D77D10280", size: 4096, microseconds: 2_474_516),
        // Only TL; and T0 alone: every default.
        ATSVector(hex: "01", size: 32, microseconds: 4833),
        ATSVector(hex: "0208", size: 256, microseconds: 4833),
        // FWI 15 is reserved and stands for 4.
        ATSVector(hex: "0328F0", size: 256, microseconds: 4833),
        // What follows the ATS is not part of it.
        ATSVector(hex: "0208AABB", size: 256, microseconds: 4833),
    ]

    @Test(arguments: ats) func readsATS(_ vector: ATSVector) throws {
        let ats = try #require(AnswerToSelect(Hex.decode(vector.hex)))
        #expect(ats.frameSize.bytes == vector.size)
        #expect(
            abs(
                ats.waitingTime.components.attoseconds / 1_000_000_000_000
                    + ats.waitingTime.components.seconds * 1_000_000 - vector.microseconds) <= 2)
    }

    @Test(arguments: ["", "00", "02", "0670770102", "0210", "0220", "0240", "0270"])
    func rejectsAShortATS(_ hex: String) throws {
        #expect(AnswerToSelect(try Hex.decode(hex)) == nil)
    }

    @Test func readsTimesOfATS() throws {
        #expect(try #require(AnswerToSelect([0x03, 0x28, 0x82])).guardTime == WaitingTime.guardTime(code: 2))
        #expect(WaitingTime.guardTime(code: 15) == .zero)
    }

    @Test func readsATQB() throws {
        let first = try #require(AnswerToRequestB(Hex.decode("5030702A1C00000011000105")))
        #expect(first.pupi == [0x30, 0x70, 0x2A, 0x1C])
        #expect(first.applicationData == [0, 0, 0, 0x11])
        #expect(first.frameSize.bytes == 16)
        #expect(first.waitingTime == WaitingTime.frame(code: 0))
        #expect(first.supportsISODEP)
        let second = try #require(AnswerToRequestB(Hex.decode("50E8253EEC00000011008185")))
        #expect(second.pupi == [0xE8, 0x25, 0x3E, 0xEC])
        #expect(second.frameSize.bytes == 256)
        #expect(second.waitingTime == WaitingTime.frame(code: 8))
        let extended = try #require(AnswerToRequestB(Hex.decode("5030702A1C0000001100818530")))
        #expect(extended.guardTime == WaitingTime.guardTime(code: 3))
        #expect(extended.protocolInfo == [0x00, 0x81, 0x85, 0x30])
    }

    @Test(arguments: ["", "50", "5030702A1C000000110001", "5130702A1C00000011000105", "5030702A1C0000001100010500AA"])
    func rejectsAMalformedATQB(_ hex: String) throws {
        #expect(AnswerToRequestB(try Hex.decode(hex)) == nil)
    }

    /// Every T0 with the bytes that it announces, built by hand.
    @Test(arguments: UInt8.min...UInt8.max) func readsEveryFormatOfATS(_ format: UInt8) throws {
        for (times, options) in [(0x00, 0x00), (0x93, 0x01), (0x1E, 0x02), (0xE1, 0x03)] as [(UInt8, UInt8)] {
            let isGiven = ["TA": format / 16 % 2 == 1, "TB": format / 32 % 2 == 1, "TC": format / 64 % 2 == 1]
            let interface = [("TA", 0xB3), ("TB", times), ("TC", options)].filter { isGiven[$0.0] == true }.map(\.1)
            let whole = [UInt8(4 + interface.count), format] + interface + [0xC1, 0xC2]
            let ats = try #require(AnswerToSelect(whole))
            #expect(ats.frameSize == FrameSize(code: format % 16))
            #expect(ats.waitingTime == WaitingTime.frame(code: isGiven["TB"] == true ? times / 16 : 4))
            #expect(ats.guardTime == WaitingTime.guardTime(code: isGiven["TB"] == true ? times % 16 : 0))
            #expect(ats.bytes == whole)
            #expect(AnswerToSelect(Array(whole.dropLast())) == nil)
        }
    }

    @Test func readsEveryByteOfATQB() throws {
        for byte in UInt8.min...UInt8.max {
            let (second, third) = (byte &* 7 &+ 3, ~byte)
            let atqb = try #require(AnswerToRequestB([0x50, 1, 2, 3, 4, 5, 6, 7, 8, 0xB3, byte, second, third]))
            #expect(atqb.frameSize == FrameSize(code: byte / 16))
            #expect(atqb.protocolType == byte % 8)
            #expect(atqb.supportsISODEP == (byte % 2 == 1))
            #expect(atqb.waitingTime == WaitingTime.frame(code: second / 16))
            #expect(atqb.guardTime == WaitingTime.guardTime(code: third / 16))
        }
    }

    @Test func shortestFrameHasOneByte() {
        for checksum in [Checksum.a, .b] {
            #expect(checksum.verified([0x0A] + checksum.bytes(of: [0x0A])) == [0x0A])
            #expect(checksum.verified(checksum.bytes(of: [])) == nil)
        }
    }

    @Test func framesHaveWholeBytesByDefault() {
        #expect(RawFrame(.typeA, [1]) == RawFrame(.typeA, [1], lastByteBits: 8, addsCRC: true, checksCRC: true))
        #expect(RawAnswer([1]).lastByteBits == 8)
    }

    /// 4096 / 13.56 MHz is 302.065 µs.
    @Test func countsTimesInPowersOfTwo() {
        var time = Duration.nanoseconds(302_065)
        for code: UInt8 in 0...14 {
            #expect(WaitingTime.frame(code: code) == time)
            #expect(WaitingTime.guardTime(code: code) == (code == 0 ? .zero : time))
            time += time
        }
        #expect(WaitingTime.frame(code: 15) == .nanoseconds(16 * 302_065))
        #expect(WaitingTime.guardTime(code: 15) == .zero)
        #expect(WaitingTime.longest == .nanoseconds(16_384 * 302_065))
        #expect(WaitingTime.extended(.nanoseconds(256 * 302_065), by: 59) == .nanoseconds(59 * 256 * 302_065))
        #expect(WaitingTime.extended(.nanoseconds(512 * 302_065), by: 59) == .nanoseconds(16_384 * 302_065))
    }

    /// ISO 14443-3, annex B.
    @Test(arguments: [
        (Checksum.a, "0000", "A01E"), (.a, "1234", "26CF"), (.b, "000000", "CCC6"), (.b, "0FAAFF", "FCD1"),
        (.b, "0A123456", "2CF6"),
    ])
    func checksumsOfTheStandard(_ checksum: Checksum, _ content: String, _ bytes: String) throws {
        let content = try Hex.decode(content)
        #expect(checksum.bytes(of: content) == (try Hex.decode(bytes)))
        #expect(checksum.verified(content + (try Hex.decode(bytes))) == content)
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
    func skipsVerificationOfDamagedData(_ frame: [UInt8]) {
        #expect(Checksum.a.verified(frame) == nil)
    }

    @Test func knowsFrameSizes() {
        let sizes = (0...15).map { FrameSize(code: $0).bytes }
        #expect(sizes == [16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096, 4096, 4096, 4096])
        for code: UInt8 in 0...12 {
            #expect(FrameSize(code: code).code == code)
            #expect(FrameSize(fitting: sizes[Int(code)]).code == code)
            #expect(FrameSize(fitting: sizes[Int(code)] - 1).code == (code == 0 ? 0 : code - 1))
        }
        #expect(FrameSize(code: 13).code == 12)
        #expect(FrameSize(fitting: 0).bytes == 16)
        #expect(FrameSize(fitting: 290).code == 8)
        #expect(FrameSize(fitting: .max).bytes == 4096)
    }
}
