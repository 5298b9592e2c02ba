// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardCiphers
package import CardCrypto

/// A key of secure messaging with its cipher: Triple DES with two keys, or AES-128.
///
/// Data is encrypted in CBC mode, starting from zeros.
package enum SessionCipher {
    case tripleDES(TripleDESKey)
    case aes(AESKey)

    /// Which cipher it is.
    package enum Kind: Hashable, Sendable {
        case tripleDES
        case aes
    }

    /// Makes a key of 16 bytes.
    package init(_ kind: Kind, key: SecretBytes) throws(CryptoError) {
        switch kind {
        case .aes: self = .aes(try AESKey(key))
        case .tripleDES:
            guard let key = try? TripleDESKey(key) else { throw .keyLength(key.count) }
            self = .tripleDES(key)
        }
    }

    /// The first 16 bytes of SHA-1 of a seed and a counter: the keys of a session (ICAO Doc 9303-11 §9.7.1, which residence
    /// cards share). Parity bits are left as they are; Triple DES ignores them.
    package static func derived(from seed: [UInt8], counter: UInt8) throws(CryptoError) -> SecretBytes {
        SecretBytes(try Digest.sha1.hash(seed + [0, 0, 0, counter]).prefix(16))
    }

    /// The length of a block in bytes.
    package var blockLength: Int {
        switch self {
        case .tripleDES: 8
        case .aes: AESKey.blockLength
        }
    }

    /// Encrypts whole blocks.
    package func encrypt(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch self {
        case .aes(let key): return try key.encrypt(data)
        case .tripleDES(let key):
            guard let cipher = try? key.encrypt(data) else { throw .dataLength(data.count) }
            return cipher
        }
    }

    /// Decrypts whole blocks.
    package func decrypt(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch self {
        case .aes(let key): return try key.decrypt(data)
        case .tripleDES(let key):
            guard let plain = try? key.decrypt(data) else { throw .dataLength(data.count) }
            return plain
        }
    }

    /// Returns the message authentication code of eight bytes: with Triple DES algorithm 3 of ISO/IEC 9797-1 (the retail MAC)
    /// over the padded data, with AES the first half of the CMAC.
    package func code(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch self {
        case .aes(let key): return Array(try key.cmac(data).prefix(8))
        case .tripleDES(let key):
            guard let code = try? key.retailMAC(Self.padded(data, to: 8)) else { throw .dataLength(data.count) }
            return code
        }
    }

    /// Adds 80 and zeros up to a whole block; always at least one byte (ISO/IEC 7816-4 §5.6.3.1).
    package func padded(_ data: [UInt8]) -> [UInt8] { Self.padded(data, to: blockLength) }

    private static func padded(_ data: [UInt8], to block: Int) -> [UInt8] {
        let missing = block - data.count % block
        return data + [0x80] + [UInt8](repeating: 0, count: missing - 1)
    }

    /// Removes the padding; `nil` when there is none.
    package func unpadded(_ data: [UInt8]) -> [UInt8]? {
        guard let end = data.lastIndex(where: { $0 != 0 }), data[end] == 0x80, data.count - end <= blockLength else {
            return nil
        }
        return Array(data[..<end])
    }
}
