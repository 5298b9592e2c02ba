// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// A table of blocks, against a dictionary that is told the same.
struct BlockTableTests {
    private static func block(_ number: UInt8) throws -> Block {
        try #require(Block([UInt8](repeating: number, count: 16)))
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func itHoldsWhatADictionaryHolds(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var table = BlockTable()
        var expected: [UInt16: Block] = [:]
        for _ in 0..<300 {
            let number =
                Bool.random(using: &random) ? UInt16(expected.count) : UInt16.random(in: 0...40, using: &random)
            let block = try Self.block(UInt8.random(in: .min ... .max, using: &random))
            switch Int.random(in: 0...4, using: &random) {
            case 0:
                table[number] = nil
                expected[number] = nil
            case 1: #expect(table.updateValue(block, forKey: number) == expected.updateValue(block, forKey: number))
            default:
                table[number] = block
                expected[number] = block
            }
            #expect(table.count == expected.count)
            #expect(table.isEmpty == expected.isEmpty)
            #expect(table.last?.number == expected.keys.max())
            for number in 0...(41 as UInt16) { #expect(table[number] == expected[number]) }
        }
        #expect(table.numbers == expected.keys.sorted())
        #expect(table.values == expected.keys.sorted().map { expected[$0] })
        #expect(table.map(\.number) == table.numbers)
        #expect(table == BlockTable(expected.map { ($0.key, $0.value) }))
        #expect(Set([table, BlockTable(expected.shuffled(using: &random).map { ($0.key, $0.value) })]).count == 1)
        let odd: BlockTable = table.filter { !$0.number.isMultiple(of: 2) }
        #expect(odd.numbers == table.numbers.filter { !$0.isMultiple(of: 2) })
        #expect(table.mapValues { _ in .zero }.values.allSatisfy { $0.isZero })
    }

    @Test func theHighestNumberHasItsPlace() throws {
        let (one, two) = (try Self.block(1), try Self.block(2))
        var table: BlockTable = [0xFFFF: one, 0: two, 0xFFFF: two]
        #expect(table.numbers == [0, 0xFFFF])
        #expect(table[0xFFFF] == two)
        #expect(table != [0: two])
        table.add(missing: [0: one, 7: one])
        #expect(table == [0: two, 7: one, 0xFFFF: two])
    }
}
