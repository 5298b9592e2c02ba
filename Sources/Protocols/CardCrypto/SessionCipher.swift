// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardCiphers
package import CardModel

/// A key of secure messaging with its cipher: Triple DES with two keys, or AES.
///
/// Data is encrypted in CBC mode, starting from zeros unless a start is given.
package enum SessionCipher {
    case tripleDES(TripleDESKey)
    case aes(AESKey)

    package enum Kind: Hashable, Sendable {
        case tripleDES
        case aes
    }

    /// Makes a key: of 16 bytes, with AES also of 24 or 32.
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

    /// Makes a key of what two sides agreed on, or of a password (ICAO Doc 9303-11 §9.7.1).
    ///
    /// - Parameters:
    ///   - purpose: 1 for encryption, 2 for codes, 3 for a password.
    package init(_ cipher: ChipCipher, from secret: [UInt8], purpose: UInt8) throws(CryptoError) {
        let digest = cipher.keyLength > 16 ? Digest.sha256 : .sha1
        var hash = try digest.hash(secret + [0, 0, 0, purpose])
        defer { hash.wipe() }
        try self.init(cipher == .tripleDES ? .tripleDES : .aes, key: SecretBytes(hash.prefix(cipher.keyLength)))
    }

    /// The length of a block in bytes.
    package var blockLength: Int {
        switch self {
        case .tripleDES: 8
        case .aes: AESKey.blockLength
        }
    }

    /// Encrypts whole blocks.
    ///
    /// - Parameter start: the starting value, with AES only; `nil` for zeros.
    package func encrypt(_ data: [UInt8], after start: [UInt8]? = nil) throws(CryptoError) -> [UInt8] {
        switch self {
        case .aes(let key): return try key.encrypt(data, after: start)
        case .tripleDES(let key):
            guard let cipher = try? key.encrypt(data) else { throw .dataLength(data.count) }
            return cipher
        }
    }

    /// Decrypts whole blocks.
    ///
    /// - Parameter start: the starting value, with AES only; `nil` for zeros.
    package func decrypt(_ data: [UInt8], after start: [UInt8]? = nil) throws(CryptoError) -> [UInt8] {
        switch self {
        case .aes(let key): return try key.decrypt(data, after: start)
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

    /// Returns the same code over data that is always padded, as passports have it over their counter and objects.
    package func paddedCode(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
        if case .aes = self { return try code(padded(data)) }
        return try code(data)
    }

    /// The starting value of a passport's cipher text: with AES the encrypted counter; Triple DES starts from zeros.
    package func start(_ counter: [UInt8]) throws(CryptoError) -> [UInt8]? {
        if case .aes(let key) = self { return try key.encrypt(counter) }
        return nil
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
