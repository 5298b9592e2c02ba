// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The payload of a URI record (`U`): a prefix code and the rest of the URI in UTF-8.
///
/// Source: NFC Forum URI RTD 1.0.
package struct NDEFURI: Hashable, Sendable {
    /// The whole URI, with its prefix expanded.
    package var text: String
    /// The prefix code of a decoded URI; otherwise `nil`.
    package private(set) var prefixCode: UInt8?

    package init(_ text: String) {
        self.text = text
    }

    /// Decodes the payload.
    ///
    /// - Parameter allowsUndefinedPrefix: treat a reserved prefix code as no prefix, as the RTD asks readers to do.
    /// - Throws: ``NDEFError``.
    package init(payload: [UInt8], allowingUndefinedPrefix allowsUndefinedPrefix: Bool = false) throws(NDEFError) {
        guard let code = payload.first else { throw NDEFError(.noURIPrefix) }
        let prefix = NDEFURIPrefix.text(of: code)
        guard prefix != nil || allowsUndefinedPrefix else { throw NDEFError(.undefinedURIPrefix) }
        text = (prefix ?? "") + (try NDEFURI.checked(payload.dropFirst(), offset: 1))
        prefixCode = code
    }

    /// The URI of a payload that somebody filled up with zeros; `nil` for any other payload.
    ///
    /// The record is not valid, as its length counts the zeros, but tag files are made like that by hand.
    package static func padded(_ payload: [UInt8]) -> NDEFURI? {
        guard let end = payload.dropFirst().firstIndex(of: 0), payload[end...].allSatisfy({ $0 == 0 }) else {
            return nil
        }
        guard let uri = try? NDEFURI(payload: Array(payload[..<end])), !uri.text.isEmpty else { return nil }
        return uri
    }

    package var hasDefinedPrefix: Bool { prefixCode.map { NDEFURIPrefix.text(of: $0) != nil } ?? true }

    /// Encodes the payload, with the longest matching prefix.
    ///
    /// - Throws: ``NDEFError`` when the text contains blanks or control characters.
    package func payload() throws(NDEFError) -> [UInt8] {
        let bytes = Array(text.utf8)
        _ = try NDEFURI.checked(bytes[...], offset: 0)
        let (code, prefix) = NDEFURIPrefix.longest(of: text)
        return [code] + bytes.dropFirst(prefix.utf8.count)
    }

    /// Returns the bytes as text.
    ///
    /// - Throws: ``NDEFError/Reason/notAURI`` when they are not UTF-8, or contain characters that no URI and no IRI can
    ///   contain.
    static func checked(_ bytes: ArraySlice<UInt8>, offset: Int) throws(NDEFError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.value <= 0x20 || (0x7F...0x9F).contains($0.value) })
        else { throw NDEFError(.notAURI, offset: offset) }
        return text
    }
}

/// The prefixes of URI records; the facts are in `Data/uri-prefixes.tsv`.
struct NDEFURIPrefix: Hashable, Sendable {
    let code: UInt8
    let text: String

    init(_ row: FactRow) throws(FactTableError) {
        code = try row.hex("code")
        text = try row.text("prefix") ?? ""
    }

    static let table = FactTable(
        PackageResources.uri_prefixes_tsv, columns: ["code", "prefix"], key: ["code"], row: NDEFURIPrefix.init(_:))

    /// Returns the text for a prefix code; `nil` for a reserved one.
    static func text(of code: UInt8) -> String? {
        table.rows.first { $0.code == code }?.text
    }

    /// Returns the longest prefix of a URI; code 0 when it has none.
    static func longest(of uri: String) -> (code: UInt8, text: String) {
        let row = table.rows.filter { uri.utf8.starts(with: $0.text.utf8) }
            .max { ($0.text.utf8.count, $1.code) < ($1.text.utf8.count, $0.code) }
        return row.map { ($0.code, $0.text) } ?? (0, "")
    }
}
