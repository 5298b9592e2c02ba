// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The payload of a text record (`T`).
///
/// A status byte (80: UTF-16, low six bits: length of the language code), the language code, the text. Source: NFC
/// Forum Text RTD 1.0.
package struct NDEFText: Hashable, Sendable {
    package var text: String
    /// The RFC 3066 language code, 1 to 63 ASCII letters, as in `en` or `ja-JP`.
    package var language: String
    /// The encoding of the text.
    package var encoding: Encoding

    /// The encoding of a text.
    package enum Encoding: String, Hashable, Sendable, CaseIterable {
        /// UTF-8.
        case utf8 = "UTF-8"
        /// UTF-16.
        ///
        /// It is decoded in the order of its byte order mark, big-endian without one; encoded big-endian with one.
        case utf16 = "UTF-16"
    }

    package init(_ text: String, language: String = "en", encoding: Encoding = .utf8) {
        self.text = text
        self.language = language
        self.encoding = encoding
    }

    /// Decodes the payload.
    ///
    /// - Throws: ``NDEFError``.
    package init(payload: [UInt8]) throws(NDEFError) {
        guard let status = payload.first else { throw NDEFError(.textWithoutStatus) }
        let length = Int(status & 0x3F)
        guard length > 0 else { throw NDEFError(.noLanguage) }
        guard length < payload.count else { throw NDEFError(.languageTooLong) }
        let code = payload[1...length]
        guard code.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw NDEFError(.notText, offset: 1) }
        language = String(decoding: code, as: UTF8.self)
        encoding = status & 0x80 == 0 ? .utf8 : .utf16
        guard let text = NDEFText.decode(payload[(length + 1)...], encoding) else {
            throw NDEFError(.notText, offset: length + 1)
        }
        self.text = text
    }

    /// Encodes the payload.
    ///
    /// - Throws: ``NDEFError`` when the language code cannot be encoded.
    package func payload() throws(NDEFError) -> [UInt8] {
        let code = Array(language.utf8)
        guard !code.isEmpty else { throw NDEFError(.noLanguage) }
        guard code.count <= 0x3F else { throw NDEFError(.languageTooLong) }
        guard code.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw NDEFError(.notText) }
        var bytes = ByteWriter([UInt8(truncatingIfNeeded: code.count) | (encoding == .utf16 ? 0x80 : 0)])
        bytes.write(code)
        switch encoding {
        case .utf8: bytes.write(text.utf8)
        case .utf16:
            bytes.write(0xFEFF as UInt16, .big)
            for unit in text.utf16 { bytes.write(unit, .big) }
        }
        return bytes.bytes
    }

    private static func decode(_ bytes: ArraySlice<UInt8>, _ encoding: Encoding) -> String? {
        guard encoding == .utf16 else { return String(validating: bytes, as: UTF8.self) }
        guard bytes.count.isMultiple(of: 2) else { return nil }
        var order = ByteOrder.big
        var reader = ByteReader(bytes)
        if bytes.starts(with: [0xFF, 0xFE]) { order = .little }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { _ = try? reader.readUInt16(order) }
        var units: [UInt16] = []
        while let unit = try? reader.readUInt16(order) { units.append(unit) }
        return String(validating: units, as: UTF16.self)
    }
}
