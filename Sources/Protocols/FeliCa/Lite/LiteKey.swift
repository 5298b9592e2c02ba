// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardCiphers
public import CardModel

/// The card key (CK) of a FeliCa Lite or Lite-S.
///
/// It is overwritten when the last reference is released, and prints as `Redacted`. Nothing changes it after it was
/// made.
public final class LiteKey: SecretValue, @unchecked Sendable {
    /// The bytes of block 87.
    private let bytes: SecretBytes
    package let cipher: TripleDESKey

    /// Makes a key from the sixteen bytes of block 87 as they are on the wire; the caller overwrites the originals.
    ///
    /// - Returns: `nil` for another number of bytes.
    public convenience init?(_ bytes: some Collection<UInt8>) { self.init(secret: SecretBytes(bytes)) }

    package init?(secret: SecretBytes) {
        var turned = unsafe secret.withUnsafeBytes { unsafe LiteBytes.turned(Array($0)) }
        defer { turned.wipe() }
        guard let cipher = try? TripleDESKey(SecretBytes(turned)) else { return nil }
        (bytes, self.cipher) = (secret, cipher)
    }

    /// Whether it is the key that cards leave the factory with, which everybody knows: zeros, besides bits that DES
    /// ignores.
    package var isFactoryKey: Bool {
        unsafe bytes.withUnsafeBytes { unsafe $0.allSatisfy { $0 & 0xFE == 0 } }
    }

    /// Calls `use` with the contents of block 87, which must not be retained.
    package func withBlock<Value, Failure: Error>(
        _ use: (Block) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try use(unsafe bytes.withUnsafeBytes { unsafe Block(Array($0)) } ?? .zero)
    }
}

/// A master key, from which each card gets a key of its own: a card whose key becomes known opens no other.
///
/// The card key is CMAC-3DES of the ID block, and of the ID block with its first bit changed. Source: Sony's application
/// note as M5Unit-NFC implements it.
public final class LiteMasterKey: SecretValue, Sendable {
    fileprivate let cipher: TripleDESKey

    /// Makes a master key from its twenty-four bytes; the caller overwrites the originals.
    ///
    /// - Returns: `nil` for another number of bytes.
    public convenience init?(_ bytes: some Collection<UInt8>) { self.init(secret: SecretBytes(bytes)) }

    package init?(secret: SecretBytes) {
        guard let cipher = try? TripleDESKey(long: secret) else { return nil }
        self.cipher = cipher
    }

    /// Returns the key of the card with this ID block (82).
    public func key(id: Block) -> LiteKey? {
        let halves = [id.number(at: 0, count: 8, .big), id.number(at: 8, count: 8, .big)]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        defer { bytes.wipe() }
        guard let start = try? cipher.encrypt(UInt64(0).block) else { return nil }
        let zero = UInt64(block: start)
        // The subkey K1 of CMAC (NIST SP 800-38B).
        let subkey = zero << 1 ^ (zero >> 63 == 1 ? 0x1B : 0)
        for change: UInt64 in [0, 1 << 63] {
            let message = (halves[0] ^ change).block + (halves[1] ^ subkey).block
            guard let code = try? cipher.encrypt(message).suffix(8) else { return nil }
            bytes += code
        }
        return LiteKey(bytes)
    }
}

/// The key of one card, or the master key that it is derived from.
@nonexhaustive
public enum LiteKeySource: Sendable {
    case card(LiteKey)
    case master(LiteMasterKey)

    /// What the key makes of fixed data: equal for equal keys, and no way back to them.
    package var mark: [UInt8] {
        let data = UInt64(1).block + UInt64(2).block
        return switch self {
        case .card(let key): (try? key.cipher.encrypt(data)) ?? []
        case .master(let key): [0] + ((try? key.cipher.encrypt(data)) ?? [])
        }
    }

    /// The key of the card with this ID block.
    package func key(id: Block) -> LiteKey? {
        switch self {
        case .card(let key): key
        case .master(let key): key.key(id: id)
        }
    }
}
