// SPDX-License-Identifier: Apache-2.0

import CardModel
import ByteCodec
import ReaderCore
import SimulatedChips
import Testing
import VirtualReader

@testable import PaSoRiReader

/// A session that the reader has ended by itself: nobody says whether an RC-S300 does so while somebody types a PIN, so
/// no more than the card may be lost by it.
struct Port400SessionTests {
    private static let select: [UInt8] = [0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01]
    /// What readers answer outside a session.
    static let statuses: [UInt16] = [0x6301, 0x6985, 0x6300]

    private static func behavior(_ status: UInt16) -> Port400Behavior {
        var behavior = Port400Behavior()
        behavior.statusOutsideSession = status
        return behavior
    }

    @Test(arguments: statuses) func losesAndFindsTheCard(_ status: UInt16) throws {
        let bench = try Port400Bench(behavior: Self.behavior(status))
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        bench.chip.endSession()
        #expect(throws: TransportError.cardReleased) { try bench.requestSystemCode(target) }
        // Nothing reaches a card that was not activated again.
        #expect(try bench.activate() == target)
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        #expect(bench.chip.statistics.complaints == [])
    }

    /// Where 6300 is about the frame itself, the first may be a transmission error; the second is taken for more.
    @Test func secondConsecutiveTransmissionErrorEndsTheSession() throws {
        var behavior = Self.behavior(0x6300)
        behavior.blamesFrameOutsideSession = true
        let bench = try Port400Bench(behavior: behavior)
        let target = try #require(try bench.activate())
        bench.chip.endSession()
        #expect(throws: TransportError.corrupted(status: Port400Status.transmissionError)) {
            try bench.requestSystemCode(target)
        }
        #expect(throws: TransportError.cardReleased) { try bench.requestSystemCode(target) }
        #expect(try bench.activate() == target)
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
    }

    /// Two cards that keep colliding do not begin sessions forever.
    @Test func endlessTransmissionErrorsBeginOneSession() throws {
        var behavior = Port400Behavior()
        behavior.reportsDamageByStatus = true
        let bench = try Port400Bench(
            faults: [InjectedFaultRule(.damaged(status: 0x02), .every(1))], behavior: behavior)
        for _ in 0..<10 {
            #expect(throws: TransportError.heard(.damaged(.felica))) { try bench.activate() }
        }
        let starts = bench.link.log.count { $0.contains("ff500000028100") }
        #expect(starts == 2)
    }

    @Test(arguments: Port400TypeABTests.types, statuses) func sameWithISODEP(
        _ type: (String, ActivationRequest), _ status: UInt16
    ) throws {
        let (type, request) = type
        let bench = try Port400Bench([Port400TypeABTests.card(type)], behavior: Self.behavior(status))
        #expect(try bench.reader.activate(request) != nil)
        #expect(try bench.reader.transceive(Self.select, timeout: .seconds(1)) == [0x90, 0x00])
        bench.chip.endSession()
        for _ in 0..<2 {
            #expect(throws: TransportError.cardReleased) {
                try bench.reader.transceive(Self.select, timeout: .seconds(1))
            }
        }
        #expect(try bench.reader.activate(request)?.isISODEP == true)
        #expect(try bench.reader.transceive(Self.select, timeout: .seconds(1)) == [0x90, 0x00])
        #expect(bench.chip.statistics.complaints == [])
    }

    /// A search does not report the loss of an unused session.
    @Test(arguments: Port400TypeABTests.types, statuses) func searchBeginsAnotherSession(
        _ type: (String, ActivationRequest), _ status: UInt16
    ) throws {
        let (type, request) = type
        let bench = try Port400Bench(
            [Port100Bench.suica(), Port400TypeABTests.card(type)], behavior: Self.behavior(status))
        for _ in 0..<2 {
            bench.chip.endSession()
            #expect(try bench.activate() != nil)
            bench.chip.endSession()
            #expect(try bench.reader.activate(request)?.isISODEP == true)
            #expect(try bench.reader.transceive(Self.select, timeout: .seconds(1)) == [0x90, 0x00])
        }
        #expect(bench.chip.statistics.complaints == [])
    }
}
