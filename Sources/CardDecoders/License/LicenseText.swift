// SPDX-License-Identifier: Apache-2.0

/// Texts of one byte a character on a licence.
enum LicenseText {
    /// Characters of JIS X 0201: printable ASCII and half-width katakana, without the blanks at the end; `nil` when
    /// another byte is among them.
    static func jisX0201(_ bytes: some Collection<UInt8>) -> String? {
        var text = String.UnicodeScalarView()
        let padding = bytes.reversed().prefix { $0 == 0x20 || $0 == 0x00 }.count
        for byte in bytes.dropLast(padding) {
            switch byte {
            case 0x20...0x7E: text.append(Unicode.Scalar(byte))
            case 0xA1...0xDF: text.append(Unicode.Scalar(0xFF61 + UInt32(byte) - 0xA1) ?? "?")
            default: return nil
            }
        }
        return String(text)
    }
}
