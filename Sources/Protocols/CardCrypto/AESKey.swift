// SPDX-License-Identifier: Apache-2.0

package import CardCiphers
internal import CLibCrypto

/// A key of AES-128, AES-192 or AES-256.
///
/// It prints, reflects and dumps as `Redacted`; its bytes are overwritten when the last reference is released.
///
/// Sources: FIPS 197; NIST SP 800-38A (CBC) and SP 800-38B (CMAC, also RFC 4493).
package struct AESKey: SecretValue {
    private let key: SecretBytes

    /// The length of a block in bytes.
    package static let blockLength = 16

    /// Creates a key from 16, 24 or 32 bytes.
    ///
    /// - Throws: ``CryptoError/keyLength(_:)``.
    package init(_ key: SecretBytes) throws(CryptoError) {
        guard [16, 24, 32].contains(key.count) else { throw .keyLength(key.count) }
        self.key = key
    }

    /// Encrypts whole blocks in CBC mode without padding.
    ///
    /// - Parameter start: the starting value of 16 bytes; nil for zeros.
    package func encrypt(_ data: some Collection<UInt8>, after start: [UInt8]? = nil) throws(CryptoError) -> [UInt8] {
        try cbc(Array(data), start: start, encrypts: true)
    }

    /// Decrypts whole blocks in CBC mode without padding.
    package func decrypt(_ data: some Collection<UInt8>, after start: [UInt8]? = nil) throws(CryptoError) -> [UInt8] {
        try cbc(Array(data), start: start, encrypts: false)
    }

    /// Returns the CMAC of these bytes, 16 bytes long.
    package func cmac(_ data: some Collection<UInt8>) throws(CryptoError) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: Self.blockLength)
        let first = Self.doubled(try encrypt(zeros))
        var message = Array(data)
        let isWhole = !message.isEmpty && message.count.isMultiple(of: Self.blockLength)
        if !isWhole {
            message.append(0x80)
            while !message.count.isMultiple(of: Self.blockLength) { message.append(0) }
        }
        let mask = isWhole ? first : Self.doubled(first)
        let tail = zip(message.suffix(Self.blockLength), mask).map { $0 ^ $1 }
        message.replaceSubrange((message.count - Self.blockLength)..., with: tail)
        return Array(try encrypt(message).suffix(Self.blockLength))
    }

    /// Doubles a block in GF(2^128): shifts left, and adds 87 for the bit that falls out.
    static func doubled(_ block: [UInt8]) -> [UInt8] {
        var carry: UInt8 = 0
        var shifted = block
        for index in block.indices.reversed() {
            shifted[index] = block[index] << 1 | carry
            carry = block[index] >> 7
        }
        if carry == 1, let last = shifted.indices.last { shifted[last] ^= 0x87 }
        return shifted
    }

    private func cbc(_ data: [UInt8], start: [UInt8]?, encrypts: Bool) throws(CryptoError) -> [UInt8] {
        guard data.count.isMultiple(of: Self.blockLength) else { throw .dataLength(data.count) }
        let start = start ?? [UInt8](repeating: 0, count: Self.blockLength)
        guard start.count == Self.blockLength else { throw .dataLength(start.count) }
        var output = [UInt8](repeating: 0, count: data.count)
        let result = unsafe key.withUnsafeBytes { key in
            unsafe kazasu_crypto_aes_cbc(
                encrypts ? 1 : 0, key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count, start, data,
                data.count, &output)
        }
        guard try CryptoError.answer(result) else { throw .refused }
        return output
    }
}
