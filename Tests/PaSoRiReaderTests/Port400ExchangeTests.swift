// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader

@testable import PaSoRiReader

/// What goes over the USB to an RC-S300, byte for byte, and how often.
struct Port400ExchangeTests {
    @Test func opensInTheUsualOrder() throws {
        let bench = try Port400Bench()
        let sent = bench.link.takeLog().filter { $0.hasPrefix(">") }.map { String($0.dropFirst(21)) }
        #expect(
            sent.map { $0.uppercased() } == [
                "FF560000", "FF560000", "FF50000002820000", "FF50000002810000", "FF50000002830000",
                "FF50000002840000",
            ])
        #expect(bench.pauses.all == [.milliseconds(30), .milliseconds(21)])
        #expect(bench.reader.information.name == "Sony RC-S300/S (firmware 1.00)")
        #expect(bench.reader.information.technologies == [.felica, .typeA, .typeB])
        #expect(bench.reader.information.blocksPerRead == 15)
    }

    @Test func endsAnAbandonedSession() throws {
        let bench = try Port400Bench(hasOrphan: true)
        #expect(try bench.activate() != nil)
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func pollsLikeTheVectors() throws {
        let bench = try Port400Bench()
        _ = bench.link.takeLog()
        let target = try #require(
            try bench.reader.activateFeliCa(systems: [.any], requestCode: 1, bitRates: [.kbps212]))
        let log = bench.link.takeLog()
        #expect(log.count == 4)
        #expect(log[0].lowercased() == ">6b0a0000000007000000ff500002048f02030000")
        #expect(
            log[2].lowercased().hasSuffix(
                "ff5000010000155f4604f82a0000" + "9002001c" + "958200060600ffff0100000000"))
        #expect(log[3].count == 1 + 2 * 46)
        #expect(log[3].lowercased().dropFirst(1 + 2 * 26).hasPrefix(Hex.encode(target.idm.bytes)))
    }

    @Test func exchangeTakesTwoTransfers() throws {
        let bench = try Port400Bench()
        let target = try #require(try bench.activate())
        for _ in 0..<300 {
            _ = bench.link.takeLog()
            #expect(try bench.requestSystemCode(target).first == 0x11)
            #expect(bench.link.takeLog().count == 2)
        }
        #expect(try bench.activate(.ndef) == nil)
        #expect(bench.link.takeLog().count == 2)
    }

    @Test func setsTheOtherSpeedOnRequestOnly() throws {
        let bench = try Port400Bench()
        #expect(bench.reader.information.feliCaBitRates == [.kbps212])
        #expect(try bench.activate(bitRate: .kbps212)?.bitRate == .kbps212)
        #expect(!bench.link.takeLog().contains { $0.contains("ff6e") })
        #expect(try bench.activate(bitRate: .kbps424)?.bitRate == .kbps424)
        #expect(bench.link.takeLog().first?.uppercased().hasSuffix("FF50000006FF6E0305019200") == true)
        #expect(try bench.activate(bitRate: .kbps212)?.bitRate == .kbps212)
        #expect(bench.link.takeLog().first?.uppercased().hasSuffix("FF50000006FF6E0305018900") == true)
        #expect(bench.chip.statistics.complaints == [])
    }

    /// Less than 3 ms is too short for the reader.
    @Test func waitsAtLeast10Milliseconds() throws {
        let bench = try Port400Bench()
        let target = try #require(try bench.activate())
        _ = bench.link.takeLog()
        for time in [Duration.zero, .seconds(-1), .milliseconds(1), .milliseconds(9)] {
            #expect(
                try bench.reader.transceive([0x0A, 0x0C] + target.idm.bytes, timeout: time) == Port100Bench.systemCodes)
            #expect(bench.link.takeLog().first?.contains("5f460410270000") == true)
        }
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func sequenceNumbersGoOnPast255() throws {
        let bench = try Port400Bench()
        let target = try #require(try bench.activate())
        for _ in 0..<600 { #expect(try bench.requestSystemCode(target).first == 0x11) }
        #expect(bench.chip.statistics.hostCommands > 600)
    }

    static let statuses: [(TransparentAnswer.Meaning, TransportError?)] = [
        (.done, nil), (.silent, .noAnswer), (.damaged, .corrupted(status: 0x10)),
        (.sessionIsOpen, .readerUnavailable(reason: .busy, detail: .init(.sessionTaken))),
        (.wrongState, .readerFailed(detail: .init(.notInThisSession))),
        (.refused(status: 0x6D00), .readerFailed(detail: .init(.status, "6D00"))),
    ]

    @Test(arguments: statuses) func statusWords(_ meaning: TransparentAnswer.Meaning, _ error: TransportError?) {
        #expect(Port400Status.error(meaning) == error)
    }

    @Test func closingSwitchesTheFieldOffAndEndsTheSession() throws {
        let bench = try Port400Bench()
        try bench.activate()
        #expect(bench.chip.statistics.isFieldOn)
        _ = bench.link.takeLog()
        bench.reader.close()
        let sent = bench.link.takeLog().filter { $0.hasPrefix(">") }.map { $0.uppercased() }
        #expect(sent.count == 2)
        #expect(sent.first?.hasSuffix("FF50000002830000") == true)
        #expect(sent.last?.hasSuffix("FF50000002820000") == true)
        #expect(!bench.chip.statistics.isFieldOn)
        bench.reader.close()
        #expect(bench.link.closings == 1)
        #expect(throws: TransportError.readerUnavailable(reason: .absent, detail: .init(.closed))) {
            try bench.activate()
        }
    }

    @Test(arguments: [291, 5000]) func rejectsLongerFrames(_ length: Int) throws {
        let bench = try Port400Bench()
        try bench.activate()
        _ = bench.link.takeLog()
        #expect(throws: TransportError.frameTooLong(length: length, limit: 290)) {
            try bench.reader.transceive([UInt8](repeating: 0, count: length), timeout: .milliseconds(1))
        }
        #expect(bench.link.takeLog() == [])
    }

    @Test func sendsNothingWithoutACard() throws {
        let bench = try Port400Bench()
        #expect(throws: TransportError.cardReleased) { try bench.reader.transceive([6, 0], timeout: .seconds(1)) }
        #expect(throws: TransportError.unsupported(detail: .init(.emptyFrame))) {
            try bench.reader.transceive([], timeout: .seconds(1))
        }
    }

    @Test(arguments: [(false, UInt8(0x01)), (true, UInt8(0x10))])
    func silenceAndDamageInTheAir(_ byStatus: Bool, _ status: UInt8) throws {
        let plan: InjectedFaults = [
            InjectedFaultRule(.silence, .during(2...2)), InjectedFaultRule(.damaged(status: 0x02), .during(3...3)),
        ]
        var behavior = Port400Behavior()
        behavior.reportsDamageByStatus = byStatus
        let bench = try Port400Bench(faults: plan, behavior: behavior)
        let target = try #require(try bench.activate())
        #expect(throws: TransportError.noAnswer) { try bench.requestSystemCode(target) }
        #expect(throws: TransportError.corrupted(status: status)) { try bench.requestSystemCode(target) }
        #expect(try bench.requestSystemCode(target).first == 0x11)
    }

    @Test func causesNoComplaints() throws {
        let bench = try Port400Bench()
        let target = try #require(try bench.activate())
        _ = try bench.requestSystemCode(target)
        #expect(try bench.reader.activate(.typeA()) == nil)
        #expect(try bench.reader.activate(.typeB()) == nil)
        #expect(try bench.activate() != nil)
        bench.reader.close()
        #expect(bench.chip.statistics.complaints == [])
    }
}
