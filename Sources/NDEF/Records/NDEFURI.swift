// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The payload of a URI record (`U`): the code of a prefix and the rest of the URI in UTF-8. Source: NFC Forum URI RTD 1.0.
public struct NDEFURI: Hashable, Sendable {
    /// The whole URI, its prefix written out.
    public var text: String
    /// The code of the prefix that was read; `nil` for a URI that was not.
    public private(set) var prefixCode: UInt8?

    /// A URI.
    public init(_ text: String) {
        self.text = text
    }

    /// Reads the payload.
    ///
    /// - Parameter allowsUndefinedPrefix: take a reserved prefix code for none, as the RTD asks readers to do.
    /// - Throws: ``NDEFError``.
    public init(payload: [UInt8], allowingUndefinedPrefix allowsUndefinedPrefix: Bool = false) throws(NDEFError) {
        guard let code = payload.first else { throw NDEFError(.noURIPrefix) }
        let prefix = NDEFURIPrefix.text(of: code)
        guard prefix != nil || allowsUndefinedPrefix else { throw NDEFError(.undefinedURIPrefix) }
        text = (prefix ?? "") + (try NDEFURI.checked(payload.dropFirst(), offset: 1))
        prefixCode = code
    }

    /// Whether the code of the prefix is a defined one.
    public var hasDefinedPrefix: Bool { prefixCode.map { NDEFURIPrefix.text(of: $0) != nil } ?? true }

    /// The payload, shortened by the longest prefix that fits.
    ///
    /// - Throws: ``NDEFError`` when the text holds blanks or control characters.
    public func payload() throws(NDEFError) -> [UInt8] {
        let bytes = Array(text.utf8)
        _ = try NDEFURI.checked(bytes[...], offset: 0)
        let (code, prefix) = NDEFURIPrefix.longest(of: text)
        return [code] + bytes.dropFirst(prefix.utf8.count)
    }

    /// The bytes as text.
    ///
    /// - Throws: ``NDEFError/Reason/notAURI`` when they are no UTF-8, or hold what no URI and no IRI may hold.
    static func checked(_ bytes: ArraySlice<UInt8>, offset: Int) throws(NDEFError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.value <= 0x20 || (0x7F...0x9F).contains($0.value) })
        else { throw NDEFError(.notAURI, offset: offset) }
        return text
    }
}
