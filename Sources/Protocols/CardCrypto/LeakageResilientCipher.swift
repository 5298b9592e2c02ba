// SPDX-License-Identifier: Apache-2.0

package import CardCiphers
internal import CLibCrypto

/// The Leakage Resilient Primitive (LRP): AES-128 in which each key is used a few times only.
///
/// From a key come sixteen plaintexts and keys for updating; a function of them replaces the block cipher in CMAC and
/// in a counter mode. Source: NXP AN12304; the public test vectors of sdm-backend agree.
package struct LeakageResilientCipher: SecretValue {
    /// Plaintexts, one for each value of a nibble.
    private let plaintexts: [[UInt8]]
    /// Keys for updating: one for MACs and PICC data, one for other data.
    private let keys: [[UInt8]]

    /// Derives plaintexts and keys from a key of sixteen bytes.
    package init(_ key: SecretBytes) throws(CryptoError) {
        guard key.count == AESKey.blockLength else { throw .keyLength(key.count) }
        var master = unsafe key.withUnsafeBytes { unsafe Array($0) }
        defer { master.wipe() }
        var secret = try Self.encrypt(Self.block(0x55), master)
        var plaintexts: [[UInt8]] = []
        for _ in 0..<16 {
            plaintexts.append(try Self.encrypt(Self.block(0xAA), secret))
            secret = try Self.encrypt(Self.block(0x55), secret)
        }
        self.plaintexts = plaintexts
        var generator = try Self.encrypt(Self.block(0xAA), master)
        var keys: [[UInt8]] = []
        for _ in 0..<2 {
            keys.append(try Self.encrypt(Self.block(0xAA), generator))
            generator = try Self.encrypt(Self.block(0x55), generator)
        }
        self.keys = keys
    }

    private static func block(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: AESKey.blockLength) }

    /// One block under a key that lives for this step alone, which needs no page of its own.
    private static func encrypt(_ block: [UInt8], _ key: [UInt8]) throws(CryptoError) -> [UInt8] {
        var output = Self.block(0)
        let result = unsafe kazasu_crypto_aes_cbc(
            1, key, key.count, Self.block(0), block, block.count, &output)
        guard try CryptoError.answer(result) else { throw .refused }
        return output
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

    /// The CMAC with the function in place of the block cipher, sixteen bytes.
    package func mac(_ message: some Collection<UInt8>) throws(CryptoError) -> [UInt8] {
        let first = AESKey.doubled(try evaluate(Self.block(0), key: 0))
        var message = Array(message)
        let isWhole = !message.isEmpty && message.count.isMultiple(of: AESKey.blockLength)
        if !isWhole {
            message.append(0x80)
            while !message.count.isMultiple(of: AESKey.blockLength) { message.append(0) }
        }
        let mask = isWhole ? first : AESKey.doubled(first)
        var value = Self.block(0)
        for start in stride(from: 0, to: message.count, by: AESKey.blockLength) {
            let isLast = start + AESKey.blockLength == message.count
            let block = message[start..<start + AESKey.blockLength]
            value = zip(zip(value, block), isLast ? mask : Self.block(0)).map { $0.0 ^ $0.1 ^ $1 }
            value = try evaluate(value, key: 0)
        }
        return value
    }

    /// Enciphers whole blocks; the counter is increased for each.
    ///
    /// - Parameters:
    ///   - counter: most significant byte first, of any length; it wraps.
    ///   - number: which key for updating: 0 for PICC data, 1 for other data.
    package func encrypt(
        _ plain: some Collection<UInt8>, counter: [UInt8], key number: Int
    ) throws(CryptoError) -> [UInt8] {
        try blocks(Array(plain), counter, number) { key, block throws(CryptoError) in try key.encrypt(block) }
    }

    /// Deciphers what ``encrypt(_:counter:key:)`` makes.
    package func decrypt(
        _ cipher: some Collection<UInt8>, counter: [UInt8], key number: Int
    ) throws(CryptoError) -> [UInt8] {
        try blocks(Array(cipher), counter, number) { key, block throws(CryptoError) in try key.decrypt(block) }
    }

    private func blocks(
        _ data: [UInt8], _ counter: [UInt8], _ number: Int,
        _ body: (AESKey, ArraySlice<UInt8>) throws(CryptoError) -> [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        guard data.count.isMultiple(of: AESKey.blockLength) else { throw .dataLength(data.count) }
        var counter = counter
        var output: [UInt8] = []
        for start in stride(from: 0, to: data.count, by: AESKey.blockLength) {
            let key = try AESKey(SecretBytes(evaluate(counter, key: number)))
            output += try body(key, data[start..<start + AESKey.blockLength])
            for place in counter.indices.reversed() {
                counter[place] &+= 1
                if counter[place] != 0 { break }
            }
        }
        return output
    }
}
