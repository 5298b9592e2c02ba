// SPDX-License-Identifier: Apache-2.0

/// Which kinds of keys a system has, in the answer to Request Service v2; unknown values are kept as they came.
/// Source: the unofficial user's manual, felica-tool.
public struct EncryptionIdentifier: RawRepresentable, Hashable, Sendable {
    /// The byte.
    public let rawValue: UInt8

    /// An identifier from its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// `4F`: AES only.
    public static let aes = EncryptionIdentifier(rawValue: 0x4F)
    /// `41`: AES and DES of 56 bits.
    public static let aesAndDES56 = EncryptionIdentifier(rawValue: 0x41)
    /// `43`: AES and DES of 112 bits.
    public static let aesAndDES112 = EncryptionIdentifier(rawValue: 0x43)
    /// `3F`: DES of 112 bits.
    public static let des112 = EncryptionIdentifier(rawValue: 0x3F)
    /// `2F`: DES of 56 bits.
    public static let des56 = EncryptionIdentifier(rawValue: 0x2F)

    /// How many lists of key versions the answer has, or `nil` where no source says so.
    var listCount: Int? {
        switch self {
        case .aes: 1
        case .aesAndDES56, .aesAndDES112: 2
        default: nil
        }
    }
}
