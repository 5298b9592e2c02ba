// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// The keys and the counter of a session.
struct PassportSession: Sendable {
    /// The number of the cipher: 1 for Triple DES, 2 to 4 for AES.
    var number: UInt8 = 1
    var encryption: [UInt8]
    var codes: [UInt8]
    /// As long as a block, big-endian; it overflows to zero.
    var counter: [UInt8]

    mutating func count() {
        for place in counter.indices.reversed() {
            counter[place] &+= 1
            if counter[place] != 0 { return }
        }
    }

    var block: Int { number == 1 ? 8 : 16 }

    private func start() throws -> [UInt8] { try AESKey(SecretBytes(encryption)).encrypt(counter) }

    func encrypt(_ data: [UInt8]) -> [UInt8]? {
        guard number != 1 else { return ChipCipher.tripleDES.encrypt(encryption, data) }
        return try? AESKey(SecretBytes(encryption)).encrypt(data, after: start())
    }

    func decrypt(_ data: [UInt8]) -> [UInt8]? {
        guard number != 1 else { return ChipCipher.tripleDES.decrypt(encryption, data) }
        return try? AESKey(SecretBytes(encryption)).decrypt(data, after: start())
    }

    /// The code over the counter and these bytes; with AES they are padded as well.
    func code(_ data: [UInt8]) -> [UInt8]? {
        guard number != 1 else { return ChipCipher.tripleDES.code(codes, counter + data) }
        return ChipCipher.aes.code(codes, padded(counter + data))
    }

    func padded(_ data: [UInt8]) -> [UInt8] {
        var padded = data + [0x80]
        while padded.count % block != 0 { padded.append(0) }
        return padded
    }
}
