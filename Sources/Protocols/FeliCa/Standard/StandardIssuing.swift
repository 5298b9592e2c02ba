// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
package import CardModel

/// A command that issues a blank FeliCa Standard card. Keys are sealed with that of the area above, of DES.
///
/// Sources: felica-rs and nfcpy's fork, one author; nfcf-info describes the same idea after Sony's patents.
package enum StandardIssueCommand: Sendable {
    /// Register Issue ID: the system code, its numbers, and the version and key of area 0000. On an issued card it would
    /// erase everything.
    case issueID(SystemCode, SystemIssue, version: KeyVersion)
    /// Register Area.
    case area(AreaCode, end: AreaCode, blocks: UInt16, version: KeyVersion)
    /// Register Service.
    case service(ServiceCode, blocks: UInt16, version: KeyVersion)
    /// Change System Block, which makes all of it permanent.
    case changeSystemBlock

    package var code: CommandCode {
        switch self {
        case .issueID: .registerIssueID
        case .area: .registerArea
        case .service: .registerService
        case .changeSystemBlock: .changeSystemBlock
        }
    }

    /// The payload.
    ///
    /// - Parameters:
    ///   - key: the node's new key; `nil` for a service that needs none.
    ///   - parent: the key of the area above; of area 0000, its present key.
    /// - Returns: `nil` for keys of AES, for which no public source has a layout.
    package func payload(key: StandardKey?, parent: StandardKey) -> [UInt8]? {
        var head = ByteWriter()
        var plain = ByteWriter()
        switch self {
        case .issueID(let system, let issue, let version):
            head.write(issue.id + issue.parameter)
            plain.write(system.rawValue, .big)
            plain.write(version.rawValue, .little)
        case .area(let start, let end, let blocks, let version):
            head.write(start.rawValue, .little)
            for number in [start.rawValue, end.rawValue, blocks, version.rawValue] { plain.write(number, .little) }
        case .service(let code, let blocks, let version):
            head.write(code.rawValue, .little)
            for number in [code.rawValue, 0, blocks, version.rawValue] { plain.write(number, .little) }
        case .changeSystemBlock: return []
        }
        guard key?.scheme ?? .des == .des, parent.scheme == .des else { return nil }
        var contents = plain.bytes
        defer { contents.wipe() }
        if let key { key.withBytes { contents += $0 } } else { contents += [UInt8](repeating: 0, count: 8) }
        contents += [UInt8](repeating: 0, count: 16 - contents.count)
        return head.bytes + parent.package(contents)
    }
}

extension StandardKey {
    /// Sixteen bytes and their MAC, sealed with this key of DES: 24 bytes.
    ///
    /// The MAC is the last block in CBC mode under the inverted key; all is then enciphered in CBC mode.
    package func package(_ plain: [UInt8]) -> [UInt8] {
        let key = withBytes { UInt64(block: $0) }
        return Self.chain(plain + Self.chain(plain, DESKey(~key)).suffix(8), DESKey(key))
    }

    private static func chain(_ plain: [UInt8], _ key: DESKey) -> [UInt8] {
        var last: UInt64 = 0
        return plain.indices.filter { $0.isMultiple(of: 8) }.flatMap { start in
            last = key.encrypt(last ^ UInt64(block: plain[start...].prefix(8)))
            return last.block
        }
    }
}

extension StandardSession {
    /// Sends an issuing command, once.
    ///
    /// - Parameter payload: as ``StandardIssueCommand/payload(key:parent:)`` makes it.
    /// - Returns: the blocks that are left, where the card tells.
    /// - Throws: ``StandardError``; after `FeliCaError.status` nothing was changed and the session goes on. After any other
    ///   error it is unknown whether the card carried it out.
    @discardableResult
    package mutating func issue(_ command: StandardIssueCommand, _ payload: [UInt8]) throws(StandardError) -> UInt16? {
        let answer = try exchange(command.code, payload, max(system.times.maximum(.other), .milliseconds(2)))
        guard answer.count >= 2 else { throw .forged(command.code) }
        let flags = StatusFlags(answer[0], answer[1])
        guard flags.flag1 == 0 || flags.isWarning else { throw .command(.status(flags)) }
        switch command {
        case .issueID, .service:
            guard answer.count >= 4 else { throw .forged(command.code) }
            return UInt16(answer[2]) | UInt16(answer[3]) << 8
        case .area, .changeSystemBlock: return nil
        }
    }
}

/// A value by which keys of a journal are known again: a salt that each of the keys enciphers in turn. With three or more
/// keys, none can be found from it alone.
package struct StandardKeyCheck: Hashable, Sendable {
    /// Eight random bytes.
    package let salt: [UInt8]
    /// Eight bytes.
    package let value: [UInt8]

    package init?(salt: [UInt8], value: [UInt8]) {
        guard salt.count == 8, value.count == 8 else { return nil }
        (self.salt, self.value) = (salt, value)
    }

    /// Makes the value of keys of DES in this order.
    package init(_ keys: [StandardKey], salt: [UInt8] = (0..<8).map { _ in .random(in: .min ... .max) }) {
        self.salt = salt
        value =
            keys.reduce(UInt64(block: salt)) { value, key in
                key.withBytes { DESKey(UInt64(block: $0.prefix(8))).encrypt(value) }
            }.block
    }

    /// Whether it was made of these keys.
    package func matches(_ keys: [StandardKey]) -> Bool { StandardKeyCheck(keys, salt: salt) == self }
}
