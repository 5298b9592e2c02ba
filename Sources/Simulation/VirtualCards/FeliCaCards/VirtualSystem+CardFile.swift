// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

extension VirtualSystem {
    /// Returns a system of a card file (`kazasu.card/1`) with this one's code, nodes, keys and blocks, for a blank card that was
    /// issued. What else the file has stays, such as an IDm and a comment.
    func described(in object: JSONObject) -> JSONObject {
        var object = object.without(["freeBlocks", "properties", "aesKeys", "aesKeyVersions"])
        var (versions, stores, own) = (JSONObject(), JSONObject(), JSONObject())
        versions[NodeCode.system.description] = .string(keyVersion.description)
        for node in nodes {
            versions[node.code.description] = .string(node.keyVersion.description)
            // Services that share blocks have them once.
            guard let service = node.service, let store = memory[service.overlapGroup],
                nodes.first(where: { $0.service?.overlapGroup == service.overlapGroup })?.code == node.code
            else { continue }
            stores[node.code.description] = .array(store.blocks.map { Self.hex($0.block.bytes) })
        }
        for (node, key) in (keys?.des ?? [:]).sorted(by: { $0.key < $1.key }) {
            own[NodeCode(rawValue: node).description] = Self.hex(key)
        }
        object["code"] = .string(code.description)
        object["nodes"] = .array(
            nodes.map { node in .string(node.end.map { "\(node.code)-\($0)" } ?? node.code.description) })
        object["keyVersions"] = .object(versions)
        object["blocks"] = .object(stores)
        object["keys"] = .object(own)
        object["issueId"] = Self.hex(keys?.issueID ?? [])
        object["issueParameter"] = Self.hex(keys?.issueParameter ?? [])
        if let freeBlocks { object["freeBlocks"] = .int(Int(freeBlocks)) }
        return object
    }

    private static func hex(_ bytes: [UInt8]) -> JSONValue { .string(Hex.encode(bytes)) }
}
