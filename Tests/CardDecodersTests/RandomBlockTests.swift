// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

/// Any sixteen bytes may lie in a block.
@Suite("Random blocks")
struct RandomBlockTests {
    /// A generator that gives the same numbers for the same seed (SplitMix64).
    struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        mutating func block() -> Block {
            var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &self) }
            // Bytes at the edges are likelier than chance makes them.
            for place in bytes.indices where Int.random(in: 0..<4, using: &self) == 0 {
                bytes[place] = [0x00, 0xFF, 0x7F, 0x80].randomElement(using: &self) ?? 0
            }
            return Block(bytes) ?? .zero
        }
    }

    static let seeds: [UInt64] = Array(1...64)

    @Test("Each block before the first unused one is a record, with its own bytes and only facts", arguments: seeds)
    func history(_ seed: UInt64) throws {
        var generator = Seeded(state: seed)
        let count = Int.random(in: 0...40, using: &generator)
        let blocks = (0..<count).map { _ in generator.block() }
        let used = Array(blocks.prefix { $0[0] != 0 })
        let reports = [
            try CyberneticsDecoder.transit.decode(Dumps.transit(blocks, attribute: generator.block())),
            try EdyDecoder().decode(Dumps.edy(blocks, purse: generator.block(), number: generator.block())),
        ]
        for report in reports {
            let history = try #require(report.history)
            #expect(history.map(\.raw) == used)
            #expect(report.balances.count == 1)
            for record in history { check(record) }
            let text = try #require(report.historyReport).json(.japanese, card: .invented).compactText
            #expect(try JSONValue(parsing: Array(text.utf8)).compactText.utf8.count == text.utf8.count)
        }
    }

    private func check(_ record: HistoryRecord) {
        #expect(record.serial.map { (0...0xFF_FFFF).contains($0) } == true)
        if let date = record.date {
            #expect(CalendarDate(year: date.year, month: date.month, day: date.day) == date)
            #expect((2000...2127).contains(date.year))
        } else {
            #expect(record.warnings.contains(.invalidDate))
        }
        if let time = record.time { #expect(ClockTime(hour: time.hour, minute: time.minute) != nil) }
        #expect(record.process?.hex.utf8.count == 2)
        #expect(record.balance.map { $0 >= 0 } == true)
        if case .station(let code)? = record.entry?.code { #expect(code.area <= 3) }
    }

    @Test("Random services, states and block numbers never trap, and a failure names its decoder", arguments: seeds)
    func dumps(_ seed: UInt64) throws {
        var generator = Seeded(state: seed)
        let codes: [UInt16] = [0x008B, 0x090F, 0x090D, 0x108F, 0x1317, 0x1315, 0x170F, 0x110B]
        let states: [ReadState] = [
            .read, .lost, .skipped, .keyRequired, .refused(status: 0x01A5), .refused(status: nil),
        ]
        let systems: [SystemCode] = [.transit, .commonArea]
        for _ in 0..<50 {
            var dump = Dumps.card(systems.randomElement(using: &generator) ?? .transit, [])
            for code in codes.shuffled(using: &generator).prefix(4) {
                var blocks: BlockTable = [:]
                for _ in 0..<Int.random(in: 0...6, using: &generator) {
                    let edge: UInt16 = [0, 1, 2, 255, 256, .max].randomElement(using: &generator) ?? 0
                    blocks[edge] = generator.block()
                }
                dump.systems[0].services.append(
                    ServiceDump(
                        code: ServiceCode(rawValue: code), state: states.randomElement(using: &generator) ?? .read,
                        blocks: blocks))
            }
            for decoder in DecoderRegistry.standard.decoders {
                do {
                    let report = try decoder.decode(dump)
                    #expect(decoder.recognizes(dump))
                    #expect(report.balances.allSatisfy { $0.kind == decoder.kind })
                } catch {
                    #expect(error.kind == decoder.kind)
                }
            }
        }
    }
}
