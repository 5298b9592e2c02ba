// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
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

    @Test func aChangedKeyIsADifference() {
        func dump(_ version: KeyVersion?) -> CardDump {
            var dump = Self.dump([(0x090F, [1])])
            dump.systems[0].services[0].keyVersion = version
            return dump
        }
        let versions: [KeyVersion?] = [nil, KeyVersion(rawValue: 1), KeyVersion(rawValue: 2)]
        for (old, before) in versions.enumerated() {
            for (new, after) in versions.enumerated() {
                let isOther = old != new && old > 0 && new > 0
                #expect(DumpDiff(dump(before), dump(after)).services.isEmpty == !isOther)
            }
        }
    }

    @Test func changedBytesOfABlockAreNamed() {
        var changed = Self.dump([(0x008B, [4])])
        var bytes = [UInt8](repeating: 4, count: 16)
        bytes[0] = 9
        bytes[11] = 9
        bytes[15] = 9
        changed.systems[0].services[0].blocks[0] = Block(bytes)
        let diff = DumpDiff(Self.dump([(0x008B, [4])]), changed)
        #expect(diff.blocks.map(\.changedBytes) == [[0, 11, 15]])
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
    ]) func reportsNewBlocksOfARotatedRing(_ ring: Ring) throws {
        let diff = DumpDiff(Self.dump([(0x090F, ring.old)]), Self.dump([(0x090F, ring.new)]))
        #expect(diff.blocks.isEmpty)
        let turn = try #require(diff.rings.first)
        #expect(turn.added == ring.added.map(Self.block))
        #expect(turn.dropped == ring.dropped.map(Self.block))
    }

    /// The smallest shift wins, as if every one were tried.
    @Test func shiftsAreThoseOfTheDefinition() {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<3000 {
            let old = (0..<Int.random(in: 1...6, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
            let new = (0..<Int.random(in: 1...8, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) }
            guard old != new else { continue }
            let turn = (1..<max(new.count, 2)).first { turn in
                !new.dropFirst(turn).isEmpty && new.count >= old.count && old.starts(with: new.dropFirst(turn))
            }
            let diff = DumpDiff(Self.dump([(0x090F, old)]), Self.dump([(0x090F, new)]))
            #expect(diff.rings.first?.added == turn.map { new.prefix($0).map(Self.block) }, "\(old), \(new)")
            #expect(diff.rings.first?.dropped == turn.map { old.dropFirst(new.count - $0).map(Self.block) })
        }
    }

    /// Each service and each block is looked at a few times, not once for every other one.
    @Test func comparesLargeDumps() {
        func dump(last: UInt8) -> CardDump {
            var blocks = [UInt8](repeating: 0, count: 0xFFFF)
            blocks[0xFFFE] = last
            return Self.dump([(0x090F, blocks)] + (0x1000..<0x8530 as Range<UInt16>).map { ($0, [last]) })
        }
        let diff = DumpDiff(dump(last: 1), dump(last: 2))
        #expect(diff.rings.isEmpty && diff.services.isEmpty)
        #expect(diff.blocks.count == 30_001)
    }

    /// Nothing of the old ring is left, or the service is not cyclic: each block is reported.
    @Test(arguments: [
        (0x090F as UInt16, [3, 2, 1] as [UInt8], [9, 8, 7] as [UInt8], 3), (0x0009, [3, 2, 1], [4, 3, 2], 3),
        (0x090F, [], [1, 2], 2), (0x090F, [1, 2], [], 2), (0x090F, [5, 2, 1], [6, 2, 1], 1),
    ]) func reportsOtherChangesBlockByBlock(_ code: UInt16, _ old: [UInt8], _ new: [UInt8], _ count: Int) {
        let diff = DumpDiff(Self.dump([(code, old)]), Self.dump([(code, new)]))
        #expect(diff.rings.isEmpty)
        #expect(diff.blocks.count == count)
    }

    @Test func reportsAddedRemovedAndChangedServices() {
        let old = Self.dump([(0x008B, [1]), (0x090F, [1])])
        let new = Self.dump([(0x008B, [1]), (0x108F, [1])], state: .lost)
        let diff = DumpDiff(old, new)
        #expect(diff.services.map(\.service.rawValue) == [0x008B, 0x108F, 0x090F])
        #expect(diff.services.map(\.oldState) == [.read, nil, .read])
        #expect(diff.services.map(\.newState) == [.lost, .lost, nil])
    }

    // MARK: Tags and cards of files

    static func tag(_ pages: [UInt16: [UInt8]], counters: [UInt8: UInt32] = [:]) -> CardDump {
        CardDump(card: CardIdentity(technology: .typeA), type2: Type2Dump(pages: pages, counters: counters))
    }

    @Test func pagesAndCountersOfATagAreCompared() {
        let old = Self.tag([4: [1, 2, 3, 4], 5: [0, 0, 0, 0], 6: [9, 9, 9, 9]], counters: [0: 7, 2: 5])
        let new = Self.tag([4: [1, 9, 3, 8], 5: [0, 0, 0, 0], 7: [1, 1, 1, 1]], counters: [0: 7, 2: 6])
        let diff = DumpDiff(old, new)
        #expect(!diff.isEmpty)
        #expect(diff.pages.map(\.number) == [4, 6, 7])
        #expect(diff.pages.map(\.changedBytes) == [[1, 3], [], []])
        #expect(diff.pages.map { $0.old != nil } == [true, true, false])
        #expect(diff.counters.map(\.number) == [2])
        #expect(diff.counters.first?.old == 5 && diff.counters.first?.new == 6)
        #expect(DumpDiff(old, old).isEmpty)
    }

    static func files(_ files: [(UInt16, ReadState, [UInt8])]) -> CardDump {
        CardDump(
            card: CardIdentity(technology: .typeB),
            applications: [
                ApplicationDump(
                    aid: AID([0xA0, 0, 0, 2, 0x31]),
                    files: files.map { FileDump(id: FileIdentifier(rawValue: $0), state: $1, data: $2) })
            ])
    }

    @Test func filesAreComparedInRowsOfSixteenBytes() throws {
        let old = Self.files([(1, .read, [UInt8](0..<40)), (2, .read, [1]), (3, .read, [7])])
        var bytes = [UInt8](0..<36)
        bytes[17] = 0xFF
        let new = Self.files([(1, .read, bytes), (2, .refused(status: 0x6982), []), (4, .read, []), (3, .read, [7])])
        let diff = DumpDiff(old, new)
        #expect(diff.files.map(\.file.rawValue) == [1, 2, 4])
        let first = try #require(diff.files.first)
        #expect(first.rows.map(\.offset) == [16, 32])
        #expect(first.rows.map(\.changedBytes) == [[1], [4, 5, 6, 7]])
        #expect(first.oldState == first.newState)
        #expect(diff.files[1].newState == .refused(status: 0x6982))
        #expect(diff.files[1].rows.map(\.new) == [nil])
        #expect(diff.files[2].oldState == nil && diff.files[2].rows.isEmpty)
        let back = DumpDiff(new, old)
        #expect(back.files.map(\.file.rawValue) == [1, 2, 4])
        #expect(back.files[2].oldState == .read && back.files[2].newState == nil)
        #expect(DumpDiff(old, old).isEmpty)
    }

    @Test func recognizesAnotherCard() {
        let first = CardIdentity.typeA(uid: [4, 1, 2, 3, 4, 5, 6])
        #expect(first.isOtherCard(than: .typeA(uid: [4, 1, 2, 3, 4, 5, 7])))
        #expect(!first.isOtherCard(than: first))
        #expect(!first.isOtherCard(than: .typeA(uid: nil)))
        #expect(first.isOtherCard(than: CardIdentity(technology: .typeB)))
        // Chosen at random at each activation.
        #expect(!CardIdentity.typeA(uid: [8, 1, 2, 3]).isOtherCard(than: .typeA(uid: [8, 9, 9, 9])))
        let system0 = CardIdentity(technology: .felica, idm: IDm(rawValue: 0x0101_0203_0405_0607))
        #expect(
            !system0.isOtherCard(than: CardIdentity(technology: .felica, idm: IDm(rawValue: 0x1101_0203_0405_0607))))
        #expect(system0.isOtherCard(than: CardIdentity(technology: .felica, idm: IDm(rawValue: 0x0101_0203_0405_0608))))
    }
}
