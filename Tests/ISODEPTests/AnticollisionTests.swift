// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import ISODEP

/// Several cards of type A at once, before chips that do not say at which bit their answers collided.
struct AnticollisionTests {
    private static let failedOnce = ["A 52/7 > 4400", "A 9320 > !", "field", "A 52/7 > 4400"]
    /// 01020304 and a card whose UID begins with 03.
    private static let search =
        ["A 9320 > !", "A 932100/1 > -", "A 52/7 > 4400"]
        + [2, 3, 4, 5, 6, 7].map { "A 932\($0)01/\($0) > !" } + ["A 933001 > 02030404", "A 933001 > 02030404"]

    @Test func anticollisionResolvesBitByBit() throws {
        let chip = ScriptedChip(Self.failedOnce + Self.search + ["A 93700102030404+ > 08"])
        var pcd = PCD(chip)
        // Whose ATQA was heard nobody knows.
        #expect(
            try pcd.activate(.typeA()) == .typeA(TypeATarget(uid: [1, 2, 3, 4], atqa: nil, sak: 0x08, isISODEP: false)))
        #expect(chip.finish() == [])
    }

    @Test func answersMayCollideOnTheWayBack() throws {
        let search = Self.search.map { $0 == "A 52/7 > 4400" ? "A 52/7 > !" : $0 }
        let chip = ScriptedChip(Self.failedOnce + search + ["A 93700102030404+ > 08"])
        var pcd = PCD(chip)
        #expect(try pcd.activate(.typeA())?.isISODEP == false)
        #expect(chip.finish() == [])
    }

    @Test func answersToTheRequestMayCollideToo() throws {
        let chip = ScriptedChip(
            ["A 52/7 > !", "field", "A 52/7 > !"] + Self.search + ["A 93700102030404+ > 08"])
        var pcd = PCD(chip)
        #expect(try pcd.activate(.typeA())?.isISODEP == false)
        #expect(chip.finish() == [])
    }

    @Test func reachesACascadeLevelAgain() throws {
        let way = ["A 52/7 > 4400", "A 937088041122BF+ > 04"]
        let chip = ScriptedChip(
            Self.failedOnce + ["A 9320 > 88041122BF", "A 937088041122BF+ > 04", "A 9520 > !", "A 952100/1 > -"] + way
                + ["A 952201/2 > -"] + way + (3...7).map { "A 952\($0)03/\($0) > !" }
                + ["A 953003 > 44556674", "A 953003 > 44556674", "A 95700344556674+ > 00"])
        var pcd = PCD(chip)
        #expect(
            try pcd.activate(.typeA())
                == .typeA(
                    TypeATarget(
                        uid: [0x04, 0x11, 0x22, 0x03, 0x44, 0x55, 0x66], atqa: nil, sak: 0x00, isISODEP: false)))
        #expect(chip.finish() == [])
    }

    @Test func hearsCardsThatLeaveDuringTheSearch() throws {
        let leaving = ["A 9320 > !", "A 932100/1 > -", "A 52/7 > -", "A 52/7 > -", "field"]
        let chip = ScriptedChip(Self.failedOnce + leaving + ["A 52/7 > -"])
        var pcd = PCD(chip)
        #expect(throws: TransportError.heard(.unstarted(.typeA))) { try pcd.activate(.typeA()) }
        #expect(chip.finish() == [])
    }

    /// The air is full of noise, whatever is asked.
    private final class NoisyChip: RawFrameChannel {
        let longestRawFrame = 256
        private(set) var exchanges = 0
        func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
            exchanges += 1
            throw .corrupted(status: 0x02)
        }
        func resetField() {}
    }

    @Test func noiseEnds() {
        let chip = NoisyChip()
        var pcd = PCD(chip)
        #expect(throws: TransportError.heard(.damaged(.typeA))) { try pcd.activate(.typeA()) }
        #expect(chip.exchanges < 100)
    }

    /// Cards with the same UID collide in no bit; whose ATQA was heard is not known.
    private final class DoubleChip: RawFrameChannel {
        let longestRawFrame = 256
        func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
            switch frame.bytes {
            case [0x52]: return RawAnswer([0x44, 0x00])
            case [0x93, 0x70, 0, 0, 0, 0, 0]: return RawAnswer([0x08])
            default: throw .corrupted(status: 0x02)
            }
        }
        func resetField() {}
    }

    @Test func treatsIdenticalCardsAsOne() throws {
        var pcd = PCD(DoubleChip())
        #expect(
            try pcd.activate(.typeA()) == .typeA(TypeATarget(uid: [0, 0, 0, 0], atqa: nil, sak: 0x08, isISODEP: false)))
    }

    private static func card(_ uid: [UInt8]) throws -> any VirtualCard {
        let text = """
            {"schema": "kazasu.card/1", "typeA": {"uid": "\(Hex.encode(uid))"},
             "masterFile": {"files": {"2F01": {"data": "\(Hex.encode(uid))"}}}}
            """
        return try #require(try VirtualCardFile.loadCards(Array(text.utf8)).first)
    }

    /// UIDs of every size, alike in as many of their first bits as chance has it, and often in whole bytes.
    private static func uids(_ random: inout SeededGenerator) -> [[UInt8]] {
        let first = (0..<10).map { _ in UInt8.random(in: 0...0x87, using: &random) }
        return (0..<Int.random(in: 2...4, using: &random)).map { _ in
            var uid = Array(first.prefix([4, 7, 10].randomElement(using: &random) ?? 4))
            let place = Int.random(in: uid.indices, using: &random)
            for index in place..<uid.count { uid[index] = UInt8.random(in: 0...0x87, using: &random) }
            return uid
        }
    }

    @Test func alwaysFindsTheSameCard() throws {
        var random = SeededGenerator(seed: 14443)
        for _ in 0..<200 {
            let uids = Self.uids(&random)
            let field = VirtualField(cards: try uids.map(Self.card), collision: .damaged)
            var pcd = PCD(FieldChip(field))
            var found: [[UInt8]] = []
            for _ in 0..<2 {
                guard case .typeA(let target)? = try pcd.activate(.typeA()) else {
                    Issue.record("no card of \(uids)")
                    return
                }
                found.append(target.uid)
                #expect(uids.contains(target.uid))
                // It is this one that answers, and no other.
                _ = try pcd.transceive([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01], timeout: .seconds(1))
                #expect(
                    try pcd.transceive([0x00, 0xB0, 0x00, 0x00, 0x00], timeout: .seconds(1)).dropLast(2)
                        == target.uid[...])
            }
            #expect(found.first == found.last)
        }
    }
}
