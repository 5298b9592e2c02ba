// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// The LRP mode of NTAG 424 DNA: AES-128 with a key that is used only a few times each.
///
/// From a key come sixteen plaintexts and keys for updating; a function of them replaces the block cipher in CMAC and
/// in a counter mode. Source: NXP AN12304; the public test vectors of sdm-backend agree.
struct LeakageResilientCipher {
    /// Plaintexts, one for each value of a nibble.
    private let plaintexts: [[UInt8]]
    /// Keys for updating: one for MACs and PICC data, one for file data.
    private let keys: [[UInt8]]

    init(_ key: [UInt8]) throws(CryptoError) {
        var secret = try Self.encrypt(Self.block(0x55), key)
        var plaintexts: [[UInt8]] = []
        for _ in 0..<16 {
            plaintexts.append(try Self.encrypt(Self.block(0xAA), secret))
            secret = try Self.encrypt(Self.block(0x55), secret)
        }
        self.plaintexts = plaintexts
        var generator = try Self.encrypt(Self.block(0xAA), key)
        var keys: [[UInt8]] = []
        for _ in 0..<2 {
            keys.append(try Self.encrypt(Self.block(0xAA), generator))
            generator = try Self.encrypt(Self.block(0x55), generator)
        }
        self.keys = keys
    }

    private static func block(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

    private static func encrypt(_ block: [UInt8], _ key: [UInt8]) throws(CryptoError) -> [UInt8] {
        try AESKey(SecretBytes(key)).encrypt(block)
    }

    /// The function that replaces the block cipher.
    ///
    /// - Parameters:
    ///   - input: bytes, of which each nibble counts, the high one first.
    ///   - number: which key for updating: 0 or 1.
    private func evaluate(_ input: [UInt8], key number: Int) throws(CryptoError) -> [UInt8] {
        guard var value = keys.indices.contains(number) ? keys[number] : nil else { throw .refused }
        for byte in input {
            for nibble in [byte >> 4, byte & 0x0F] { value = try Self.encrypt(plaintexts[Int(nibble)], value) }
        }
        return try Self.encrypt(Self.block(0), value)
    }

    /// The CMAC with the function in place of the block cipher.
    func mac(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let first = Self.doubled(try evaluate(Self.block(0), key: 0))
        var message = message
        let isWhole = !message.isEmpty && message.count.isMultiple(of: 16)
        if !isWhole {
            message.append(0x80)
            while !message.count.isMultiple(of: 16) { message.append(0) }
        }
        let mask = isWhole ? first : Self.doubled(first)
        var value = Self.block(0)
        for start in stride(from: 0, to: message.count, by: 16) {
            let isLast = start + 16 == message.count
            let block = message[start..<start + 16]
            value = zip(zip(value, block), isLast ? mask : Self.block(0)).map { $0.0 ^ $0.1 ^ $1 }
            value = try evaluate(value, key: 0)
        }
        return value
    }

    /// Deciphers whole blocks; the counter is increased for each.
    ///
    /// - Parameter number: which key for updating: 0 for PICC data, 1 for file data.
    func decrypt(_ cipher: [UInt8], counter: [UInt8], key number: Int) throws(CryptoError) -> [UInt8] {
        guard cipher.count.isMultiple(of: 16) else { throw .dataLength(cipher.count) }
        var counter = counter
        var plain: [UInt8] = []
        for start in stride(from: 0, to: cipher.count, by: 16) {
            let key = try AESKey(SecretBytes(evaluate(counter, key: number)))
            plain += try key.decrypt(cipher[start..<start + 16])
            for place in counter.indices.reversed() {
                counter[place] &+= 1
                if counter[place] != 0 { break }
            }
        }
        return plain
    }

    /// Doubles a block in GF(2^128).
    private static func doubled(_ block: [UInt8]) -> [UInt8] {
        var result = block
        for index in block.indices {
            let next = index + 1 < block.count ? block[index + 1] >> 7 : 0
            result[index] = block[index] << 1 | next
        }
        if let first = block.first, first & 0x80 != 0, let last = result.indices.last { result[last] ^= 0x87 }
        return result
    }
}
