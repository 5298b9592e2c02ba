// SPDX-License-Identifier: Apache-2.0

internal import CardCrypto
public import CardModel

/// The keys of FeliCa Standard cards that their owner has, of DES and AES-128.
///
/// They open only the services whose keys are here. With DES, a service needs its own key, the system's and those of all
/// areas around it; with AES its own is enough. Source: the unofficial user's manual and felica-rs.
public struct StandardKeys: Sendable {
    /// A key of a node.
    package struct Entry: Sendable {
        package let key: StandardKey
        /// The version that the card must have; `nil` if the file does not say.
        package fileprivate(set) var version: KeyVersion?
    }

    /// What a key belongs to.
    private struct Place: Hashable {
        var system: SystemCode
        var node: NodeCode
        var scheme: StandardScheme
        /// The card's first IDm; `nil` for a key that all cards share.
        var idm: IDm?
    }

    /// A list of nodes whose keys were derived elsewhere.
    private struct List: Hashable {
        var system: SystemCode
        var scheme: StandardScheme
        var areas: [NodeCode]
        var nodes: [NodeCode]
    }

    private struct Card: Hashable {
        var system: SystemCode
        var idm: IDm?
    }

    private var entries: [Place: Entry] = [:]
    private var groups: [List: StandardGroupKey] = [:]
    /// The group keys of AES before an individual key is added.
    private var sharedGroups: [List: StandardKey] = [:]
    private var individuals: [Card: StandardKey] = [:]

    /// Makes a collection without keys.
    public init() {}

    /// Whether there are no keys.
    package var isEmpty: Bool { entries.isEmpty && groups.isEmpty && sharedGroups.isEmpty }

    // MARK: Adding

    /// Adds a key of a node; the same key may be added again.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - node: an area, a service, or `NodeCode.system` for the system.
    ///   - system: the system that has the node.
    ///   - version: the version that the card must have; `nil` for any.
    ///   - idm: the only card with this key, by its first IDm; `nil` for all cards.
    /// - Returns: `false` if the node already has another key.
    public mutating func add(
        _ key: StandardKey, of node: NodeCode, in system: SystemCode, version: KeyVersion? = nil, idm: IDm? = nil
    ) -> Bool {
        let place = Place(system: system, node: node, scheme: key.scheme, idm: idm?.inSystem(0))
        guard let known = entries[place] else {
            entries[place] = Entry(key: key, version: version)
            return true
        }
        guard known.key.isSame(as: key), known.version == nil || version == nil || known.version == version else {
            return false
        }
        entries[place]?.version = known.version ?? version
        return true
    }

    /// Adds the group and the user service key of areas and services, derived elsewhere.
    ///
    /// - Returns: `false` if the list already has other keys, or no card accepts it.
    package mutating func add(
        group: StandardKey, user: StandardKey, areas: [NodeCode], services: [NodeCode], in system: SystemCode
    ) -> Bool {
        guard let key = StandardGroupKey(group: group, user: user),
            StandardAccess(areas: areas, nodes: services, key: key) != nil
        else { return false }
        let list = List(system: system, scheme: .des, areas: areas, nodes: services)
        if let known = groups[list] { return known.isSame(as: key) }
        groups[list] = key
        return true
    }

    /// Adds the AES group key of nodes, derived elsewhere.
    ///
    /// - Returns: `false` if the list already has another key, or no card accepts it.
    package mutating func add(group: StandardKey, nodes: [NodeCode], in system: SystemCode) -> Bool {
        guard let key = StandardGroupKey(group: group), StandardAccess(nodes: nodes, key: key) != nil else {
            return false
        }
        let list = List(system: system, scheme: .aes, areas: [], nodes: nodes)
        if let known = sharedGroups[list] { return known.isSame(as: group) }
        sharedGroups[list] = group
        return true
    }

    /// Adds an AES card's individual key.
    ///
    /// - Returns: `false` if there already is another one, or for a key of DES.
    package mutating func add(individual key: StandardKey, in system: SystemCode, idm: IDm? = nil) -> Bool {
        guard key.scheme == .aes else { return false }
        let card = Card(system: system, idm: idm?.inSystem(0))
        if let known = individuals[card] { return known.isSame(as: key) }
        individuals[card] = key
        return true
    }

    // MARK: Finding

    /// The key of a node, that of this card before one that all cards share.
    package func entry(_ node: NodeCode, in system: SystemCode, _ scheme: StandardScheme, card idm: IDm) -> Entry? {
        entries[Place(system: system, node: node, scheme: scheme, idm: idm.inSystem(0))]
            ?? entries[Place(system: system, node: node, scheme: scheme, idm: nil)]
    }

    /// The individual key of a card; `nil` is the same as zeros.
    package func individual(in system: SystemCode, card idm: IDm) -> StandardKey? {
        individuals[Card(system: system, idm: idm.inSystem(0))] ?? individuals[Card(system: system, idm: nil)]
    }

    /// The lists with derived keys that contain a service, shortest first.
    package func groups(
        with service: NodeCode, in system: SystemCode, _ scheme: StandardScheme, card idm: IDm
    ) -> [StandardAccess] {
        let derived: [StandardAccess?] =
            switch scheme {
            case .des:
                groups.filter { $0.key.system == system && $0.key.nodes.contains(service) }
                    .map { StandardAccess(areas: $0.key.areas, nodes: $0.key.nodes, key: $0.value) }
            case .aes:
                sharedGroups.filter { $0.key.system == system && $0.key.nodes.contains(service) }.map { list, key in
                    StandardGroupKey(group: key, individual: individual(in: system, card: idm))
                        .flatMap { StandardAccess(nodes: list.nodes, key: $0) }
                }
            }
        return derived.compactMap { $0 }.sorted {
            ($0.nodes.count, $0.nodes.map(\.description).joined()) < (
                $1.nodes.count, $1.nodes.map(\.description).joined()
            )
        }
    }

    /// The systems with a key, ascending.
    public var systems: [SystemCode] {
        Set(entries.keys.map(\.system)).union(groups.keys.map(\.system)).union(sharedGroups.keys.map(\.system)).sorted()
    }

    /// The services of a system with a key of their own or in a list, ascending.
    package func services(in system: SystemCode, card idm: IDm) -> [ServiceCode] {
        let own = entries.keys.filter { $0.system == system }.map(\.node)
        let listed = (Array(groups.keys) + Array(sharedGroups.keys)).filter { $0.system == system }.flatMap(\.nodes)
        return Set(own + listed).map { ServiceCode(rawValue: $0.rawValue) }
            .filter { service in
                service.kind != nil && service.requiresAuthentication && !service.requiresPIN
                    && hasKey(of: service.node, in: system, card: idm)
            }.sorted()
    }

    /// The nodes of a system with a key of their own, ascending.
    package func nodes(in system: SystemCode, card idm: IDm) -> [NodeCode] {
        let own = entries.keys.filter { $0.system == system && ($0.idm == nil || $0.idm == idm.inSystem(0)) }
        return Set(own.map(\.node)).sorted()
    }

    /// Whether a service has a key of its own or in a list.
    package func hasKey(of service: NodeCode, in system: SystemCode, card idm: IDm) -> Bool {
        StandardScheme.allCases.contains { scheme in
            entry(service, in: system, scheme, card: idm) != nil
                || !groups(with: service, in: system, scheme, card: idm).isEmpty
        }
    }
}
