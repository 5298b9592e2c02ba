// SPDX-License-Identifier: Apache-2.0

public import CardCiphers
internal import CardCrypto

/// The type of an application's keys, which never changes; of the card itself, that of its master key.
@nonexhaustive
public enum DESFireKeyType: String, Hashable, Sendable, CaseIterable {
    /// DES, or Triple DES with two keys: a key of sixteen bytes is DES if its halves are equal.
    case des
    /// Triple DES with three keys, 24 bytes.
    case threeKeyTripleDES = "3k3des"
    /// AES-128.
    case aes

    /// The type in bits 7 and 6 of the number of keys.
    init?(bits: UInt8) {
        switch bits & 0xC0 {
        case 0x00: self = .des
        case 0x40: self = .threeKeyTripleDES
        case 0x80: self = .aes
        default: return nil
        }
    }

    /// The length of a key in bytes.
    public var keyLength: Int { self == .threeKeyTripleDES ? 24 : 16 }
}

/// A key of a DESFire application or card. It is proved and never sent, and prints as `Redacted`.
public struct DESFireKey: SecretValue {
    package let secret: SecretBytes
    /// Its number in the application, 0 to 13.
    public let number: UInt8

    /// Makes a key; the caller overwrites the originals.
    ///
    /// - Parameters:
    ///   - bytes: 8 (DES), 16 (DES, Triple DES with two keys, AES) or 24 bytes (Triple DES with three keys).
    ///   - number: its number in the application, 0 to 13.
    /// - Returns: `nil` for another length or number.
    public init?(_ bytes: some Collection<UInt8>, number: UInt8) { self.init(SecretBytes(bytes), number: number) }

    /// Takes the bytes of a key.
    package init?(_ secret: SecretBytes, number: UInt8) {
        guard [8, 16, 24].contains(secret.count), number <= 13 else { return nil }
        self.number = number
        guard secret.count == 8 else {
            self.secret = secret
            return
        }
        self.secret = unsafe SecretBytes(capacity: 16) { memory in
            unsafe secret.withUnsafeBytes { bytes in
                for place in 0..<16 { unsafe memory[place] = unsafe bytes[place % 8] }
            }
            return 16
        }
    }

    /// Whether it has the length of the keys of this type.
    func fits(_ type: DESFireKeyType) -> Bool { secret.count == type.keyLength }

    /// Whether both halves of a key of sixteen bytes are equal, parity included: the cards then use single DES.
    var isSingleDES: Bool {
        unsafe secret.withUnsafeBytes { bytes in
            guard bytes.count == 16 else { return false }
            return unsafe bytes.prefix(8).elementsEqual(bytes.suffix(8))
        }
    }

    /// The cipher of the key.
    ///
    /// - Throws: ``CryptoError/libraryMissing`` for AES, so that a card is asked for nothing in vain.
    func cipher(_ type: DESFireKeyType) throws(CryptoError) -> DESFireCipher {
        guard type != .aes || CryptoError.isLibraryThere else { throw .libraryMissing }
        return try DESFireCipher(type, secret)
    }
}
