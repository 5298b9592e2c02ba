// SPDX-License-Identifier: Apache-2.0

public import CardCiphers
internal import CardCrypto
internal import CardModel

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

    /// The type in bits 7 and 6 of the number of keys.
    var bits: UInt8 {
        switch self {
        case .des: 0x00
        case .threeKeyTripleDES: 0x40
        case .aes: 0x80
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
    /// What the key of one card is derived from, if this one is a master; `nil` for the key itself.
    private(set) var input: [UInt8]?
    /// The version that the parity bits of a DES key get; `nil` to leave them as they are.
    var parity: UInt8?

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
        (self.number, input) = (number, nil)
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

    /// The key that is derived from this one as a master (AN10922), as soon as the type of the application's keys is known.
    ///
    /// - Parameter input: UID and what else belongs to it: at most 31 bytes, and 15 for DES and Triple DES.
    public func diversified(_ input: [UInt8]) -> DESFireKey {
        var key = self
        key.input = input
        return key
    }

    /// The key for keys of a type: itself, or the one that is derived from it.
    ///
    /// - Throws: ``DESFireError/keyLength(_:)`` if it has another length, ``DESFireError/tag(_:)`` if the input is too long.
    func key(_ type: DESFireKeyType) throws(DESFireError) -> DESFireKey {
        guard fits(type) else { throw .keyLength(type) }
        guard input != nil || parity != nil && type != .aes else { return self }
        do throws(CryptoError) {
            var bytes =
                if let input {
                    try Diversification.derived(secret, type, input)
                } else {
                    unsafe secret.withUnsafeBytes { unsafe Array($0) }
                }
            defer { bytes.wipe() }
            if let parity, type != .aes {
                let isSingle = bytes.count == 16 && bytes.prefix(8).elementsEqual(bytes.suffix(8))
                for place in 0..<8 {
                    bytes[place] = bytes[place] & 0xFE | parity >> UInt8(7 - place) & 1
                    if isSingle { bytes[place + 8] = bytes[place] }
                }
            }
            guard let key = DESFireKey(SecretBytes(bytes), number: number) else { throw .keyLength(bytes.count) }
            return key
        } catch {
            throw .tag(.crypto(error))
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
