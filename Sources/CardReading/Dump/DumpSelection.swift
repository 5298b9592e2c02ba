// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Which part of a card a dump is to hold.
public struct DumpSelection: Hashable, Sendable {
    /// Only these systems; `nil` for all.
    public var systems: [SystemCode]?
    /// Only these services; `nil` for all. They are read without listing what else is there.
    public var services: [ServiceCode]?

    /// All, or a part of a card.
    public init(systems: [SystemCode]? = nil, services: [ServiceCode]? = nil) {
        self.systems = systems
        self.services = services
    }

    /// The whole card.
    public static let everything = DumpSelection()
}
