// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// An application identifier of ISO 7816-5: the name of an application on a card, 1 to 16 bytes; whole ones have 5 or
/// more.
public struct AID: Hashable, Sendable {
    /// The bytes as on the wire.
    public let bytes: [UInt8]

    /// An identifier of 1 to 16 bytes, else `nil`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard (1...16).contains(bytes.count) else { return nil }
        self.bytes = Array(bytes)
    }

    /// An identifier from hexadecimal digits as a user types them, else `nil`.
    public init?(hexadecimal text: some StringProtocol) {
        guard let bytes = try? Hex.decode(String(text)) else { return nil }
        self.init(bytes)
    }
}

extension AID: CustomStringConvertible {
    /// Lower-case hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}
