// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Services that mean the same in each of some systems; the facts are rows of `Data/services.tsv`.
public struct KnownServiceGroup: Hashable, Sendable {
    /// The systems.
    public let systems: [SystemCode]
    /// The services.
    public private(set) var services: [KnownService]

    /// A group of one row.
    init(_ row: FactRow) throws(TableFault) {
        systems = try row.hexList("systems").map(SystemCode.init(rawValue:))
        if systems.isEmpty { throw row.fault("systems", .empty) }
        services = [
            KnownService(
                code: ServiceCode(rawValue: try row.hex("service")), name: try row.name(),
                usualBlocks: try row.decimal("blocks"))
        ]
    }

    /// Every group. Where two groups have the same system and service, the earlier one's name counts.
    public static let all: [KnownServiceGroup] = {
        var groups: [KnownServiceGroup] = []
        for row in Registry.services.rows {
            if let last = groups.indices.last, groups[last].systems == row.systems {
                groups[last].services += row.services
            } else {
                groups.append(row)
            }
        }
        return groups
    }()
}
