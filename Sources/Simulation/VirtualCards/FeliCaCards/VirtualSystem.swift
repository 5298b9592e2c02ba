// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// One system of a virtual card.
package struct VirtualSystem: Hashable, Sendable {
    package var code: SystemCode
    /// Its own IDm.
    package var idm: IDm
    package var pmm: PMm
    /// The version of the system's own key (node `FFFF`).
    package var keyVersion: KeyVersion
    /// Whether Request System Code names it; unlisted systems still answer a Polling.
    package var isListed: Bool
    /// Areas and services in tree order: an area precedes its content, the root area first.
    package private(set) var nodes: [VirtualNode]
    /// Its keys; `nil` for a system that answers no authentication.
    package var keys: VirtualKeys?
    /// The blocks, by the overlap group of the services that open them.
    package internal(set) var memory: [UInt16: BlockStore]
    /// The blocks left for areas, services and data while the system is not issued; `nil` once it is.
    package var freeBlocks: UInt16?
    private var places: [UInt16: Int]

    /// Creates a system with its nodes and blocks.
    ///
    /// - Parameters:
    ///   - nodes: in tree order; the root area `0000`–`FFFE` is prepended when it is missing, and of duplicate codes
    ///     the first counts.
    ///   - memory: the blocks by `ServiceCode.overlapGroup`; services whose group is missing have none.
    package init(
        code: SystemCode, idm: IDm, pmm: PMm, keyVersion: KeyVersion = KeyVersion(rawValue: 0), isListed: Bool = true,
        nodes: [VirtualNode] = [], memory: [UInt16: BlockStore] = [:]
    ) {
        self.code = code
        self.idm = idm
        self.pmm = pmm
        self.keyVersion = keyVersion
        self.isListed = isListed
        var kept: [VirtualNode] = []
        var places: [UInt16: Int] = [:]
        let root = VirtualNode(area: .root, end: AreaCode(rawValue: 0xFFFE), keyVersion: keyVersion)
        let hasRoot = nodes.contains { $0.code == AreaCode.root.node }
        for node in (hasRoot ? [] : [root]) + nodes where places[node.code.rawValue] == nil {
            places[node.code.rawValue] = kept.count
            kept.append(node)
        }
        self.nodes = kept
        self.places = places
        self.memory = memory
    }

    /// The area or service with this code.
    package func node(_ code: UInt16) -> VirtualNode? {
        places[code].flatMap { nodes.element(at: $0) }
    }

    /// The innermost area around an area or a service; `nil` for the root area and for nodes that are not there.
    func area(around code: UInt16) -> VirtualNode? {
        guard let node = node(code) else { return nil }
        return nodes.last { $0.isArea && $0.code != node.code && $0.codes.contains(code) }
    }

    /// Adds an area or a service that is not there.
    mutating func add(_ node: VirtualNode) {
        let place = nodes.firstIndex { $0.code > node.code } ?? nodes.endIndex
        nodes.insert(node, at: place)
        places = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($1.code.rawValue, $0) })
    }

    /// Sets the version of a node's DES key.
    package mutating func setKeyVersion(_ version: KeyVersion, of code: UInt16) {
        if code == NodeCode.system.rawValue { keyVersion = version }
        if let place = places[code], nodes.indices.contains(place) { nodes[place].keyVersion = version }
    }

    /// The blocks that a service opens.
    package func blocks(_ service: ServiceCode) -> BlockStore {
        memory[service.overlapGroup] ?? BlockStore()
    }

    /// The version of a node's AES key as Request Service v2 reports it; `nil` when there is no such key or node.
    func aesKeyVersion(of code: UInt16) -> KeyVersion? {
        guard let keys, needsKey(code) else { return keyVersion(of: code) }
        return keys.aes[code] == nil ? nil : keys.aesVersions[code] ?? keyVersion(of: code)
    }

    /// The version of a node's DES key as Request Service v2 reports it; `nil` when there is no such key or node.
    func desKeyVersion(of code: UInt16) -> KeyVersion? {
        guard let keys, needsKey(code) else { return keyVersion(of: code) }
        return keys.des[code] == nil ? nil : keyVersion(of: code)
    }

    /// Whether a node has keys of its own: an area, the system, or a service that needs one.
    private func needsKey(_ code: UInt16) -> Bool {
        node(code)?.service.map { $0.requiresAuthentication || $0.kind == nil } ?? true
    }

    /// The key version of a node as Request Service reports it; `nil` when the node does not exist.
    func keyVersion(of code: UInt16) -> KeyVersion? {
        code == NodeCode.system.rawValue ? keyVersion : node(code)?.keyVersion
    }
}

extension VirtualSystem {
    /// The nodes directly below an area, or the root area below the system node; `nil` when there is no such area.
    func children(of parent: UInt16) -> [VirtualNode]? {
        if parent == NodeCode.system.rawValue { return nodes.filter { $0.code == AreaCode.root.node } }
        guard let area = node(parent), area.isArea else { return nil }
        var children: [VirtualNode] = []
        var inner: [ClosedRange<UInt16>] = []
        for node in nodes where node.code != area.code && area.codes.contains(node.code.rawValue) {
            guard node.code != AreaCode.root.node, !inner.contains(where: { $0.contains(node.code.rawValue) }) else {
                continue
            }
            children.append(node)
            if node.isArea { inner.append(node.codes) }
        }
        return children
    }

    /// The number of blocks of a node: a service's own, for an area those of all services in it, shared ones once.
    func allocatedBlocks(_ node: VirtualNode) -> UInt16 {
        let inside = node.isArea ? nodes.filter { node.codes.contains($0.code.rawValue) } : [node]
        let groups = Set(inside.compactMap { $0.service?.overlapGroup })
        return UInt16(clamping: groups.reduce(0) { $0 + (memory[$1]?.count ?? 0) })
    }
}

/// An area or a service of a virtual card.
package struct VirtualNode: Hashable, Sendable {
    package let code: NodeCode
    /// The last code of an area; `nil` for a service.
    package let end: AreaCode?
    package var keyVersion: KeyVersion
    /// The answers to Get Node Property, by type (00: ten bytes, 01: one byte). By default all FF (no limits on the
    /// purse) and 00 (no MAC).
    package var properties: [UInt8: [UInt8]] = [:]
    /// The two bytes that Get Area Information answers beside the code.
    package var information: [UInt8] = [0, 0]
    /// The answer to every read and write of this service, as recorded in a dump; `nil` for an ordinary service.
    package var refusal: InjectedRefusal?

    package init(service: ServiceCode, keyVersion: KeyVersion = KeyVersion(rawValue: 0)) {
        code = service.node
        end = nil
        self.keyVersion = keyVersion
    }

    package init(area: AreaCode, end: AreaCode, keyVersion: KeyVersion = KeyVersion(rawValue: 0)) {
        code = area.node
        self.end = end
        self.keyVersion = keyVersion
    }

    package var isArea: Bool { end != nil }

    /// Its code as a service code; `nil` for an area.
    package var service: ServiceCode? { isArea ? nil : ServiceCode(rawValue: code.rawValue) }

    /// The codes within it: its own for a service.
    package var codes: ClosedRange<UInt16> {
        let last = end?.rawValue ?? code.rawValue
        return code.rawValue...max(code.rawValue, last)
    }
}
