// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing

@testable import ISODEP

/// Exchanges over a line that loses and damages frames: the answer is right and the card got each command once.
struct RecoveryTests {
    private static func blocks(_ card: SmallCard, cardFrame: Int) -> BlockProtocol {
        BlockProtocol(
            card,
            BlockProtocol.Parameters(
                modulation: .typeB, longestFrame: cardFrame, waitingTime: WaitingTime.frame(code: 0)))
    }

    @Test(arguments: SmallCard.InjectedFault.allCases) func survivesAFaultAtEveryExchange(
        _ fault: SmallCard.InjectedFault
    ) throws {
        let command = (0..<50).map { UInt8($0) }
        for moment in 1...12 {
            let card = SmallCard(readerFrame: 24, cardFrame: 16)
            card.faults = [moment: fault]
            card.extensions = 1
            var blocks = Self.blocks(card, cardFrame: 16)
            for _ in 0..<2 {
                #expect(try blocks.transceive(command, timeout: .seconds(5)) == command.reversed())
            }
            #expect(card.commands == [command, command])
            #expect(card.exchanges > moment)
        }
    }

    @Test(arguments: 1...60) func survivesAnyLine(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]
        for _ in 0..<20 {
            let cardFrame = sizes.randomElement(using: &random) ?? 16
            let card = SmallCard(readerFrame: sizes.randomElement(using: &random) ?? 16, cardFrame: cardFrame)
            card.extensions = Int.random(in: 0...3, using: &random)
            // Never three in a row, after which an exchange fails.
            for moment in 1...400 where moment % 3 != 0 && Int.random(in: 0..<4, using: &random) == 0 {
                card.faults[moment] = SmallCard.InjectedFault.allCases.randomElement(using: &random)
            }
            var blocks = Self.blocks(card, cardFrame: cardFrame)
            for _ in 0..<3 {
                let command = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                #expect(try blocks.transceive(command, timeout: .seconds(60)) == command.reversed())
                #expect(card.commands.last == command)
            }
            #expect(card.commands.count == 3)
        }
    }

    @Test func endsWithEndlessTimeExtensions() {
        let card = SmallCard()
        card.extensions = .max
        var blocks = Self.blocks(card, cardFrame: 256)
        #expect(throws: TransportError.cardTooSlow) { try blocks.transceive([1], timeout: .milliseconds(200)) }
        #expect(card.exchanges <= 201)
    }

    @Test func endsWithAnEndlessChain() {
        let chip = EndlessChip { $0 == 0 ? [0x12] + [UInt8](repeating: 0xAA, count: 253) : nil }
        var blocks = BlockProtocol(
            chip,
            BlockProtocol.Parameters(
                modulation: .typeA, longestFrame: 256, waitingTime: WaitingTime.frame(code: 0)))
        #expect(throws: TransportError.answerTooLong) { try blocks.transceive([1], timeout: .seconds(60)) }
        #expect(chip.exchanges == 260)
    }

    /// 65,536 bytes and a status word are an APDU, one byte more is none.
    @Test(arguments: [11, 12]) func acceptsTheLongestAnswer(_ lastPart: Int) throws {
        let chip = EndlessChip { index in
            let size = index < 259 ? 253 : index == 259 ? lastPart : 0
            return [(index < 260 ? 0x12 : 0x02) | UInt8(index & 1)] + [UInt8](repeating: 0xAA, count: size)
        }
        var blocks = BlockProtocol(
            chip,
            BlockProtocol.Parameters(
                modulation: .typeA, longestFrame: 256, waitingTime: WaitingTime.frame(code: 0)))
        if lastPart == 11 {
            #expect(try blocks.transceive([1], timeout: .seconds(60)).count == 65_538)
        } else {
            #expect(throws: TransportError.answerTooLong) { try blocks.transceive([1], timeout: .seconds(60)) }
        }
    }

    @Test func endsWithAnEmptyChain() {
        let chip = EndlessChip { _ in [0x12] }
        var blocks = BlockProtocol(
            chip,
            BlockProtocol.Parameters(
                modulation: .typeA, longestFrame: 256, waitingTime: WaitingTime.frame(code: 0)))
        #expect(throws: TransportError.corrupted(status: 0)) { try blocks.transceive([1], timeout: .seconds(60)) }
        #expect(chip.exchanges < 10)
    }

    @Test(arguments: 1...200) func endsWithAnyCard(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let starts: [UInt8] = [
            0x02, 0x03, 0x12, 0x13, 0xA2, 0xA3, 0xB2, 0xF2, 0xC2, 0x0A, 0x52, 0x44, 0x20, 0x06, 0x50,
        ]
        let chip = EndlessChip { _ in
            if Int.random(in: 0..<10, using: &random) == 0 { return nil }
            let first = starts.randomElement(using: &random) ?? 0
            return [first]
                + (0..<Int.random(in: 0...14, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
        }
        var pcd = PCD(chip)
        for request in [ActivationRequest.typeA(), .typeB()] {
            _ = try? pcd.activate(request)
            _ = try? pcd.transceive([0x00, 0xA4, 0x04, 0x00], timeout: .milliseconds(100))
        }
        #expect(chip.exchanges < 2000)
    }
}
