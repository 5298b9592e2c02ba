// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Testing

/// The order of Pollings, on a reader that answers from a table.
struct FeliCaActivationTests {
    struct Case: Sendable {
        var systems: [UInt16]
        var answering: [Polling: UInt64]
        var bitRates: [FeliCaBitRate] = [.kbps212, .kbps424]
        var polled: [Polling]
        var found: UInt64?
    }

    static let cases = [
        Case(
            systems: [0x0003, 0xFE00], answering: [Polling(0x0003, 212): 1, Polling(0xFE00, 212): 2],
            polled: [Polling(0x0003, 212)], found: 1),
        Case(
            systems: [0x12FC, 0xFE00, 0x0003], answering: [Polling(0x0003, 212): 1, Polling(0xFE00, 212): 2],
            polled: [
                Polling(0x12FC, 212), Polling(0xFE00, 212), Polling(0x12FC, 212), Polling(0x12FC, 212),
                Polling(0xFE00, 212),
            ], found: 2),
        Case(
            systems: [0x12FC, 0x0003], answering: [Polling(0x0003, 424): 3, Polling(0x12FC, 424): 4],
            polled: [Polling(0x12FC, 212), Polling(0x0003, 212), Polling(0x12FC, 424)], found: 4),
        Case(
            systems: [0x0003], answering: [:], polled: [Polling(0x0003, 212), Polling(0x0003, 424)], found: nil),
        Case(
            systems: [0x0003], answering: [Polling(0x0003, 424): 1], bitRates: [.kbps212],
            polled: [Polling(0x0003, 212)], found: nil),
        Case(systems: [], answering: [Polling(0x0003, 212): 1], polled: [], found: nil),
    ]

    @Test(arguments: cases) func triesTheCallersOrder(_ test: Case) throws {
        let reader = TableReader(answering: test.answering, bitRates: test.bitRates)
        let target = try reader.activateFeliCa(systems: test.systems.map(SystemCode.init(rawValue:)))
        #expect(target?.idm.rawValue == test.found)
        #expect(reader.polled == test.polled)
    }

    @Test func passesOnRequestCodeAndTimeSlots() throws {
        let reader = TableReader(answering: [Polling(0xFFFF, 212): 9])
        let target = try reader.activateFeliCa(systems: [.any], requestCode: 1, timeSlots: 3)
        #expect(target?.requestData == 0x0103)
        #expect(target?.bitRate == .kbps212)
    }

    @Test func failingReaderEndsThePolling() {
        let reader = TableReader(answering: [Polling(0xFE00, 212): 2])
        reader.failure = .readerTimeout
        #expect(throws: TransportError.readerTimeout) { try reader.activateFeliCa(systems: [.transit, .commonArea]) }
        #expect(reader.polled.count == 1)
    }

    @Test func prefersTheBitRatesOfTheCaller() throws {
        let reader = TableReader(answering: [Polling(0x0003, 212): 1, Polling(0x0003, 424): 2])
        #expect(try reader.activateFeliCa(systems: [.transit], bitRates: [.kbps424, .kbps212])?.idm.rawValue == 2)
        #expect(reader.polled == [Polling(0x0003, 424)])
        #expect(try reader.activateFeliCa(systems: [.transit], bitRates: []) == nil)
        #expect(reader.polled.count == 1)
    }
}
