// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCiphers
package import CardCrypto
public import CardModel

extension StandardScheme {
    /// The length of a key in bytes.
    package var keyLength: Int {
        switch self {
        case .des: 8
        case .aes: 16
        }
    }

    /// The number of nodes that one Authentication1 may list: areas and services each (DES), or all together (AES).
    ///
    /// Sources differ (8 to 32); these are the smallest for which two agree.
    package var nodesPerSession: Int {
        switch self {
        case .des: 8
        case .aes: 16
        }
    }

    /// The largest number of blocks whose answer fits into this many bytes, at least 1 and at most 14 (DES) or 15 (AES).
    package func blocksPerRead(answeredIn length: Int) -> Int {
        let blocks =
            switch self {
            // LEN and code, the padded text with its 11 bytes before the blocks, and the MAC.
            case .des: ((min(length, 255) - 10) / 8 * 8 - 11) / 16
            case .aes: (min(length, 255) - 15) / 16
            }
        return max(1, blocks)
    }

    /// The length of the frame that writes these blocks, LEN included; above 255 it cannot be sent.
    package func writeLength(_ blocks: BlockList) -> Int {
        let payload = 1 + blocks.bytes.count + 16 * blocks.count
        return switch self {
        // LEN and code, the padded text with its 8 bytes before the payload, and the MAC.
        case .des: 2 + (8 + payload + 7) / 8 * 8 + 8
        case .aes: 12 + payload
        }
    }
}

/// A key of an area, a service or a system of FeliCa Standard.
///
/// It is overwritten when the last reference is released, and prints, reflects and dumps as `Redacted`.
public final class StandardKey: SecretValue, @unchecked Sendable {
    /// The cipher that it is for.
    public let scheme: StandardScheme
    private let secret: SecretBytes

    /// Makes a key from its 8 (DES) or 16 bytes (AES); the caller overwrites the originals.
    ///
    /// - Returns: `nil` for another number of bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let scheme = StandardScheme.allCases.first(where: { $0.keyLength == bytes.count }) else { return nil }
        self.scheme = scheme
        secret = SecretBytes(bytes)
    }

    /// Whether both have the same bytes, compared in constant time.
    package func isSame(as other: StandardKey) -> Bool {
        withBytes { own in other.withBytes { ConstantTime.areEqual(own, $0) } }
    }

    /// Calls `use` with the bytes, which are overwritten afterwards.
    package func withBytes<Value>(_ use: ([UInt8]) -> Value) -> Value {
        var bytes = unsafe secret.withUnsafeBytes { unsafe Array($0) }
        defer { bytes.wipe() }
        return use(bytes)
    }
}

/// What the keys of a list of nodes make together: for DES the group and the user service key, for AES the group key with
/// the individual key in it. It fits only this list in this order.
///
/// It is overwritten when the last reference is released, and prints, reflects and dumps as `Redacted`.
package final class StandardGroupKey: SecretValue, @unchecked Sendable {
    package let scheme: StandardScheme
    private let secret: SecretBytes

    /// Takes a group and a user service key of 8 bytes each.
    package init?(group: StandardKey, user: StandardKey) {
        guard group.scheme == .des, user.scheme == .des else { return nil }
        scheme = .des
        var bytes = group.withBytes { group in user.withBytes { group + $0 } }
        defer { bytes.wipe() }
        secret = SecretBytes(bytes)
    }

    /// Takes an AES group key; an individual key is added to it bit by bit.
    package init?(group: StandardKey, individual: StandardKey? = nil) {
        guard group.scheme == .aes, individual?.scheme ?? .aes == .aes else { return nil }
        scheme = .aes
        var bytes = group.withBytes { $0 }
        defer { bytes.wipe() }
        if let individual {
            individual.withBytes { key in for index in bytes.indices { bytes[index] ^= key[index] } }
        }
        secret = SecretBytes(bytes)
    }

    /// Whether both have the same bytes, compared in constant time.
    package func isSame(as other: StandardGroupKey) -> Bool {
        withBytes { own in other.withBytes { ConstantTime.areEqual(own, $0) } }
    }

    /// Calls `use` with the 16 bytes, which are overwritten afterwards.
    package func withBytes<Value, Failure: Error>(_ use: ([UInt8]) throws(Failure) -> Value) throws(Failure) -> Value {
        var bytes = unsafe secret.withUnsafeBytes { unsafe Array($0) }
        defer { bytes.wipe() }
        return try use(bytes)
    }
}

/// A node in the list of an Authentication1, and its key.
package struct StandardLayer: Sendable {
    package let node: NodeCode
    /// `nil` for a service that needs no key, which adds nothing to the group key.
    package let key: StandardKey?

    package init(_ node: NodeCode, _ key: StandardKey?) { (self.node, self.key) = (node, key) }

    /// Whether it may stand in a list without a key.
    fileprivate var needsKey: Bool {
        let service = ServiceCode(rawValue: node.rawValue)
        return node == .system || service.kind == nil || service.requiresAuthentication
    }
}

/// The nodes that one mutual authentication opens, and the key that their keys make.
///
/// Source: the unofficial user's manual and felica-rs, which agree; see the vectors in the tests.
package struct StandardAccess: Sendable {
    package var scheme: StandardScheme { key.scheme }
    /// The areas around the services, the outermost first; none with AES.
    package let areas: [NodeCode]
    /// The services; a Block List refers to them by their index.
    package let nodes: [NodeCode]
    package let key: StandardGroupKey

    /// Takes a key that was derived elsewhere for just these nodes in this order.
    ///
    /// - Returns: `nil` for too many nodes or none, or with AES for areas.
    package init?(areas: [NodeCode] = [], nodes: [NodeCode], key: StandardGroupKey) {
        let allowed = 1...key.scheme.nodesPerSession
        guard allowed.contains(nodes.count) else { return nil }
        switch key.scheme {
        case .des: guard allowed.contains(areas.count) else { return nil }
        case .aes: guard areas.isEmpty else { return nil }
        }
        (self.areas, self.nodes, self.key) = (areas, nodes, key)
    }

    /// Derives the key of DES: the system key enciphered by each area's key gives the group service key, and that by each
    /// service's the user service key.
    ///
    /// - Returns: `nil` if a key is missing or for AES, or for lists that no card accepts.
    package static func des(system: StandardKey, areas: [StandardLayer], services: [StandardLayer]) -> StandardAccess? {
        guard system.scheme == .des, services.contains(where: { $0.key != nil }),
            let group = chain(system.withBytes { UInt64(block: $0) }, areas), let user = chain(group, services),
            let groupKey = StandardKey(group.block), let userKey = StandardKey(user.block),
            let key = StandardGroupKey(group: groupKey, user: userKey)
        else { return nil }
        return StandardAccess(areas: areas.map(\.node), nodes: services.map(\.node), key: key)
    }

    private static func chain(_ start: UInt64, _ layers: [StandardLayer]) -> UInt64? {
        var value = start
        for layer in layers {
            guard let key = layer.key else {
                guard !layer.needsKey else { return nil }
                continue
            }
            guard key.scheme == .des else { return nil }
            value = DESKey(key.withBytes { UInt64(block: $0) }).encrypt(value)
        }
        return value
    }

    /// The value that the chain of AES begins with.
    private static let start: [UInt8] = [1, 1] + [UInt8](repeating: 0, count: 13) + [0x80]

    /// Derives the key of AES: a fixed value, enciphered by the key of each node in turn.
    ///
    /// - Parameter individual: the card's own key; `nil` is the same as zeros.
    /// - Returns: `nil` if a key is missing or for DES, or for a list that no card accepts.
    /// - Throws: `CryptoError` without OpenSSL's library.
    package static func aes(
        _ layers: [StandardLayer], individual: StandardKey? = nil
    ) throws(CryptoError) -> StandardAccess? {
        var value = start
        defer { value.wipe() }
        for layer in layers {
            guard let key = layer.key else {
                guard !layer.needsKey else { return nil }
                continue
            }
            guard key.scheme == .aes else { return nil }
            value = try AESKey(key.withBytes { SecretBytes($0) }).encrypt(value)
        }
        guard layers.contains(where: { $0.key != nil }), let group = StandardKey(value),
            let key = StandardGroupKey(group: group, individual: individual)
        else { return nil }
        return StandardAccess(nodes: layers.map(\.node), key: key)
    }
}

/// Comparison that takes the same time wherever the difference lies.
enum ConstantTime {
    static func areEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
