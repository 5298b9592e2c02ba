// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Services that mean the same in each of some systems.
///
/// A new row in a table needs no other change; a new table needs a line in ``all``.
public struct KnownServiceGroup: Hashable, Sendable {
    /// The systems.
    public let systems: [SystemCode]
    /// The services.
    public let services: [KnownService]

    init(_ systems: [UInt16], _ services: [KnownService]) {
        self.systems = systems.map(SystemCode.init(rawValue:))
        self.services = services
    }

    /// Every group. Where two groups have the same system and service, the earlier one's name counts.
    public static let all: [KnownServiceGroup] = transit + regional + commonArea + others
}
