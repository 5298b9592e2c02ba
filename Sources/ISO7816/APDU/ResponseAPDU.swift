// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A response APDU (ISO/IEC 7816-4 §5.1): data and status word.
public struct ResponseAPDU: Hashable, Sendable {
    /// The data field; empty for none.
    public var data: [UInt8]
    /// SW1 SW2.
    public var status: StatusWord

    /// An answer.
    public init(data: [UInt8] = [], status: StatusWord) {
        self.data = data
        self.status = status
    }

    /// Reads the bytes of an answer, or `nil` when there are fewer than two.
    public init?(decoding bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard let sw1 = bytes.element(at: bytes.count - 2), let sw2 = bytes.last else { return nil }
        data = Array(bytes.dropLast(2))
        status = StatusWord(sw1, sw2)
    }

    /// The bytes as the card sends them.
    public var encoded: [UInt8] { data + [status.sw1, status.sw2] }
}
