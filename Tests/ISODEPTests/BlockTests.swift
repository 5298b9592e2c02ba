// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ISODEP

/// Blocks and their bytes.
struct BlockTests {
    @Test func roundTrip() {
        let blocks: [Block] = [
            .information(number: 0, [], more: false), .information(number: 1, [1, 2, 3], more: true),
            .acknowledge(number: 0), .acknowledge(number: 1), .refuse(number: 0), .refuse(number: 1),
            .waitingTimeExtension(1), .waitingTimeExtension(59), .deselect,
        ]
        for block in blocks { #expect(Block(block.bytes) == block) }
    }

    @Test func isAnotherCards() {
        #expect(Block([0x0A, 0x04, 1]) == nil)
        // Cards with identifier 0 may leave it out.
        #expect(Block([0x0A, 0x00, 1]) == Block([0x02, 1]))
    }

    @Test func readsAnything() {
        var accepted = 0
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max where Block([first, second]) != nil { accepted += 1 }
        }
        // I-blocks of four kinds with any byte, S(WTX) with 59 multipliers and four values of the power level, and
        // with an identifier 0 the I-, R- and S(DESELECT) blocks whose rest is empty, its high half free.
        #expect(accepted == 4 * 256 + 59 * 4 + (4 + 4 + 1) * 16)
        var random = SeededGenerator(seed: 14443)
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...6, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            guard let block = Block(bytes) else { continue }
            #expect(Block(block.bytes) == block)
        }
    }
}
