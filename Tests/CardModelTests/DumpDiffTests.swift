// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

struct DumpDiffTests {
    static func block(_ byte: UInt8) -> Block { Block([UInt8](repeating: byte, count: 16)) ?? .zero }

    static func dump(_ services: [(UInt16, [UInt8])], state: ReadState = .read) -> CardDump {
        CardDump(
            card: CardIdentity(technology: .felica),
            systems: [
                SystemDump(
                    systemCode: .transit, idm: IDm(rawValue: 1), pmm: PMm(rawValue: 2),
                    services: services.map { code, bytes in
                        ServiceDump(
                            code: ServiceCode(rawValue: code), state: state,
                            blocks: BlockTable(bytes.enumerated().map { (UInt16($0), block($1)) }))
                    })
            ])
    }

    @Test func equalDumpsHaveNoDifference() {
        let dump = Self.dump([(0x090F, [1, 2, 3]), (0x008B, [4])])
        #expect(DumpDiff(dump, dump).isEmpty)
    }

    @Test func changedBytesOfABlockAreNamed() {
        var changed = Self.dump([(0x008B, [4])])
        var bytes = [UInt8](repeating: 4, count: 16)
        bytes[11] = 9
        bytes[15] = 9
        changed.systems[0].services[0].blocks[0] = Block(bytes)
        let diff = DumpDiff(Self.dump([(0x008B, [4])]), changed)
        #expect(diff.blocks.map(\.changedBytes) == [[11, 15]])
        #expect(diff.rings.isEmpty)
    }

    struct Ring: Sendable {
        let old: [UInt8]
        let new: [UInt8]
        let added: [UInt8]
        let dropped: [UInt8]
    }

    @Test(arguments: [
        Ring(old: [3, 2, 1], new: [4, 3, 2], added: [4], dropped: [1]),
        Ring(old: [3, 2, 1], new: [5, 4, 3], added: [5, 4], dropped: [2, 1]),
        Ring(old: [2, 1], new: [3, 2, 1], added: [3], dropped: []),
    ]) func aRingThatTurnedIsToldByItsNewBlocks(_ ring: Ring) throws {
        let diff = DumpDiff(Self.dump([(0x090F, ring.old)]), Self.dump([(0x090F, ring.new)]))
        #expect(diff.blocks.isEmpty)
        let turn = try #require(diff.rings.first)
        #expect(turn.added == ring.added.map(Self.block))
        #expect(turn.dropped == ring.dropped.map(Self.block))
    }

    /// Nothing of the old ring is left, or the service is no ring: then each block is told.
    @Test(arguments: [
        (0x090F as UInt16, [3, 2, 1] as [UInt8], [9, 8, 7] as [UInt8], 3), (0x0009, [3, 2, 1], [4, 3, 2], 3),
        (0x090F, [], [1, 2], 2), (0x090F, [1, 2], [], 2), (0x090F, [5, 2, 1], [6, 2, 1], 1),
    ]) func otherChangesAreToldBlockByBlock(_ code: UInt16, _ old: [UInt8], _ new: [UInt8], _ count: Int) {
        let diff = DumpDiff(Self.dump([(code, old)]), Self.dump([(code, new)]))
        #expect(diff.rings.isEmpty)
        #expect(diff.blocks.count == count)
    }

    @Test func servicesThatCameWentOrChangedAreTold() {
        let old = Self.dump([(0x008B, [1]), (0x090F, [1])])
        let new = Self.dump([(0x008B, [1]), (0x108F, [1])], state: .lost)
        let diff = DumpDiff(old, new)
        #expect(diff.services.map(\.service.rawValue) == [0x008B, 0x108F, 0x090F])
        #expect(diff.services.map(\.oldState) == [.read, nil, .read])
        #expect(diff.services.map(\.newState) == [.lost, .lost, nil])
    }
}
