// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

extension [UInt8] {
    /// Packed lower-case hexadecimal digits, as in documents.
    public var hexadecimal: String { Hex.encode(self) }

    /// Reads hexadecimal digits as people write them: packed, or with spaces, colons, hyphens or `0x` before bytes, in any case.
    ///
    /// - Returns: `nil` for anything else.
    public init?(hexadecimal text: some StringProtocol) {
        guard let bytes = try? Hex.decode(text) else { return nil }
        self = bytes
    }
}
