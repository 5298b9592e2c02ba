// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The commands that list nodes.
extension CardState {
    private static let absent: UInt16 = 0xFFFF

    /// Reads a count and that many node codes; `nil` when the count is not in `allowed`.
    static func nodeList(
        _ parameters: inout ByteReader, allowed: ClosedRange<UInt8>
    ) throws(ByteCodecError) -> [UInt16]? {
        let count = try parameters.readUInt8()
        guard allowed.contains(count) else { return nil }
        var codes: [UInt16] = []
        for _ in 0..<count { codes.append(try parameters.readUInt16(.little)) }
        return codes
    }

    /// Request Service: the key version of each node, FFFF for a missing one.
    package func requestService(_ system: VirtualSystem, _ parameters: inout ByteReader) throws(ByteCodecError)
        -> Reply?
    {
        guard let codes = try CardState.nodeList(&parameters, allowed: 1...32) else { return nil }
        if profile.knowsStandardAttributesOnly, !codes.allSatisfy(CardState.isStandard) { return nil }
        var answer = ByteWriter([UInt8(truncatingIfNeeded: codes.count)])
        for code in codes { answer.write(system.keyVersion(of: code)?.rawValue ?? CardState.absent, .little) }
        return Reply(answer.bytes, units: codes.count)
    }

    /// Whether FeliCa Standard defines the attribute of a node: areas 00 and 01, services 08–17, the system itself.
    private static func isStandard(_ code: UInt16) -> Bool {
        switch code & 0x3F {
        case 0x00, 0x01, 0x08...0x17: true
        default: code == NodeCode.system.rawValue
        }
    }

    /// Request Service v2: the same for AES keys and, on cards that have both, for DES keys after it.
    func requestServiceV2(_ system: VirtualSystem, _ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        guard let codes = try CardState.nodeList(&parameters, allowed: 1...32) else {
            return refuse(StatusError(StatusCode.serviceCount))
        }
        let encryption = system.keys?.encryption ?? profile.encryption
        let hasDES = [0x41, 0x43, 0x2F, 0x3F].contains(encryption)
        var answer = ByteWriter([0, 0, encryption, UInt8(truncatingIfNeeded: codes.count)])
        if !hasDES || encryption & 0x40 != 0 {
            for code in codes { answer.write(system.aesKeyVersion(of: code)?.rawValue ?? CardState.absent, .little) }
        }
        if hasDES {
            for code in codes { answer.write(system.desKeyVersion(of: code)?.rawValue ?? CardState.absent, .little) }
        }
        return Reply(answer.bytes, units: codes.count)
    }

    /// Search Service Code: the node at a place of the tree, two bytes for a service, four for an area.
    package func searchServiceCode(_ system: VirtualSystem, _ parameters: inout ByteReader) throws(ByteCodecError)
        -> Reply?
    {
        let index = try parameters.readUInt16(.little)
        if let silent = profile.silentSearchIndex, Int(index) >= silent { return nil }
        var answer = ByteWriter()
        if let node = system.nodes.element(at: Int(index)) {
            answer.write(node.code.rawValue, .little)
            if let end = node.end { answer.write(end.rawValue, .little) }
        } else {
            answer.write(CardState.absent, .little)
        }
        return Reply(answer.bytes)
    }

    /// Request System Code: the systems in order, without those that are not listed.
    package func requestSystemCode() -> Reply? {
        var codes = systems.filter(\.isListed).map(\.code.rawValue)
        if profile.doublesSystem { codes += codes.prefix(1) + [0x0000] }
        var answer = ByteWriter([UInt8(truncatingIfNeeded: codes.count)])
        for code in codes { answer.write(code, .big) }
        return Reply(answer.bytes)
    }

    /// Request Code List: the areas and services directly below a node, sixteen of each per page. Page 1 is the first,
    /// and 0 is treated as 1. Below the system node is the root area.
    package func requestCodeList(_ system: VirtualSystem, _ parameters: inout ByteReader) throws(ByteCodecError)
        -> Reply?
    {
        let parent = try parameters.readUInt16(.little)
        let page = max(1, Int(try parameters.readUInt16(.little)))
        guard let children = system.children(of: parent) else { return refuse(StatusError(StatusCode.nodeAbsent)) }
        let start = (page - 1) * 16
        let areas = children.filter(\.isArea)
        let services = children.filter { !$0.isArea }
        let shown = (areas.dropFirst(start).prefix(16), services.dropFirst(start).prefix(16))
        let more = max(areas.count, services.count) > start + 16
        var answer = ByteWriter([0, 0, more ? 1 : 0, UInt8(truncatingIfNeeded: shown.0.count)])
        for area in shown.0 {
            answer.write(area.code.rawValue, .little)
            answer.write(area.end?.rawValue ?? area.code.rawValue, .little)
        }
        answer.write(UInt8(truncatingIfNeeded: shown.1.count))
        for service in shown.1 { answer.write(service.code.rawValue, .little) }
        return Reply(answer.bytes, units: shown.0.count + shown.1.count)
    }

    /// Returns a refusal as the answer of a command with status flags.
    func refuse(_ refusal: StatusError, units: Int = 0) -> Reply? {
        refusal.flags(profile.statusStyle).map { Reply($0, units: units) }
    }
}

/// The commands for details of nodes: sizes, properties, areas.
extension CardState {
    /// Request Block Information: the number of blocks of each node, FFFF for a missing one.
    package func requestBlockInformation(
        _ system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        guard let codes = try CardState.nodeList(&parameters, allowed: 1...32) else { return nil }
        var answer = ByteWriter([UInt8(truncatingIfNeeded: codes.count)])
        for code in codes { answer.write(system.node(code).map(system.allocatedBlocks) ?? 0xFFFF, .little) }
        return Reply(answer.bytes, units: codes.count)
    }

    /// Request Block Information Ex: the same and the number of free blocks, which is zero once a system is issued.
    func requestBlockInformationEx(
        _ system: VirtualSystem, _ parameters: inout ByteReader
    ) throws(ByteCodecError) -> Reply? {
        guard let codes = try CardState.nodeList(&parameters, allowed: 1...16) else {
            return refuse(StatusError(StatusCode.serviceCount))
        }
        var answer = ByteWriter([0, 0, UInt8(truncatingIfNeeded: codes.count)])
        for (place, code) in codes.enumerated() {
            guard let node = system.node(code) else { return refuse(StatusError(StatusCode.nodeAbsent, at: place)) }
            answer.write(system.allocatedBlocks(node), .little)
            answer.write(system.freeBlocks ?? 0, .little)
        }
        return Reply(answer.bytes, units: codes.count)
    }

    /// Get Node Property: ten bytes of purse limits (type 00) or one byte of MAC (type 01) for each node.
    func getNodeProperty(_ system: VirtualSystem, _ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        let type = try parameters.readUInt8()
        guard let codes = try CardState.nodeList(&parameters, allowed: 1...16) else {
            return refuse(StatusError(StatusCode.serviceCount))
        }
        guard let none: [UInt8] = [0: Array(repeating: 0xFF, count: 10), 1: [0]][type] else {
            return refuse(StatusError(StatusCode.nodeAbsent))
        }
        var answer = ByteWriter([0, 0, UInt8(truncatingIfNeeded: codes.count)])
        for (place, code) in codes.enumerated() {
            guard let node = system.node(code) else { return refuse(StatusError(StatusCode.nodeAbsent, at: place)) }
            let property = node.properties[type] ?? none
            answer.write(property.count == none.count ? property : none)
        }
        return Reply(answer.bytes, units: codes.count)
    }

    /// Get Area Information: the code again and two bytes whose meaning no source gives.
    func getAreaInformation(_ system: VirtualSystem, _ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        let code = try parameters.readUInt16(.little)
        guard code != AreaCode.root.rawValue else { return refuse(StatusError(StatusCode.rootArea)) }
        guard let node = system.node(code) else { return refuse(StatusError(StatusCode.noAreaInformation)) }
        guard node.isArea else { return refuse(StatusError(StatusCode.notAnArea)) }
        var answer = ByteWriter([0, 0])
        answer.write(code, .little)
        answer.write(node.information)
        return Reply(answer.bytes)
    }
}
