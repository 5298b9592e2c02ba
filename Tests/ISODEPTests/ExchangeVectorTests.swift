// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Testing

@testable import ISODEP

/// Blocks as they go over the air.
struct ExchangeVectorTests {
    private static func blocks(
        _ chip: ScriptedChip, longest: Int = 256, waiting: Duration = WaitingTime.frame(code: 4)
    ) -> BlockProtocol {
        BlockProtocol(
            chip,
            BlockProtocol.Parameters(modulation: .typeA, longestFrame: longest, waitingTime: waiting))
    }

    @Test func alternatesTheBlockNumber() throws {
        let chip = ScriptedChip(["A 0201+ > 020203", "A 030102+ > 030203"])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01], timeout: .seconds(1)) == [0x02, 0x03])
        #expect(try blocks.transceive([0x01, 0x02], timeout: .seconds(1)) == [0x02, 0x03])
        #expect(chip.finish() == [])
    }

    @Test func chainsTheCommand() throws {
        let chip = ScriptedChip(["A 120102030405+ > A2", "A 0306+ > 030203"])
        var blocks = Self.blocks(chip, longest: 8)
        #expect(try blocks.transceive([1, 2, 3, 4, 5, 6], timeout: .seconds(1)) == [0x02, 0x03])
        #expect(chip.finish() == [])
    }

    @Test func acceptsAChainedAnswer() throws {
        let chip = ScriptedChip(["A 0201+ > 1211", "A A3+ > 1322", "A A2+ > 0233", "A 0302+ > 0344"])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01], timeout: .seconds(1)) == [0x11, 0x22, 0x33])
        #expect(try blocks.transceive([0x02], timeout: .seconds(1)) == [0x44])
        #expect(chip.finish() == [])
    }

    /// A card could go on so forever. It is not even asked for the next part.
    @Test func stopsAtAnEmptyPart() throws {
        let chip = ScriptedChip(["A 0201+ > 1211", "A A3+ > 13"])
        var blocks = Self.blocks(chip)
        #expect(throws: TransportError.corrupted(status: 0)) { try blocks.transceive([0x01], timeout: .seconds(1)) }
        #expect(chip.finish() == [])
    }

    @Test func grantsMoreTime() throws {
        let chip = ScriptedChip(["A 020102+ > F202", "A F202+ > 020203"])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01, 0x02], timeout: .seconds(1)) == [0x02, 0x03])
        #expect(chip.finish() == [])
        let frame = WaitingTime.frame(code: 4)
        #expect(chip.timeouts == [frame + WaitingTime.margin, frame * 2 + WaitingTime.margin])
    }

    /// Otherwise the faults before the extension would count, and the third one would end the exchange.
    @Test func extensionEndsASeriesOfFaults() throws {
        let chip = ScriptedChip([
            "A 0201+ > -", "A B2+ > -", "A B2+ > F201", "A F201+ > -", "A B2+ > -", "A B2+ > 0202",
        ])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01], timeout: .seconds(60)) == [0x02])
        #expect(chip.finish() == [])
    }

    @Test func acknowledgementEndsASeriesOfFaults() throws {
        let chip = ScriptedChip([
            "A 0201+ > -", "A B2+ > -", "A B2+ > A3", "A 0201+ > -", "A B2+ > -", "A B2+ > 0202",
        ])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01], timeout: .seconds(60)) == [0x02])
        #expect(chip.finish() == [])
    }

    /// Five times; after that its R(ACK) is a fault like any other.
    @Test func limitsRetransmissions() {
        let chip = ScriptedChip([String](repeating: "A 0201+ > A3", count: 6) + ["A B2+ > A3", "A B2+ > A3"])
        var blocks = Self.blocks(chip)
        #expect(throws: TransportError.corrupted(status: 0)) { try blocks.transceive([0x01], timeout: .seconds(60)) }
        #expect(chip.finish() == [])
    }

    @Test func waitsNoLongerThanTheCallerAllows() {
        let chip = ScriptedChip(["A 0201+ > -", "A B2+ > -", "A B2+ > -"])
        var blocks = Self.blocks(chip, waiting: WaitingTime.longest)
        #expect(throws: TransportError.noAnswer) { try blocks.transceive([0x01], timeout: .seconds(3)) }
        #expect(chip.timeouts.count == 3 && chip.timeouts.allSatisfy { $0 <= .seconds(3) })
    }

    /// A card that takes a time of its own for each block.
    private final class SlowCard {
        var now = ContinuousClock.now
        var time: Duration
        init(_ time: Duration) { self.time = time }

        func blocks(_ answer: @escaping (Int) -> [UInt8]) -> (reader: BlockProtocol, chip: EndlessChip) {
            let chip = EndlessChip { index in
                self.now += self.time
                return answer(index)
            }
            let parameters = BlockProtocol.Parameters(
                modulation: .typeA, longestFrame: 256, waitingTime: WaitingTime.frame(code: 8))
            return (BlockProtocol(chip, parameters, now: { self.now }), chip)
        }
    }

    /// As long as it asks for more time, a card has not left: bank cards and eIDs do so for many seconds.
    @Test(arguments: [1, 10, 59]) func aCardMayAskForMoreThanTheCallerAllows(_ multiplier: UInt8) throws {
        var blocks = SlowCard(.milliseconds(900)).blocks { $0 < 30 ? [0xF2, multiplier] : [0x02, 0x90, 0x00] }.reader
        #expect(try blocks.transceive([1], timeout: .seconds(5)) == [0x90, 0x00])
        // And again, in each block of a long command and a long answer.
        let chain = SlowCard(.milliseconds(900)).blocks { index in
            switch index {
            case 0...19, 21...40: [0xF2, multiplier]
            case 20: [0xA2]
            default: [0x03, 0x90, 0x00]
            }
        }
        var long = chain.reader
        #expect(try long.transceive([UInt8](repeating: 1, count: 300), timeout: .seconds(5)) == [0x90, 0x00])
        #expect(chain.chip.exchanges == 42)
    }

    /// For a minute, whatever the caller allows: the first block is the caller's.
    @Test(arguments: [Duration.seconds(5), .seconds(50)]) func aCardMayNotAskForever(_ timeout: Duration) {
        let card = SlowCard(.seconds(3)).blocks { _ in [0xF2, 59] }
        var blocks = card.reader
        #expect(throws: TransportError.cardTooSlow) { try blocks.transceive([1], timeout: timeout) }
        #expect(card.chip.exchanges == 21)
    }

    /// Each extension costs a millisecond of what the caller allows, however quickly it is used.
    @Test func aCardMayNotAskWithoutEnd() {
        let card = SlowCard(.zero).blocks { _ in [0xF2, 1] }
        var blocks = card.reader
        #expect(throws: TransportError.cardTooSlow) { try blocks.transceive([1], timeout: .seconds(5)) }
        #expect(card.chip.exchanges == 5001)
    }

    @Test func blockSizeExcludesHeaderAndCRC() {
        let payloads = [256, 16, 5, 4, 3, 0].map {
            BlockProtocol.Parameters(modulation: .typeA, longestFrame: $0, waitingTime: .zero).payload
        }
        #expect(payloads == [253, 13, 2, 1, 1, 1])
    }

    // MARK: Presence

    @Test(arguments: [("A2", true), ("0202", true), ("-", false), ("!", false), ("55", false)])
    func presence(_ answer: String, _ isPresent: Bool) throws {
        let chip = ScriptedChip(["A B2+ > \(answer)", "A 0201+ > 0202"])
        var blocks = Self.blocks(chip, waiting: WaitingTime.frame(code: 1))
        #expect(try blocks.isPresent() == isPresent)
        // The question changes nothing.
        #expect(try blocks.transceive([0x01], timeout: .seconds(60)) == [0x02])
        #expect(chip.finish() == [])
        #expect(chip.timeouts.first == .nanoseconds(2 * 302_065 + 3_624_779))
    }

    @Test func presenceCheckDoesNotWaitForASlowCard() throws {
        let chip = ScriptedChip(["A B2+ > A2", "A B2+ > gone"])
        let blocks = Self.blocks(chip, waiting: WaitingTime.frame(code: 8))
        #expect(try blocks.isPresent())
        #expect(throws: TransportError.self) { try blocks.isPresent() }
        #expect(chip.timeouts == [.milliseconds(30), .milliseconds(30)])
    }

    @Test func neverGrantsMoreThanTheStandardDoes() {
        #expect(WaitingTime.extended(WaitingTime.frame(code: 14), by: 59) == WaitingTime.longest)
        #expect(WaitingTime.extended(WaitingTime.frame(code: 8), by: 59) < WaitingTime.longest)
    }

    @Test func retriesALostAnswer() throws {
        let chip = ScriptedChip(["A 0201+ > -", "A B2+ > 020203"])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01], timeout: .seconds(1)) == [0x02, 0x03])
        #expect(chip.finish() == [])
    }

    @Test func repeatsALostCommand() throws {
        let chip = ScriptedChip(["A 0201+ > !", "A B2+ > A3", "A 0201+ > 020203"])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01], timeout: .seconds(1)) == [0x02, 0x03])
        #expect(chip.finish() == [])
    }

    @Test func acknowledgesAgainInTheCardsChain() throws {
        let chip = ScriptedChip(["A 0201+ > 1211", "A A3+ > -", "A A3+ > 0322"])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01], timeout: .seconds(1)) == [0x11, 0x22])
        #expect(chip.finish() == [])
    }

    @Test func retriesALostExtension() throws {
        let chip = ScriptedChip(["A 0201+ > F201", "A F201+ > !", "A B2+ > F201", "A F201+ > 0202"])
        var blocks = Self.blocks(chip)
        #expect(try blocks.transceive([0x01], timeout: .seconds(1)) == [0x02])
        #expect(chip.finish() == [])
    }

    @Test func givesUpAfterThreeFaults() {
        let chip = ScriptedChip(["A 0201+ > -", "A B2+ > -", "A B2+ > -"])
        var blocks = Self.blocks(chip)
        #expect(throws: TransportError.noAnswer) { try blocks.transceive([0x01], timeout: .seconds(1)) }
        #expect(chip.finish() == [])
    }

    @Test(arguments: ["00", "0302", "42", "06", "A2", "C2", "F200", "F23C", "F2", "0A0102", "B2", "D0", "F3"])
    func rejectsAnythingElse(_ answer: String) {
        let chip = ScriptedChip(["A 0201+ > \(answer)", "A B2+ > \(answer)", "A B2+ > \(answer)"])
        var blocks = Self.blocks(chip)
        #expect(throws: TransportError.corrupted(status: 0)) { try blocks.transceive([0x01], timeout: .seconds(1)) }
        #expect(chip.finish() == [])
    }

    @Test func lostCardStaysLost() throws {
        let chip = ScriptedChip([
            "B 050008+ > 5030702A1C00000011008185", "B 1D30702A1C00080100+ > 00", "B 0201+ > -", "B B2+ > -",
            "B B2+ > -", "field", "B 050008+ > -",
        ])
        var pcd = PCD(chip)
        _ = try pcd.activate(.typeB())
        #expect(throws: TransportError.noAnswer) { try pcd.transceive([0x01], timeout: .seconds(1)) }
        #expect(throws: TransportError.cardReleased) { try pcd.transceive([0x01], timeout: .seconds(1)) }
        #expect(try pcd.activate(.typeB()) == nil)
        #expect(chip.finish() == [])
    }

    @Test func rejectsACommandTooLongForTheChip() throws {
        let chip = ScriptedChip(
            ["A 52/7 > 4400", "A 9320 > 0102030404", "A 93700102030404+ > 00", "A A2040102~ > 0A/4"],
            longestRawFrame: 6)
        var pcd = PCD(chip)
        _ = try pcd.activate(.typeA())
        #expect(throws: TransportError.frameTooLong(length: 5, limit: 4)) {
            try pcd.transceive([0xA2, 0x04, 1, 2, 3], timeout: .seconds(1))
        }
        #expect(try pcd.transceive([0xA2, 0x04, 1, 2], timeout: .seconds(1)) == [0x0A])
        #expect(chip.finish() == [])
    }

    @Test func carriesCommandsOfMemoryCards() throws {
        let read = "00112233445566778899AABBCCDDEEFF"
        let crc = Checksum.a.bytes(of: (0..<16).map { UInt8($0 * 0x11) })
        let tail = crc.map { String($0, radix: 16).count == 1 ? "0" + String($0, radix: 16) : String($0, radix: 16) }
        let chip = ScriptedChip([
            "A 52/7 > 4400", "A 9320 > 0102030404", "A 93700102030404+ > 00",
            "A 3000~ > \(read)\(tail.joined())", "A A20401020304~ > 0A/4", "A 3001~ > \(read)0000",
        ])
        var pcd = PCD(chip)
        _ = try pcd.activate(.typeA())
        #expect(try pcd.transceive([0x30, 0x00], timeout: .milliseconds(50)).count == 16)
        #expect(try pcd.transceive([0xA2, 0x04, 1, 2, 3, 4], timeout: .milliseconds(50)) == [0x0A])
        #expect(throws: TransportError.corrupted(status: 0)) { try pcd.transceive([0x30, 0x01], timeout: .seconds(1)) }
        #expect(chip.finish() == [])
    }
}
