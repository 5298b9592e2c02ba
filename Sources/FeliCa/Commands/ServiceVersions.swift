// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The answer to Request Service v2.
public struct ServiceVersions: Hashable, Sendable {
    /// Which kinds of keys the system has.
    public let encryption: EncryptionIdentifier
    /// The first list, in the order asked; `nil` for a node that is not there or has no such key.
    public let first: [KeyVersion?]
    /// The second list, where there is one.
    public let second: [KeyVersion?]?

    /// The versions of the AES keys; `nil` when the answer has none, or its identifier is unknown.
    public var aes: [KeyVersion?]? {
        encryption.listCount == nil ? nil : first
    }

    /// The versions of the DES keys; `nil` when the answer has none, or its identifier is unknown.
    public var des: [KeyVersion?]? {
        switch encryption {
        case .des56, .des112: second ?? first
        case .aesAndDES56, .aesAndDES112: second
        default: nil
        }
    }
}
