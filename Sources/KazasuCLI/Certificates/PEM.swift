// SPDX-License-Identifier: Apache-2.0

/// Certificates as text (RFC 7468).
enum PEM {
    /// A certificate in DER as lines of 64 letters between its two marks.
    static func certificate(_ der: [UInt8]) -> String {
        let letters = Array(base64(der))
        var text = "-----BEGIN CERTIFICATE-----\n"
        for start in stride(from: 0, to: letters.count, by: 64) {
            text += String(letters[start..<min(start + 64, letters.count)]) + "\n"
        }
        return text + "-----END CERTIFICATE-----\n"
    }

    /// Base 64 with padding (RFC 4648); Foundation's is too large a price for it.
    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 0x3F] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
