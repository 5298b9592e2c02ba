// SPDX-License-Identifier: Apache-2.0

internal import CardCrypto
internal import CardModel
internal import FeliCa

/// Which keys open which services of a system, in as few sessions as possible.
struct StandardPlan {
    /// Services that one session opens.
    struct Group {
        let access: StandardAccess
        /// At least one.
        let services: [ServiceCode]
        /// Whether the keys were derived elsewhere, so that they cannot be tried one by one.
        var isDerived = false
    }

    private(set) var groups: [Group] = []
    /// The services without a session, and why.
    private(set) var failures: [ServiceCode: KeyFailure] = [:]

    private let system: SystemHandle
    private let keys: StandardKeys
    private let card: IDm
    private let areas: [AreaRange]
    private let versions: StandardVersions

    /// - Parameters:
    ///   - card: the IDm that a card's own keys name.
    ///   - areas: all areas of the system; none where no service needs them.
    init(system: SystemHandle, keys: StandardKeys, card: IDm, areas: [AreaRange], versions: StandardVersions) {
        (self.system, self.keys, self.card) = (system, keys, card)
        (self.areas, self.versions) = (areas, versions)
    }

    /// Whether a service can only be opened with the keys of the areas around it.
    static func needsAreas(
        _ service: ServiceCode, in system: SystemHandle, _ keys: StandardKeys, card: IDm, _ versions: StandardVersions
    ) -> Bool {
        let (node, code) = (service.node, system.code)
        if versions.has(node, .aes) {
            if keys.entry(node, in: code, .aes, card: card) != nil { return false }
            if !keys.groups(with: node, in: code, .aes, card: card).isEmpty { return false }
        }
        return versions.versions(.des) != nil && keys.entry(node, in: code, .des, card: card) != nil
    }

    /// Adds sessions for these services, or the reasons why there are none.
    ///
    /// - Throws: `CryptoError` without the library for AES.
    mutating func add(_ services: [ServiceCode]) throws(CryptoError) {
        var paths: [(areas: [NodeCode], services: [ServiceCode])] = []
        var shared: [ServiceCode] = []
        for service in services {
            switch choice(service) {
            case .aes: shared.append(service)
            case .des(let path):
                if let place = paths.firstIndex(where: { $0.areas == path }) {
                    paths[place].services.append(service)
                } else {
                    paths.append((path, [service]))
                }
            case .derived(let access): groups.append(Group(access: access, services: [service], isDerived: true))
            case .none(let failure): failures[service] = failure
            }
        }
        for chunk in shared.batches(of: StandardScheme.aes.nodesPerSession) {
            append(Array(chunk), try aes(Array(chunk)))
        }
        for path in paths {
            for chunk in path.services.batches(of: StandardScheme.des.nodesPerSession) {
                append(Array(chunk), des(Array(chunk), path.areas))
            }
        }
    }

    /// The keys that open one service of a group by itself; `nil` for a group of derived keys.
    ///
    /// - Throws: `CryptoError` without the library for AES.
    func access(to service: ServiceCode, of group: Group) throws(CryptoError) -> StandardAccess? {
        guard !group.isDerived else { return nil }
        return switch group.access.scheme {
        case .aes: try aes([service])
        case .des: des([service], group.access.areas)
        }
    }

    /// The keys that prove those of the system and of a path of areas: the innermost area takes the place of a service.
    ///
    /// Source: felica-rs, whose lists of services may have areas.
    func access(to path: [NodeCode]) -> StandardAccess? {
        guard let system = key(.system, .des), let innermost = path.last else { return nil }
        return StandardAccess.des(
            system: system, areas: path.map { StandardLayer($0, key($0, .des)) },
            services: [StandardLayer(innermost, key(innermost, .des))])
    }

    private mutating func append(_ services: [ServiceCode], _ access: StandardAccess?) {
        guard let access else {
            for service in services { failures[service] = KeyFailure(.noKey, service.node) }
            return
        }
        groups.append(Group(access: access, services: services))
    }

    // MARK: One service

    private enum Choice {
        case aes
        case des(path: [NodeCode])
        case derived(StandardAccess)
        case none(KeyFailure)
    }

    private func choice(_ service: ServiceCode) -> Choice {
        let node = service.node
        var failure: KeyFailure?
        if versions.has(node, .aes) {
            failure = self.failure(node, .aes)
            if failure == nil { return .aes }
            if let list = derived(node, .aes) { return .derived(list) }
        }
        if versions.has(node, .des) {
            let path = areas.filter { $0.contains(node) }.sorted { ($0.start, $1.end) < ($1.start, $0.end) }
                .map(\.start.node)
            let missing = ([node, .system] + path).lazy.compactMap { self.failure($0, .des) }.first
            if missing == nil, !path.isEmpty { return .des(path: path) }
            if let list = derived(node, .des) { return .derived(list) }
            // What the file has a key for says more than what it has none for.
            if failure?.reason != .keyVersion { failure = missing ?? failure }
        }
        return .none(failure ?? KeyFailure(.noKey, node))
    }

    /// Why a node's key cannot be used; `nil` if it can.
    private func failure(_ node: NodeCode, _ scheme: StandardScheme) -> KeyFailure? {
        guard let entry = keys.entry(node, in: system.code, scheme, card: card) else { return KeyFailure(.noKey, node) }
        guard let wanted = entry.version, let known = versions.versions(scheme)?[node], known != wanted else {
            return nil
        }
        return KeyFailure(.keyVersion, node)
    }

    private func derived(_ node: NodeCode, _ scheme: StandardScheme) -> StandardAccess? {
        keys.groups(with: node, in: system.code, scheme, card: card).first
    }

    // MARK: Keys

    private func key(_ node: NodeCode, _ scheme: StandardScheme) -> StandardKey? {
        keys.entry(node, in: system.code, scheme, card: card)?.key
    }

    private func aes(_ services: [ServiceCode]) throws(CryptoError) -> StandardAccess? {
        try StandardAccess.aes(
            services.map { StandardLayer($0.node, key($0.node, .aes)) },
            individual: keys.individual(in: system.code, card: card))
    }

    private func des(_ services: [ServiceCode], _ path: [NodeCode]) -> StandardAccess? {
        key(.system, .des).flatMap { system in
            StandardAccess.des(
                system: system, areas: path.map { StandardLayer($0, key($0, .des)) },
                services: services.map { StandardLayer($0.node, key($0.node, .des)) })
        }
    }
}
