// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// What differs between two dumps, the older one first.
public struct DumpDiff: Hashable, Sendable {
    /// Blocks that changed, appeared or went, in the order of the newer dump.
    public var blocks: [BlockChange]
    /// Cyclic services that only got new blocks in front.
    public var rings: [RingTurn]
    /// Services that only one of the dumps has, or whose state or key version differs.
    public var services: [ServiceChange]
    /// Pages of a Type 2 Tag that changed, appeared or went, by number.
    public let pages: [PageChange]
    /// Counters of a Type 2 Tag that changed, by number.
    public let counters: [CounterChange]
    /// Files of an ISO 7816 card that changed, appeared or went, in the order of the newer dump.
    public let files: [FileChange]

    /// Compares two dumps.
    public init(_ old: CardDump, _ new: CardDump) {
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

    /// Whether the dumps say the same.
    public var isEmpty: Bool {
        blocks.isEmpty && rings.isEmpty && services.isEmpty && pages.isEmpty && counters.isEmpty && files.isEmpty
    }

    /// The offsets of the bytes that differ; empty when one side is not there.
    static func changedBytes(_ old: [UInt8]?, _ new: [UInt8]?) -> [Int] {
        guard let old, let new else { return [] }
        return (0..<max(old.count, new.count)).filter { old.element(at: $0) != new.element(at: $0) }
    }

    private struct Place: Hashable {
        let system: SystemCode
        let service: ServiceCode
    }

    private mutating func compare(_ old: ServiceDump?, _ new: ServiceDump?, _ place: Place) {
        if old?.state != new?.state || old?.keyVersion != new?.keyVersion {
            services.append(
                ServiceChange(
                    system: place.system, service: place.service, oldState: old?.state, newState: new?.state,
                    oldKeyVersion: old?.keyVersion, newKeyVersion: new?.keyVersion))
        }
        let (before, after) = (old?.blocks ?? [:], new?.blocks ?? [:])
        guard before != after else { return }
        if place.service.kind == .cyclic, let turn = RingTurn(place.system, place.service, before, after) {
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
