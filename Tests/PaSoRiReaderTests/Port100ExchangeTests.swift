// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader

@testable import PaSoRiReader

/// What goes over the USB, byte for byte, and how often.
struct Port100ExchangeTests {
    private static let ack = "<0000ff00ff00"

    @Test func opensLikeTheVectors() throws {
        let bench = try Port100Bench()
        #expect(
            bench.link.takeLog() == [
                ">0000ff00ff00",
                ">0000ffffff0300fdd62a01ff00", Self.ack, "<0000ffffff0300fdd72b00fe00",
                ">0000ffffff0200fed6200a00", Self.ack, "<0000ffffff0400fcd7211101f600",
                ">0000ffffff0300fdd606002400", Self.ack, "<0000ffffff0300fdd707002200",
            ])
        #expect(bench.reader.information.name == "Sony RC-S380/S (firmware 1.11)")
    }

    @Test func pollsLikeTheVectors() throws {
        let bench = try Port100Bench()
        _ = bench.link.takeLog()
        let target = try #require(
            try bench.reader.activateFeliCa(systems: [.any], requestCode: 1, bitRates: [.kbps212]))
        let log = bench.link.takeLog()
        #expect(log.count == 9)
        #expect(log[0] == ">0000ffffff0600fad60001010f011800")
        #expect(log[3].hasPrefix(">0000ffffff2800d8d602001801010201"))
        #expect(log[3].hasSuffix("13064b00"))
        #expect(log[6] == ">0000ffffff0a00f6d6046e000600ffff0100b300")
        #expect(log[8].hasPrefix("<0000ffffff1b00e5d70500000000081401" + Hex.encode(target.idm.bytes)))
    }

    @Test func selectsTheProtocolLikeTheVectors() throws {
        let expected = "00180101020103000400050006000708080009000a000b000c000e040f001000110012001306"
        #expect(Hex.encode(Port100Setting.felica(.kbps212).protocolParameters(after: nil)) == expected)
    }

    @Test func exchangeTakesThreeTransfers() throws {
        let bench = try Port100Bench()
        let target = try #require(try bench.activate())
        for _ in 0..<5 {
            _ = bench.link.takeLog()
            #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
            #expect(bench.link.takeLog().count == 3)
        }
        // Another system at the same speed: still one command.
        #expect(try bench.activate(.ndef) == nil)
        #expect(bench.link.takeLog().count == 3)
        // Another speed has to be told.
        #expect(try bench.activate(bitRate: .kbps424) != nil)
        #expect(bench.link.takeLog().count == 9)
    }

    /// nfcpy's coding of time-outs.
    static let times: [(milliseconds: Int, code: UInt16)] = [
        (1, 0x0014), (2, 0x001E), (10, 0x006E), (100, 0x03F2), (1000, 0x271A), (65_536, 0xFFFF), (0, 0x000A),
        (-5, 0x000A),
    ]

    @Test(arguments: times) func timesAreInTenthsOfAMillisecond(_ milliseconds: Int, _ code: UInt16) {
        #expect(Port100Time.tenths(.milliseconds(milliseconds)) == code)
    }

    @Test func timesAreRoundedUp() {
        #expect(Port100Time.tenths(.microseconds(1)) == 11)
        #expect(Port100Time.tenths(.microseconds(100)) == 11)
        #expect(Port100Time.tenths(.microseconds(101)) == 12)
        #expect(Port100Time.tenths(.seconds(Int64.max / 2)) == .max)
    }

    /// The status of InCommRF and the public error.
    static let statuses: [(UInt32, TransportError?)] = [
        (0, nil), (0x80, .noAnswer), (0x01, .corrupted(status: 1)), (0x02, .corrupted(status: 2)),
        (0x04, .corrupted(status: 4)), (0x08, .corrupted(status: 8)), (0x84, .corrupted(status: 4)),
        (0x10, .answerTooLong), (0x40, .readerFailed(detail: .init(.tooHot))),
        (0x100, .corrupted(status: 0x10)), (0x8000_0000, .corrupted(status: 0x20)),
        (0x400, .readerFailed(detail: .init(.fieldOff))),
        (0x200, .readerFailed(detail: .init(.otherField))),
        (0x800, .readerFailed(detail: .init(.status, "800"))),
    ]

    @Test(arguments: statuses) func radioStatus(_ status: UInt32, _ error: TransportError?) {
        #expect(Port100Status(rawValue: status).error == error)
    }

    @Test func everyStatusButZeroIsAnError() {
        for bit in 0..<32 { #expect(Port100Status(rawValue: 1 << bit).error != nil) }
    }

    @Test func closingSwitchesTheFieldOff() throws {
        let bench = try Port100Bench()
        try bench.activate()
        #expect(bench.chip.statistics.isFieldOn)
        _ = bench.link.takeLog()
        bench.reader.close()
        #expect(
            bench.link.takeLog() == [
                ">0000ffffff0300fdd606002400", Self.ack, "<0000ffffff0300fdd707002200", ">0000ff00ff00",
            ])
        #expect(!bench.chip.statistics.isFieldOn)
        bench.reader.close()
        #expect(bench.link.closings == 1)
        #expect(bench.link.takeLog() == [])
        #expect(throws: TransportError.readerUnavailable(reason: .absent, detail: .init(.closed))) {
            try bench.activate()
        }
    }

    @Test(arguments: [291, 5000]) func rejectsLongerFrames(_ length: Int) throws {
        let bench = try Port100Bench()
        try bench.activate()
        _ = bench.link.takeLog()
        #expect(throws: TransportError.frameTooLong(length: length, limit: 290)) {
            try bench.reader.transceive([UInt8](repeating: 0, count: length), timeout: .milliseconds(1))
        }
        #expect(bench.link.takeLog() == [])
    }

    @Test func causesNoComplaints() throws {
        let bench = try Port100Bench()
        let target = try #require(try bench.activate())
        _ = try bench.requestSystemCode(target)
        bench.reader.close()
        #expect(bench.chip.statistics.complaints == [])
    }
}
