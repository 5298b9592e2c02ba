// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import Testing
import VirtualReader

@testable import ISODEP

/// The reader's side against the card's side that `VirtualReader` has, which was written apart from it.
struct VirtualCardTests {
    private static let files = """
        "masterFile": {"files": {"2F01": {"data": "450b303038200706", "size": 300, "fill": "5a", "shortID": 1}}}
        """
    static let types: [(String, ActivationRequest)] = [
        (#""typeA": {"uid": "01020304"}"#, .typeA()), (#""typeA": {"uid": "01020304050607"}"#, .typeA()),
        (#""typeA": {"uid": "0102030405060708090a"}"#, .typeA()), (#""typeB": {"pupi": "0a0b0c0d"}"#, .typeB()),
    ]

    private static func field(_ type: String) throws -> VirtualField {
        let text = "{\"schema\": \"kazasu.card/1\", \(type), \(files)}"
        return VirtualField(cards: try VirtualCardFile.loadCards(Array(text.utf8)))
    }

    /// Activates the card and reads its file in one long answer.
    private static func read(_ chip: FieldChip, _ request: ActivationRequest) throws -> String {
        var pcd = PCD(chip)
        guard try pcd.activate(request) != nil else { return "no card" }
        var answer: [UInt8] = []
        for command in ["00a4020c022f01", "00b00000000100"] {
            answer += try pcd.transceive(try Hex.decode(command), timeout: .seconds(5))
        }
        return Hex.encode(answer)
    }

    private static let expected = "9000" + "450b303038200706" + String(repeating: "5a", count: 248) + "9000"

    @Test(arguments: types) func readsAFile(_ type: String, _ request: ActivationRequest) throws {
        for longest in [16, 24, 32, 64, 128, 256, 300] {
            let chip = FieldChip(try Self.field(type), longestRawFrame: longest)
            #expect(try Self.read(chip, request) == Self.expected, "frames of \(longest)")
        }
    }

    @Test(arguments: types) func recoversFromOneLostFrameAnywhere(_ type: String, _ request: ActivationRequest) throws {
        let chip = FieldChip(try Self.field(type), longestRawFrame: 64)
        _ = try Self.read(chip, request)
        let all = chip.field.statistics.exchanges
        #expect(all >= 8)
        for fault in [
            InjectedFault.silence, .damaged(status: 0x02), .truncated(to: 0), .flipped(offset: 0, mask: 0x40),
        ] {
            // The first frame wakes the card up: who gets no answer there finds no card.
            for moment in 2...all {
                let chip = FieldChip(try Self.field(type), longestRawFrame: 64)
                chip.field.plan(InjectedFaults.once(fault, at: moment))
                #expect(try Self.read(chip, request) == Self.expected, "\(fault) at \(moment)")
            }
        }
    }

    @Test(arguments: types) func reportsARemovedCard(_ type: String, _ request: ActivationRequest) throws {
        let chip = FieldChip(try Self.field(type))
        var pcd = PCD(chip)
        #expect(try pcd.activate(request) != nil)
        let cards = chip.field.cards
        chip.field.removeCards()
        #expect(throws: TransportError.noAnswer) { try pcd.transceive([0x00, 0xA4], timeout: .seconds(1)) }
        #expect(throws: TransportError.cardReleased) { try pcd.transceive([0x00, 0xA4], timeout: .seconds(1)) }
        #expect(try pcd.activate(request) == nil)
        for card in cards { chip.field.place(card) }
        #expect(try pcd.activate(request) != nil)
        #expect(try pcd.transceive(try Hex.decode("00a4020c022f01"), timeout: .seconds(1)) == [0x90, 0x00])
    }

    @Test(arguments: types) func findsTheCardAgainWithoutAFieldReset(
        _ type: String, _ request: ActivationRequest
    ) throws {
        let chip = FieldChip(try Self.field(type))
        var pcd = PCD(chip)
        for _ in 0..<3 {
            #expect(try pcd.activate(request) != nil)
            #expect(try pcd.transceive(try Hex.decode("00a4020c022f01"), timeout: .seconds(1)) == [0x90, 0x00])
        }
        #expect(chip.fieldResets == 0)
    }
}
