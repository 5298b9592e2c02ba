// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Text that cards keep in plain bytes.
enum CardText {
    /// Printable ASCII up to the first 00 or the end, without the blanks at the end; `nil` when there is none or
    /// when another byte stands there.
    static func ascii(_ bytes: some Sequence<UInt8>) -> String? {
        let text = bytes.prefix { $0 != 0 }
        guard text.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        let trimmed = text.reversed().drop { $0 == 0x20 }.reversed()
        return trimmed.isEmpty ? nil : String(decoding: Array(trimmed), as: UTF8.self)
    }

    /// The text, or where it is none the bytes in hexadecimal digits.
    static func asciiOrHex(_ bytes: some Collection<UInt8>) -> String {
        ascii(bytes) ?? Hex.encode(bytes, uppercase: true)
    }
}
