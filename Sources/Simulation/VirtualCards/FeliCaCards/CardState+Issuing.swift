// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardModel

/// The commands that issue a blank card, written by hand from felica-rs's description and the vectors.
///
/// They work in a session that lists area 0000 alone. A package has a MAC of its own and is sealed with the key of the
/// area above. What is registered is permanent from Change System Block on.
extension CardState {
    /// Carries out an issuing command.
    ///
    /// - Returns: what follows the status flags.
    mutating func issue(
        _ command: SecureCommand, _ mode: SecureMode, _ payload: [UInt8], in system: VirtualSystem
    ) throws(StatusError) -> [UInt8] {
        guard mode.nodes == [AreaCode.root.rawValue], system.freeBlocks != nil, system.keys != nil else {
            throw StatusError(StatusCode.disabled)
        }
        let changed =
            switch command {
            case .registerIssueID: try system.registeringIssueID(payload)
            case .registerArea: try system.registeringArea(payload)
            case .registerService: try system.registeringService(payload)
            default: system.permanent
            }
        if command == .changeSystemBlock { unissued = nil } else if unissued == nil { unissued = system }
        store(changed)
        guard command == .registerIssueID || command == .registerService, let left = changed.freeBlocks else {
            return []
        }
        return [UInt8(truncatingIfNeeded: left), UInt8(left >> 8)]
    }
}

extension VirtualSystem {
    /// The length of a package without its MAC, and with it.
    private static let plainLength = 16
    private static let packageLength = 24

    /// The system after Change System Block.
    fileprivate var permanent: VirtualSystem {
        var system = self
        system.freeBlocks = nil
        return system
    }

    /// Register Issue ID: IDi, PMi and the package of the system code and area 0000. What was registered is gone.
    fileprivate func registeringIssueID(_ payload: [UInt8]) throws(StatusError) -> VirtualSystem {
        guard payload.count >= 16 else { throw .silence }
        let plain = try opened(payload[16...], keyOf: AreaCode.root.rawValue)
        let code = SystemCode(rawValue: UInt16(plain[0]) << 8 | UInt16(plain[1]))
        guard plain[0] != 0xFF, plain[1] != 0xFF, code.rawValue != 0 else { throw StatusError(StatusCode.systemCode) }
        guard plain[12...].allSatisfy({ $0 == 0 }) else { throw StatusError(StatusCode.parameter) }
        var system = VirtualSystem(code: code, idm: idm, pmm: pmm, keyVersion: keyVersion)
        var keys = VirtualKeys()
        keys.des = [0xFFFF: self.keys?.des[0xFFFF] ?? [], AreaCode.root.rawValue: Array(plain[4..<12])]
        (keys.issueID, keys.issueParameter) = (Array(payload[..<8]), Array(payload[8..<16]))
        system.keys = keys
        system.setKeyVersion(KeyVersion(rawValue: Self.number(plain, at: 2)), of: AreaCode.root.rawValue)
        system.freeBlocks = freeBlocks
        return system
    }

    /// Register Area: the code, and the package of its first and last code, blocks and key. It costs one block.
    fileprivate func registeringArea(_ payload: [UInt8]) throws(StatusError) -> VirtualSystem {
        let (code, parent, plain) = try package(payload)
        let end = AreaCode(rawValue: Self.number(plain, at: 2))
        guard code & 0x3F <= 1 else { throw StatusError(StatusCode.attribute) }
        // An area with attribute 01 holds no areas; nothing that is there already moves into a new one.
        guard parent.code.rawValue & 1 == 0, end.rawValue > code, parent.codes.contains(end.rawValue),
            !nodes.contains(where: { (code...end.rawValue).contains($0.code.rawValue) })
        else { throw StatusError(StatusCode.parameter) }
        return try adding(
            VirtualNode(
                area: AreaCode(rawValue: code), end: end, keyVersion: KeyVersion(rawValue: Self.number(plain, at: 6))),
            key: Array(plain[8..<16]), cost: 1)
    }

    /// Register Service: the code, and the package of the code, blocks and key. It costs one block, and those of its
    /// data once for all services that share them.
    fileprivate func registeringService(_ payload: [UInt8]) throws(StatusError) -> VirtualSystem {
        let (code, _, plain) = try package(payload)
        let service = ServiceCode(rawValue: code)
        guard service.kind != nil else { throw StatusError(StatusCode.attribute) }
        let blocks = Self.number(plain, at: 4)
        guard Self.number(plain, at: 2) == 0, blocks > 0 else { throw StatusError(StatusCode.parameter) }
        let shared = memory[service.overlapGroup]
        guard shared == nil || shared?.count == Int(blocks) else { throw StatusError(StatusCode.parameter) }
        let key = Array(plain[8..<16])
        guard service.requiresAuthentication || key.allSatisfy({ $0 == 0 }) else {
            throw StatusError(StatusCode.parameter)
        }
        var system = try adding(
            VirtualNode(service: service, keyVersion: KeyVersion(rawValue: Self.number(plain, at: 6))),
            key: service.requiresAuthentication ? key : nil, cost: 1 + (shared == nil ? Int(blocks) : 0))
        if shared == nil {
            system.memory[service.overlapGroup] = BlockStore(Array(repeating: .zero, count: Int(blocks)))
        }
        return system
    }

    private func adding(_ node: VirtualNode, key: [UInt8]?, cost: Int) throws(StatusError) -> VirtualSystem {
        guard let left = freeBlocks.map({ Int($0) - cost }), left >= 0 else {
            throw StatusError(StatusCode.writeFailed)
        }
        var system = self
        system.freeBlocks = UInt16(left)
        system.add(node)
        if let key { system.keys?.des[node.code.rawValue] = key }
        return system
    }

    /// The code of a command and the contents of its package, which must name the same code.
    private func package(
        _ payload: [UInt8]
    ) throws(StatusError) -> (code: UInt16, parent: VirtualNode, plain: [UInt8]) {
        guard payload.count >= 2 else { throw .silence }
        let code = Self.number(payload, at: 0)
        guard node(code) == nil else { throw StatusError(StatusCode.exists) }
        guard let parent = nodes.last(where: { $0.isArea && $0.codes.contains(code) }) else {
            throw StatusError(StatusCode.parameter)
        }
        let plain = try opened(payload[2...], keyOf: parent.code.rawValue)
        guard Self.number(plain, at: 0) == code else { throw StatusError(StatusCode.otherCode) }
        return (code, parent, plain)
    }

    /// A package's contents. Its MAC is the last block of the contents in CBC mode under the inverted key.
    private func opened(_ bytes: ArraySlice<UInt8>, keyOf node: UInt16) throws(StatusError) -> [UInt8] {
        guard bytes.count >= Self.packageLength, let key = keys?.des[node].map({ UInt64(block: $0) }) else {
            throw .silence
        }
        let whole = CardDES.opened(Array(bytes.prefix(Self.packageLength)), key)
        let plain = Array(whole.prefix(Self.plainLength))
        guard Array(CardDES.sealed(plain, ~key).suffix(8)) == Array(whole.suffix(8)) else {
            throw StatusError(StatusCode.packageMAC)
        }
        return plain
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> UInt16 {
        UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
    }
}
