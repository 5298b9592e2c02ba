// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// A cipher of residence cards and passports, as a chip computes it.
package enum ChipCipher: String, Hashable, Sendable, CaseIterable {
    /// With two keys.
    case tripleDES
    case aes

    private func triple(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> TripleDESKey? {
        try? TripleDESKey(SecretBytes(Array(first) + Array(second)))
    }

    func encrypt(_ key: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        switch self {
        case .tripleDES: try? triple(key[0..<8], key[8..<16])?.encrypt(data)
        case .aes: try? AESKey(SecretBytes(key)).encrypt(data)
        }
    }

    func decrypt(_ key: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        switch self {
        case .tripleDES: try? triple(key[0..<8], key[8..<16])?.decrypt(data)
        case .aes: try? AESKey(SecretBytes(key)).decrypt(data)
        }
    }

    /// The first eight bytes of the CMAC; with Triple DES single DES in CBC mode, and the last block with all of the key.
    package func code(_ key: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        guard self == .tripleDES else {
            return (try? AESKey(SecretBytes(key)).cmac(data)).map { Array($0.prefix(8)) }
        }
        var padded = data + [0x80]
        while padded.count % 8 != 0 { padded.append(0) }
        guard let single = triple(key[0..<8], key[0..<8]), let whole = triple(key[0..<8], key[8..<16]),
            let chain = try? single.encrypt(padded.dropLast(8))
        else { return nil }
        return try? whole.encrypt(padded.suffix(8), after: UInt64(block: chain.suffix(8)))
    }
}
