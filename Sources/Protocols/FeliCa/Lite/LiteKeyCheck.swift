// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers

/// Recognizes the key of a FeliCa Lite-S again, such as the key of an issuance that was interrupted, without containing it.
///
/// It is a CBC-MAC of Triple DES over a random salt. A card makes its session keys by encrypting the 16 bytes of RC in
/// the same mode, so an encrypted block that is known together with its input would let its finder open a session. With
/// a salt of four blocks there is none: the input of the last encryption stays unknown.
public struct LiteKeyCheck: Hashable, Sendable {
    /// 32 random bytes.
    public let salt: [UInt8]
    /// The MAC of the salt: 8 bytes.
    public let value: [UInt8]

    /// The length of a salt in bytes, twice that of RC.
    private static let saltLength = 32
    private static let valueLength = 8

    /// Makes a check value that was stored before.
    ///
    /// - Returns: `nil` for a salt of other than 32 bytes, or a value of other than 8.
    public init?(salt: [UInt8], value: [UInt8]) {
        guard salt.count == Self.saltLength, value.count == Self.valueLength else { return nil }
        (self.salt, self.value) = (salt, value)
    }

    /// Makes the check value of a card key, with a new salt.
    public init(_ key: LiteKey) {
        salt = (0..<Self.saltLength).map { _ in UInt8.random(in: .min ... .max) }
        value = Self.value(key, salt)
    }

    /// Whether it was made of this card key. Bits that DES ignores may differ.
    public func matches(_ key: LiteKey) -> Bool { !value.isEmpty && Self.value(key, salt) == value }

    private static func value(_ key: LiteKey, _ salt: [UInt8]) -> [UInt8] {
        Array(((try? key.cipher.encrypt(salt)) ?? []).suffix(valueLength))
    }
}
