// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The differences between two dumps, the older one first.
package struct DumpDiff: Hashable, Sendable {
    /// Blocks that changed, appeared or disappeared, in the order of the newer dump.
    package var blocks: [BlockChange]
    /// Cyclic services that only gained new blocks at the front.
    package var rings: [CyclicShift]
    /// Services that only one of the dumps has, or whose state or known key version differs.
    package var services: [ServiceChange]
    /// Pages of a Type 2 Tag that changed, appeared or disappeared, by number.
    package let pages: [PageChange]
    /// Counters of a Type 2 Tag that changed, by number.
    package let counters: [CounterChange]
    /// Files of an ISO 7816 card that changed, appeared or disappeared, in the order of the newer dump.
    package let files: [FileChange]

    /// Compares two dumps.
    package init(_ old: CardDump, _ new: CardDump) {
        blocks = []
        rings = []
        services = []
        pages = PageChange.all(old.type2, new.type2)
        counters = CounterChange.all(old.type2, new.type2)
        files = FileChange.all(old, new)
        var seen: Set<Place> = []
        for system in new.systems {
            for service in system.services {
                let place = Place(system: system.systemCode, service: service.code)
                seen.insert(place)
                compare(old.system(place.system)?.service(place.service), service, place)
            }
        }
        for system in old.systems {
            for service in system.services {
                let place = Place(system: system.systemCode, service: service.code)
                if seen.insert(place).inserted { compare(service, nil, place) }
            }
        }
    }

    /// Whether the dumps are equivalent.
    package var isEmpty: Bool {
        blocks.isEmpty && rings.isEmpty && services.isEmpty && pages.isEmpty && counters.isEmpty && files.isEmpty
    }

    /// Returns the offsets of the bytes that differ; empty if one side is missing.
    static func changedBytes(_ old: [UInt8]?, _ new: [UInt8]?) -> [Int] {
        guard let old, let new else { return [] }
        return (0..<max(old.count, new.count)).filter { old.element(at: $0) != new.element(at: $0) }
    }

    private struct Place: Hashable {
        let system: SystemCode
        let service: ServiceCode
    }

    /// Whether a key was changed; other programs' dumps do not hold key versions, which is not a difference.
    private static func isOther(_ old: KeyVersion?, _ new: KeyVersion?) -> Bool {
        if let old, let new { old != new } else { false }
    }

    private mutating func compare(_ old: ServiceDump?, _ new: ServiceDump?, _ place: Place) {
        if old?.state != new?.state || DumpDiff.isOther(old?.keyVersion, new?.keyVersion) {
            services.append(
                ServiceChange(
                    system: place.system, service: place.service, oldState: old?.state, newState: new?.state,
                    oldKeyVersion: old?.keyVersion, newKeyVersion: new?.keyVersion))
        }
        let (before, after) = (old?.blocks ?? [:], new?.blocks ?? [:])
        guard before != after else { return }
        if place.service.kind == .cyclic, let turn = CyclicShift(place.system, place.service, before, after) {
            rings.append(turn)
            return
        }
        for number in Set(before.numbers).union(after.numbers).sorted() where before[number] != after[number] {
            blocks.append(
                BlockChange(
                    system: place.system, service: place.service, number: number, old: before[number],
                    new: after[number]))
        }
    }
}

/// A service that differs between two dumps in more than its blocks.
package struct ServiceChange: Hashable, Sendable {
    package let system: SystemCode
    package let service: ServiceCode
    /// Its state in the older dump; `nil` if it is not there.
    package let oldState: ReadState?
    /// Its state in the newer dump; `nil` if it is not there.
    package let newState: ReadState?
    /// The version of its key in the older dump.
    package let oldKeyVersion: KeyVersion?
    /// The version of its key in the newer dump.
    package let newKeyVersion: KeyVersion?
}

/// One block that differs between two dumps.
package struct BlockChange: Hashable, Sendable {
    package let system: SystemCode
    package let service: ServiceCode
    /// The block's number.
    package let number: UInt16
    /// The old contents; `nil` if the older dump does not have the block.
    package let old: Block?
    /// The new contents; `nil` if the newer dump does not have the block.
    package let new: Block?

    /// The offsets of the bytes that changed; empty if one of the dumps does not have the block.
    package var changedBytes: [Int] {
        guard let old, let new else { return [] }
        return (0..<16).filter { old[$0] != new[$0] }
    }
}

/// One page of a Type 2 Tag that differs between two dumps.
package struct PageChange: Hashable, Sendable {
    /// The page's number.
    package let number: UInt16
    /// The old contents; `nil` if the older dump does not have the page.
    package let old: [UInt8]?
    /// The new contents; `nil` if the newer dump does not have the page.
    package let new: [UInt8]?

    /// The offsets of the bytes that changed; empty if one of the dumps does not have the page.
    package var changedBytes: [Int] { DumpDiff.changedBytes(old, new) }

    /// Returns the pages that differ, by number.
    static func all(_ old: Type2Dump?, _ new: Type2Dump?) -> [PageChange] {
        let (before, after) = (old?.pages ?? [:], new?.pages ?? [:])
        return Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }
            .map { PageChange(number: $0, old: before[$0], new: after[$0]) }
    }
}

/// One counter of a Type 2 Tag that differs between two dumps.
package struct CounterChange: Hashable, Sendable {
    /// The counter's number.
    package let number: UInt8
    /// The old value; `nil` if the older dump does not contain it.
    package let old: UInt32?
    /// The new value; `nil` if the newer dump does not contain it.
    package let new: UInt32?

    /// Returns the counters that differ, by number.
    static func all(_ old: Type2Dump?, _ new: Type2Dump?) -> [CounterChange] {
        let (before, after) = (old?.counters ?? [:], new?.counters ?? [:])
        return Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }
            .map { CounterChange(number: $0, old: before[$0], new: after[$0]) }
    }
}

/// A cyclic service that gained new blocks at the front, so that every other block moved back by that many places.
package struct CyclicShift: Hashable, Sendable {
    package let system: SystemCode
    package let service: ServiceCode
    /// The new blocks, newest first.
    package let added: [Block]
    /// The blocks that dropped out at the end, newest first.
    package let dropped: [Block]

    /// Makes the turn that leads from one ring to the other; `nil` if there is none.
    init?(_ system: SystemCode, _ service: ServiceCode, _ old: BlockTable, _ new: BlockTable) {
        guard let before = CyclicShift.list(old), let after = CyclicShift.list(new), !before.isEmpty,
            after.count >= before.count
        else { return nil }
        for turn in 1..<max(after.count, 2) {
            let kept = after.dropFirst(turn)
            guard kept.count <= before.count, kept.elementsEqual(before.prefix(kept.count)), !kept.isEmpty else {
                continue
            }
            self.system = system
            self.service = service
            added = Array(after.prefix(turn))
            dropped = Array(before.dropFirst(kept.count))
            return
        }
        return nil
    }

    /// Returns the blocks in order if none is missing.
    private static func list(_ blocks: BlockTable) -> [Block]? {
        let list = (0..<blocks.count).compactMap { blocks[UInt16(truncatingIfNeeded: $0)] }
        return list.count == blocks.count ? list : nil
    }
}

/// One file of an ISO 7816 card that differs between two dumps.
package struct FileChange: Hashable, Sendable {
    /// The application; `nil` for the master file.
    package let application: AID?
    package let file: FileIdentifier
    /// Its state in the older dump; `nil` if it is not there.
    package let oldState: ReadState?
    /// Its state in the newer dump; `nil` if it is not there.
    package let newState: ReadState?
    /// The rows of sixteen bytes that differ, by offset.
    package let rows: [Row]

    /// Up to sixteen bytes of a file.
    package struct Row: Hashable, Sendable {
        /// The offset of the first byte in the file: a multiple of 16.
        package let offset: Int
        /// The old bytes; `nil` if the older file ends before them.
        package let old: [UInt8]?
        /// The new bytes; `nil` if the newer file ends before them.
        package let new: [UInt8]?

        /// The offsets in the row of the bytes that changed; empty if one of the files does not have the row.
        package var changedBytes: [Int] { DumpDiff.changedBytes(old, new) }
    }

    private static let width = 16

    /// Makes the change of one file; `nil` if there is none.
    init?(_ application: AID?, _ old: FileDump?, _ new: FileDump?) {
        guard let file = new?.id ?? old?.id, old?.state != new?.state || old?.data != new?.data else { return nil }
        self.application = application
        self.file = file
        (oldState, newState) = (old?.state, new?.state)
        let length = max(old?.data.count ?? 0, new?.data.count ?? 0)
        rows = stride(from: 0, to: length, by: FileChange.width).compactMap { offset in
            let row = Row(
                offset: offset, old: FileChange.row(old?.data, offset), new: FileChange.row(new?.data, offset))
            return row.old == row.new ? nil : row
        }
    }

    private static func row(_ data: [UInt8]?, _ offset: Int) -> [UInt8]? {
        guard let row = data?.dropFirst(offset).prefix(width), !row.isEmpty else { return nil }
        return Array(row)
    }

    /// Returns the files that differ, in the order of the newer dump, then those that only the older one has.
    static func all(_ old: CardDump, _ new: CardDump) -> [FileChange] {
        var seen: Set<Place> = []
        var changes: [FileChange] = []
        for (dump, other, isNew) in [(new, old, true), (old, new, false)] {
            for application in dump.applications {
                for file in application.files
                where seen.insert(Place(application: application.aid, file: file.id)).inserted {
                    let found = other.application(application.aid)?.file(file.id)
                    let (before, after) = isNew ? (found, file) : (file, found)
                    if let change = FileChange(application.aid, before, after) { changes.append(change) }
                }
            }
        }
        return changes
    }

    private struct Place: Hashable {
        let application: AID?
        let file: FileIdentifier
    }
}
