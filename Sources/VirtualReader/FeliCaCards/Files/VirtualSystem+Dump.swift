// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension VirtualSystem {
    /// The system as a dump has it: services that need a key refuse, services that the dump says were refused give the
    /// same status flags again, overlapped services open the blocks of the one that was read.
    ///
    /// A key version that the dump does not tell is 0000.
    init(_ dump: SystemDump) {
        let areas = dump.areas.map { area in
            VirtualNode(area: area.start, end: area.end, keyVersion: area.keyVersion ?? .unknown)
        }
        let services = dump.services.map { service in
            var node = VirtualNode(service: service.code, keyVersion: service.keyVersion ?? .unknown)
            if case .refused(let status) = service.state {
                node.refusal = status.map { .status($0) } ?? .silence
            }
            return node
        }
        var memory: [UInt16: BlockTable] = [:]
        for service in dump.services {
            memory[service.code.overlapGroup, default: [:]].add(missing: service.blocks)
        }
        let root = dump.areas.first { $0.start == .root }
        self.init(
            code: dump.systemCode, idm: dump.idm, pmm: dump.pmm,
            keyVersion: root?.keyVersion ?? .unknown,
            nodes: VirtualNode.merged(areas: areas, services: services), memory: memory.mapValues { BlockStore($0) })
    }
}

extension KeyVersion {
    /// What a virtual card says where its file says nothing.
    static let unknown = KeyVersion(rawValue: 0)
}

extension VirtualNode {
    /// Areas and services in one list by their codes, which is the order of the tree; each list keeps its own order.
    static func merged(areas: [VirtualNode], services: [VirtualNode]) -> [VirtualNode] {
        var merged: [VirtualNode] = []
        var waiting = areas[...]
        for service in services {
            while let area = waiting.first, area.code <= service.code {
                merged.append(area)
                waiting = waiting.dropFirst()
            }
            merged.append(service)
        }
        return merged + waiting
    }
}
