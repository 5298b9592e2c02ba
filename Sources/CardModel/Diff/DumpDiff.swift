// SPDX-License-Identifier: Apache-2.0

/// What differs between two dumps, the older one first.
public struct DumpDiff: Hashable, Sendable {
    /// Blocks that changed, appeared or went, in the order of the newer dump.
    public var blocks: [BlockChange]
    /// Cyclic services that only got new blocks in front.
    public var rings: [RingTurn]
    /// Services that only one of the dumps has, or whose state or key version differs.
    public var services: [ServiceChange]

    /// Compares two dumps.
    public init(_ old: CardDump, _ new: CardDump) {
        blocks = []
        rings = []
        services = []
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
    public var isEmpty: Bool { blocks.isEmpty && rings.isEmpty && services.isEmpty }

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
