// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension VirtualSystem {
    /// The nodes right below an area, or the root area below the system node; `nil` when there is no such area.
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

    /// How many blocks a node holds: a service its own, an area those of all services in it, shared ones once.
    func allocatedBlocks(_ node: VirtualNode) -> UInt16 {
        let inside = node.isArea ? nodes.filter { node.codes.contains($0.code.rawValue) } : [node]
        let groups = Set(inside.compactMap { $0.service?.overlapGroup })
        return UInt16(clamping: groups.reduce(0) { $0 + (memory[$1]?.count ?? 0) })
    }
}
