// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The commands that tell more of nodes: sizes, properties, areas.
extension CardState {
    /// Request Block Information: how many blocks each node holds, FFFF for one that is not there.
    func requestBlockInformation(
        _ system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        guard let codes = try CardState.nodeList(&parameters, allowed: 1...32) else { return nil }
        var answer = ByteWriter([UInt8(truncatingIfNeeded: codes.count)])
        for code in codes { answer.write(system.node(code).map(system.allocatedBlocks) ?? 0xFFFF, .little) }
        return Reply(answer.bytes, units: codes.count)
    }

    /// Request Block Information Ex: the same and how many are free, which is none.
    func requestBlockInformationEx(
        _ system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        guard let codes = try CardState.nodeList(&parameters, allowed: 1...16) else {
            return refuse(Refusal(StatusCode.serviceCount))
        }
        var answer = ByteWriter([0, 0, UInt8(truncatingIfNeeded: codes.count)])
        for (place, code) in codes.enumerated() {
            guard let node = system.node(code) else { return refuse(Refusal(StatusCode.nodeAbsent, at: place)) }
            answer.write(system.allocatedBlocks(node), .little)
            answer.write(UInt16(0), .little)
        }
        return Reply(answer.bytes, units: codes.count)
    }

    /// Get Node Property: ten bytes of purse limits (type 00) or one byte of MAC (type 01) for each node.
    func getNodeProperty(_ system: VirtualSystem, _ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        let type = try parameters.readUInt8()
        guard let codes = try CardState.nodeList(&parameters, allowed: 1...16) else {
            return refuse(Refusal(StatusCode.serviceCount))
        }
        guard let none: [UInt8] = [0: Array(repeating: 0xFF, count: 10), 1: [0]][type] else {
            return refuse(Refusal(StatusCode.nodeAbsent))
        }
        var answer = ByteWriter([0, 0, UInt8(truncatingIfNeeded: codes.count)])
        for (place, code) in codes.enumerated() {
            guard let node = system.node(code) else { return refuse(Refusal(StatusCode.nodeAbsent, at: place)) }
            let property = node.properties[type] ?? none
            answer.write(property.count == none.count ? property : none)
        }
        return Reply(answer.bytes, units: codes.count)
    }

    /// Get Area Information: the code again and two bytes whose meaning no source tells.
    func getAreaInformation(_ system: VirtualSystem, _ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        let code = try parameters.readUInt16(.little)
        guard code != AreaCode.root.rawValue else { return refuse(Refusal(StatusCode.rootArea)) }
        guard let node = system.node(code) else { return refuse(Refusal(StatusCode.noAreaInformation)) }
        guard node.isArea else { return refuse(Refusal(StatusCode.notAnArea)) }
        var answer = ByteWriter([0, 0])
        answer.write(code, .little)
        answer.write(node.information)
        return Reply(answer.bytes)
    }
}
