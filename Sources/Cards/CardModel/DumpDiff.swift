// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The differences between two dumps, the older one first.
///
/// ```swift
/// for change in DumpDiff(before, after).blocks { print(change.service, change.number, change.changedBytes) }
/// ```
public struct DumpDiff: Hashable, Sendable {
    /// Blocks that changed, appeared or disappeared, in the order of the newer dump.
    public var blocks: [BlockChange]
    /// Cyclic services that only gained new blocks at the front.
    public var rings: [CyclicShift]
    /// Services that only one of the dumps has, or whose state or known key version differs.
    public var services: [ServiceChange]
    /// Pages of a Type 2 Tag that changed, appeared or disappeared, by number.
    public let pages: [NumberedChange<UInt16, [UInt8]>]
    /// Counters of a Type 2 Tag that changed, by number.
    public let counters: [NumberedChange<UInt8, UInt32>]
    /// Blocks of a MIFARE Classic that changed, appeared or disappeared, by number; `nil` stands for an unknown byte.
    ///
    /// A byte that is unknown in one of the dumps is not a difference. The blocks contain keys; ``ClassicBlockChange/withoutKeys`` does not.
    public let classicBlocks: [ClassicBlockChange]
    /// Files of an ISO 7816 card that changed, appeared or disappeared, in the order of the newer dump.
    public let files: [FileChange]
    /// Applications and files of a MIFARE DESFire that changed, appeared or disappeared, in the order of the newer dump.
    package let desfire: [DESFireChange]

    /// Compares two dumps.
    public init(_ old: CardDump, _ new: CardDump) {
        blocks = []
        rings = []
        services = []
        pages = NumberedChange.all(old.type2?.pages ?? [:], new.type2?.pages ?? [:])
        counters = NumberedChange.all(old.type2?.counters ?? [:], new.type2?.counters ?? [:])
        classicBlocks = ClassicBlockChange.all(old.classic, new.classic)
        files = FileChange.all(old, new)
        desfire = DESFireChange.all(old.desfire, new.desfire)
        let before = DumpDiff.services(old)
        let earlier = Dictionary(before.map { ($0.place, $0.service) }) { first, _ in first }
        var seen: Set<Place> = []
        for (place, service) in DumpDiff.services(new) {
            seen.insert(place)
            compare(earlier[place], service, place)
        }
        for (place, service) in before where seen.insert(place).inserted { compare(service, nil, place) }
    }

    private static func services(_ dump: CardDump) -> [(place: Place, service: ServiceDump)] {
        dump.systems.flatMap { system in
            system.services.map { (Place(system: system.systemCode, service: $0.code), $0) }
        }
    }

    /// Whether the dumps are equivalent.
    public var isEmpty: Bool {
        blocks.isEmpty && rings.isEmpty && services.isEmpty && pages.isEmpty && counters.isEmpty && files.isEmpty
            && classicBlocks.isEmpty && desfire.isEmpty
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
public struct ServiceChange: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service.
    public let service: ServiceCode
    /// Its state in the older dump; `nil` if it is not there.
    public let oldState: ReadState?
    /// Its state in the newer dump; `nil` if it is not there.
    public let newState: ReadState?
    /// The version of its key in the older dump.
    public let oldKeyVersion: KeyVersion?
    /// The version of its key in the newer dump.
    public let newKeyVersion: KeyVersion?
}

/// One block that differs between two dumps.
public struct BlockChange: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service.
    public let service: ServiceCode
    /// The block's number.
    public let number: UInt16
    /// The old contents; `nil` if the older dump does not have the block.
    public let old: Block?
    /// The new contents; `nil` if the newer dump does not have the block.
    public let new: Block?

    /// The offsets of the bytes that changed; empty if one of the dumps does not have the block.
    public var changedBytes: [Int] {
        guard let old, let new else { return [] }
        return (0..<16).filter { old[$0] != new[$0] }
    }
}

/// A page or a counter of a Type 2 Tag that differs between two dumps.
public struct NumberedChange<Number: FixedWidthInteger & Sendable, Value: Hashable & Sendable>: Hashable, Sendable {
    /// The number of the page or counter.
    public let number: Number
    /// The old contents; `nil` if the older dump does not have them.
    public let old: Value?
    /// The new contents; `nil` if the newer dump does not have them.
    public let new: Value?

    /// Returns what differs, by number.
    static func all(_ old: [Number: Value], _ new: [Number: Value]) -> [NumberedChange] {
        Set(old.keys).union(new.keys).sorted().filter { old[$0] != new[$0] }
            .map { NumberedChange(number: $0, old: old[$0], new: new[$0]) }
    }
}

extension NumberedChange<UInt16, [UInt8]> {
    /// The offsets of the bytes of a page that changed; empty if one of the dumps does not have the page.
    public var changedBytes: [Int] { DumpDiff.changedBytes(old, new) }
}

/// One block of a MIFARE Classic that differs between two dumps.
public struct ClassicBlockChange: Hashable, Sendable {
    /// The number of the block, from 0 in the whole card.
    public let number: Int
    /// The old contents with `nil` for an unknown byte; `nil` if the older dump does not have the block.
    public let old: [UInt8?]?
    /// The new contents with `nil` for an unknown byte; `nil` if the newer dump does not have the block.
    public let new: [UInt8?]?

    /// The offsets of the bytes that changed; empty if one of the dumps does not have the block.
    public var changedBytes: [Int] {
        guard let old, let new else { return [] }
        return zip(old, new).enumerated().filter { $0.element.0 != nil && $0.element.1 != nil }
            .filter { $0.element.0 != $0.element.1 }.map(\.offset)
    }

    /// The change without the keys of a trailer, for display; ``changedBytes`` are then only those of the access bits.
    public var withoutKeys: ClassicBlockChange {
        ClassicBlockChange(
            number: number, old: old.map { ClassicDump.withoutKeys(number, $0) },
            new: new.map { ClassicDump.withoutKeys(number, $0) })
    }

    /// Returns what differs, by number.
    static func all(_ old: ClassicDump?, _ new: ClassicDump?) -> [ClassicBlockChange] {
        Set((old?.blocks ?? [:]).keys).union((new?.blocks ?? [:]).keys).sorted().compactMap { number in
            let change = ClassicBlockChange(number: number, old: old?[number], new: new?[number])
            let isOnOneSide = change.old == nil || change.new == nil
            return isOnOneSide || !change.changedBytes.isEmpty ? change : nil
        }
    }
}

/// A cyclic service that gained new blocks at the front, so that every other block moved back by that many places.
public struct CyclicShift: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service.
    public let service: ServiceCode
    /// The new blocks, newest first.
    public let added: [Block]
    /// The blocks that dropped out at the end, newest first.
    public let dropped: [Block]

    /// Makes the turn that leads from one ring to the other; `nil` if there is none.
    init?(_ system: SystemCode, _ service: ServiceCode, _ old: BlockTable, _ new: BlockTable) {
        guard let before = CyclicShift.list(old), let after = CyclicShift.list(new), !before.isEmpty,
            after.count >= before.count
        else { return nil }
        let kept = CyclicShift.overlap(after.dropFirst(), before)
        guard kept > 0 else { return nil }
        self.system = system
        self.service = service
        added = Array(after.dropLast(kept))
        dropped = Array(before.dropFirst(kept))
    }

    /// Returns the length of the longest end of `blocks` with which `ring` begins (Knuth, Morris, Pratt).
    private static func overlap(_ blocks: ArraySlice<Block>, _ ring: [Block]) -> Int {
        // For each beginning of the ring, the length of its longest shorter end with which the ring begins.
        var borders = [0]
        func next(_ matched: Int, _ block: Block) -> Int {
            var matched = matched
            while matched > 0, ring.element(at: matched) != block { matched = borders.element(at: matched - 1) ?? 0 }
            return ring.element(at: matched) == block ? matched + 1 : 0
        }
        for block in ring.dropFirst() { borders.append(next(borders.last ?? 0, block)) }
        return blocks.reduce(0, next)
    }

    /// Returns the blocks in order if none is missing.
    private static func list(_ blocks: BlockTable) -> [Block]? {
        let list = (0..<blocks.count).compactMap { blocks[UInt16(truncatingIfNeeded: $0)] }
        return list.count == blocks.count ? list : nil
    }
}

/// One file of an ISO 7816 card that differs between two dumps.
public struct FileChange: Hashable, Sendable {
    /// The application; `nil` for the master file.
    public let application: AID?
    /// The file.
    public let file: FileIdentifier
    /// Its state in the older dump; `nil` if it is not there.
    public let oldState: ReadState?
    /// Its state in the newer dump; `nil` if it is not there.
    public let newState: ReadState?
    /// The rows of sixteen bytes that differ, by offset.
    public let rows: [Row]

    /// Up to sixteen bytes of a file.
    public struct Row: Hashable, Sendable {
        /// The offset of the first byte in the file: a multiple of 16.
        public let offset: Int
        /// The old bytes; `nil` if the older file ends before them.
        public let old: [UInt8]?
        /// The new bytes; `nil` if the newer file ends before them.
        public let new: [UInt8]?

        /// The offsets in the row of the bytes that changed; empty if one of the files does not have the row.
        public var changedBytes: [Int] { DumpDiff.changedBytes(old, new) }
    }

    private static let width = 16

    /// Returns the rows that differ between two contents.
    static func rows(_ old: [UInt8]?, _ new: [UInt8]?) -> [Row] {
        stride(from: 0, to: max(old?.count ?? 0, new?.count ?? 0), by: width).compactMap { offset in
            let row = Row(offset: offset, old: self.row(old, offset), new: self.row(new, offset))
            return row.old == row.new ? nil : row
        }
    }

    /// Makes the change of one file; `nil` if there is none.
    init?(_ application: AID?, _ old: FileDump?, _ new: FileDump?) {
        guard let file = new?.id ?? old?.id, old?.state != new?.state || old?.data != new?.data else { return nil }
        self.application = application
        self.file = file
        (oldState, newState) = (old?.state, new?.state)
        rows = FileChange.rows(old?.data, new?.data)
    }

    private static func row(_ data: [UInt8]?, _ offset: Int) -> [UInt8]? {
        guard let row = data?.dropFirst(offset).prefix(width), !row.isEmpty else { return nil }
        return Array(row)
    }

    /// Returns the files that differ, in the order of the newer dump, then those that only the older one has.
    static func all(_ old: CardDump, _ new: CardDump) -> [FileChange] {
        let (before, after) = (files(old), files(new))
        let earlier = Dictionary(before.map { ($0.place, $0.file) }) { first, _ in first }
        var seen: Set<Place> = []
        var changes: [FileChange] = []
        for (place, file) in after where seen.insert(place).inserted {
            if let change = FileChange(place.application, earlier[place], file) { changes.append(change) }
        }
        for (place, file) in before where seen.insert(place).inserted {
            if let change = FileChange(place.application, file, nil) { changes.append(change) }
        }
        return changes
    }

    private static func files(_ dump: CardDump) -> [(place: Place, file: FileDump)] {
        dump.applications.flatMap { application in
            application.files.map { (Place(application: application.aid, file: $0.id), $0) }
        }
    }

    private struct Place: Hashable {
        let application: AID?
        let file: FileIdentifier
    }
}
