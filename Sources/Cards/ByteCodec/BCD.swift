// SPDX-License-Identifier: Apache-2.0

/// Binary-coded decimal: two digits per byte, the first in the high nibble.
package enum BCD {
    /// Returns the digits of `bytes` as text, or `nil` when a nibble is above 9.
    package static func digits(_ bytes: some Sequence<UInt8>) -> String? {
        var text = ""
        for byte in bytes {
            for nibble in [byte >> 4, byte & 0x0F] {
                guard nibble <= 9 else { return nil }
                text.unicodeScalars.append(Unicode.Scalar(0x30 + nibble))
            }
        }
        return text
    }

    /// Returns the value of one byte, 0 to 99, or `nil` when a nibble is above 9.
    package static func value(_ byte: UInt8) -> Int? {
        let (tens, ones) = (byte >> 4, byte & 0x0F)
        return tens <= 9 && ones <= 9 ? Int(tens) * 10 + Int(ones) : nil
    }
}
