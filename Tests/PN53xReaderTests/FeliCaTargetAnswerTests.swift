// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// What InListPassiveTarget answers, byte by byte.
@Suite(.waits)
struct FeliCaTargetAnswerTests {
    static let card = TestCard.idm + TestCard.pmm
    private static let polling = FeliCaPolling(.any)

    @Test(arguments: [[0x00], [0x00, 0x01, 0x12]] as [[UInt8]]) func noTarget(_ bytes: [UInt8]) throws {
        #expect(try Self.polling.target(inList: bytes, bitRate: .kbps212) == nil)
    }

    @Test func aCard() throws {
        let plain = try Self.polling.target(inList: [0x01, 0x01, 0x12, 0x01] + Self.card, bitRate: .kbps424)
        #expect(plain?.idm.bytes == TestCard.idm)
        #expect(plain?.pmm.bytes == TestCard.pmm)
        #expect(plain?.requestData == nil)
        #expect(plain?.bitRate == .kbps424)
        let named = try Self.polling.target(
            inList: [0x01, 0x01, 0x14, 0x01] + Self.card + [0x12, 0xFC], bitRate: .kbps212)
        #expect(named?.requestData == 0x12FC)
    }

    static let damaged: [[UInt8]] =
        (1..<20).map { Array(([0x01, 0x01, 0x12, 0x01] + card).prefix($0)) } + [
            [], [0x01, 0x01, 0x13, 0x01] + card + [0x00], [0x01, 0x01, 0x12, 0x05] + card,
            [0x01, 0x01, 0x14, 0x01] + card, [0x01, 0x01, 0x14, 0x01] + card + [0x12], [0x01, 0x01, 0x00, 0x01] + card,
        ]

    @Test(arguments: damaged) func inventsNothing(_ bytes: [UInt8]) {
        #expect(throws: TransportError.corrupted(status: 0)) {
            try Self.polling.target(inList: bytes, bitRate: .kbps212)
        }
    }

    @Test func requestMatchesTheVectors() {
        #expect(
            ChipCommand.listFeliCa(FeliCaPolling(.any, requestCode: 1), at: .kbps212)
                == [0x4A, 0x01, 0x01, 0x00, 0xFF, 0xFF, 0x01, 0x00])
        #expect(
            ChipCommand.listFeliCa(FeliCaPolling(.ndef, timeSlots: 15), at: .kbps424)
                == [0x4A, 0x01, 0x02, 0x00, 0x12, 0xFC, 0x00, 0x0F])
    }

    @Test(arguments: [InjectedFault.truncated(to: 5), .wrongResponseCode, .flipped(offset: 0, mask: 0x01)])
    func ignoresADamagedPollingAnswer(_ fault: InjectedFault) throws {
        // The first look is repeated, since the field came on with it.
        let bench = try Bench(faults: [InjectedFaultRule(fault, .during(1...2))])
        var target: FeliCaTarget?
        // Whether the chip itself refuses it or passes it on, no IDm comes of it.
        do { target = try bench.activate() } catch { #expect(error as? TransportError == .corrupted(status: 0)) }
        #expect(target == nil)
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
    }
}
