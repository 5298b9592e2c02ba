// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NFCTransport
import Testing
import VirtualReader

@testable import PaSoRiReader

/// A session that the reader has ended by itself: nobody says whether an RC-S300 does so while somebody types a PIN, so
/// no more than the card may be lost by it.
struct Port400SessionTests {
    private static let select: [UInt8] = [0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01]

    @Test func theCardIsLostAndFoundAgain() throws {
        let bench = try Port400Bench()
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        bench.chip.endSession()
        #expect(throws: TransportError.cardReleased) { try bench.requestSystemCode(target) }
        // Nothing reaches a card that was not activated anew.
        #expect(try bench.activate() == target)
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test(arguments: Port400TypeABTests.types) func theSameWithISODEP(
        _ type: String, _ request: ActivationRequest
    ) throws {
        let bench = try Port400Bench([Port400TypeABTests.card(type)])
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

    /// Who looks for a card is not told of a session that nobody used.
    @Test(arguments: Port400TypeABTests.types) func lookingBeginsAnotherSession(
        _ type: String, _ request: ActivationRequest
    ) throws {
        let bench = try Port400Bench([Port100Bench.suica(), Port400TypeABTests.card(type)])
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
