// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// One system of a virtual card.
public struct VirtualSystem: Hashable, Sendable {
    /// Its code.
    public var code: SystemCode
    /// Its own IDm.
    public var idm: IDm
    /// Its PMm.
    public var pmm: PMm
    /// The version of the system's own key (node `FFFF`).
    public var keyVersion: KeyVersion
    /// Whether Request System Code names it; systems that are not listed still answer a Polling.
    public var isListed: Bool
    /// Areas and services in tree order: an area stands before what is in it, the root area first.
    public private(set) var nodes: [VirtualNode]
    /// The blocks, by the overlap group of the services that open them.
    public internal(set) var memory: [UInt16: BlockStore]
    private let places: [UInt16: Int]

    /// A system with its nodes and blocks.
    ///
    /// - Parameters:
    ///   - nodes: in tree order; the root area `0000`–`FFFE` is put in front when it is missing, and of a code that
    ///     stands twice the first counts.
    ///   - memory: the blocks by ``CardModel/ServiceCode/overlapGroup``; services whose group is not there have none.
    public init(
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
    public func node(_ code: UInt16) -> VirtualNode? {
        places[code].flatMap { nodes.element(at: $0) }
    }

    /// The blocks that a service opens.
    public func blocks(_ service: ServiceCode) -> BlockStore {
        memory[service.overlapGroup] ?? BlockStore()
    }

    /// The version of the key of a node as Request Service tells it; `nil` when the node is not there.
    func keyVersion(of code: UInt16) -> KeyVersion? {
        code == NodeCode.system.rawValue ? keyVersion : node(code)?.keyVersion
    }
}
