// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// The cipher of a DESFire key or session: Triple DES with two or three keys, or AES.
///
/// Sources: NXP's data sheets by way of libfreefare and Proxmark3; NIST SP 800-38B for the CMAC.
enum DESFireCipher {
    case tripleDES(TripleDESKey)
    case aes(AESKey)

    /// Makes the cipher of a key or of a session's key.
    ///
    /// - Parameter bytes: sixteen bytes with AES; else sixteen or twenty-four.
    init(_ type: DESFireKeyType, _ bytes: SecretBytes) throws(CryptoError) {
        do throws(CipherError) {
            switch type {
            case .aes: break
            case .des:
                self = .tripleDES(try TripleDESKey(bytes))
                return
            case .threeKeyTripleDES:
                self = .tripleDES(try TripleDESKey(long: bytes))
                return
            }
        } catch {
            throw .keyLength(bytes.count)
        }
        self = .aes(try AESKey(bytes))
    }

    /// The length of a block in bytes.
    var blockLength: Int {
        switch self {
        case .tripleDES: 8
        case .aes: AESKey.blockLength
        }
    }

    /// A starting value of zeros.
    var zeros: [UInt8] { [UInt8](repeating: 0, count: blockLength) }

    /// Encrypts whole blocks in CBC mode.
    func encrypt(_ data: [UInt8], after start: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch self {
        case .aes(let key): return try key.encrypt(data, after: start)
        case .tripleDES(let key):
            guard let cipher = try? key.encrypt(data, after: UInt64(block: start)) else {
                throw .dataLength(data.count)
            }
            return cipher
        }
    }

    /// Decrypts whole blocks in CBC mode.
    func decrypt(_ data: [UInt8], after start: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch self {
        case .aes(let key): return try key.decrypt(data, after: start)
        case .tripleDES(let key):
            guard let plain = try? key.decrypt(data, after: UInt64(block: start)) else {
                throw .dataLength(data.count)
            }
            return plain
        }
    }

    /// Prepares what a D40 card gets: it can only encrypt, so that the reader decrypts what it sends, each block after it was
    /// combined with the one sent before.
    func prepared(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
        var sent: [UInt8] = []
        var last = zeros
        for start in stride(from: 0, to: data.count, by: blockLength) {
            let block = zip(data[start...].prefix(blockLength), last).map { $0 ^ $1 }
            last = try decrypt(block, after: zeros)
            sent += last
        }
        return sent
    }

    /// Returns the CMAC as a whole block.
    ///
    /// - Parameter start: the block before the first one; zeros in NIST's mode.
    func cmac(_ data: [UInt8], after start: [UInt8]) throws(CryptoError) -> [UInt8] {
        let first = doubled(try encrypt(zeros, after: zeros))
        let isWhole = !data.isEmpty && data.count.isMultiple(of: blockLength)
        var message = isWhole ? data : padded(data, with: 0x80)
        let tail = zip(message.suffix(blockLength), isWhole ? first : doubled(first)).map { $0 ^ $1 }
        message.replaceSubrange((message.count - blockLength)..., with: tail)
        return try encrypt(message, after: start).suffix(blockLength)
    }

    /// Returns the CMAC of whole blocks that were padded before, as a whole block.
    func paddedCMAC(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let subkey = doubled(doubled(try encrypt(zeros, after: zeros)))
        let tail = zip(message.suffix(blockLength), subkey).map { $0 ^ $1 }
        return try encrypt(message.dropLast(blockLength) + tail, after: zeros).suffix(blockLength)
    }

    /// Adds zeros up to a whole block, after a first byte if one is given.
    func padded(_ data: [UInt8], with first: UInt8? = nil) -> [UInt8] {
        var padded = data
        if let first { padded.append(first) }
        while !padded.count.isMultiple(of: blockLength) { padded.append(0) }
        return padded
    }

    /// Shifts a block left, and adds the polynomial of its length for the bit that falls out.
    private func doubled(_ block: [UInt8]) -> [UInt8] {
        var carry: UInt8 = 0
        var shifted = block
        for index in block.indices.reversed() {
            shifted[index] = block[index] << 1 | carry
            carry = block[index] >> 7
        }
        if carry == 1, let last = shifted.indices.last { shifted[last] ^= block.count == 8 ? 0x1B : 0x87 }
        return shifted
    }
}

/// The two checksums inside of enciphered data, least significant byte first.
enum DESFireChecksum {
    /// CRC_A of ISO 14443-3, two bytes.
    static func short(_ bytes: [UInt8]) -> [UInt8] {
        let value = bytes.reduce(UInt16(0x6363)) { value, byte in
            (0..<8).reduce(value ^ UInt16(byte)) { value, _ in (value >> 1) ^ (value & 1 == 0 ? 0 : 0x8408) }
        }
        return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    /// CRC-32 of IEEE 802.3 without the inversion at its end, four bytes.
    static func long(_ bytes: [UInt8]) -> [UInt8] { EV2KeyChange.checksum(bytes) }
}
