// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A file that is to be read, looked through just far enough that every format can say whether it is its own.
public struct DumpSource: Sendable {
    /// The longest file that is read, in bytes.
    public static let longest = 64 << 20

    /// How many lines of a text are looked at to find out its format.
    public static let linesToRecognise = 400

    /// What kind of text the file is.
    public enum Content: Sendable {
        /// A JSON document.
        case json(JSONValue)
        /// A text that begins as XML does.
        case xml
        /// Any other text.
        case lines
    }

    /// The file as it is.
    public let bytes: [UInt8]
    /// What kind of text it is.
    public let content: Content

    /// Looks at a file.
    ///
    /// - Throws: ``CardModel/DocumentError/tooLong(bytes:limit:)``, and what the JSON parser says of a text that
    ///   begins as a JSON object.
    public init(_ bytes: [UInt8]) throws(DocumentError) {
        guard bytes.count <= DumpSource.longest else { throw .tooLong(bytes: bytes.count, limit: DumpSource.longest) }
        self.bytes = bytes
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        switch text.first(where: { !TextLine.isBlank($0) }) {
        // Metrodroid read names without quotes, and its older exports have them.
        case UInt8(ascii: "{"): content = .json(try JSONValue(parsingNumbersAsNames: text))
        // A log may begin with a bracket too.
        case UInt8(ascii: "["): content = (try? JSONValue(parsing: text)).map { .json($0) } ?? .lines
        case UInt8(ascii: "<"): content = TextLines(bytes).looksLikeXML ? .xml : .lines
        default: content = .lines
        }
    }

    /// The JSON document, or `nil` for another text.
    public var json: JSONCursor? {
        guard case .json(let value) = content else { return nil }
        return JSONCursor(value)
    }

    /// The lines of a text that is neither JSON nor XML; empty for those.
    var lines: TextLines {
        guard case .lines = content else { return TextLines([]) }
        return TextLines(bytes)
    }

    /// The first lines, as many as a format may look at.
    var head: some Sequence<TextLine> { lines.prefix(DumpSource.linesToRecognise) }

    /// What it is, for an error message.
    var kind: String {
        switch content {
        case .json: "a JSON document of another kind"
        case .xml: "an XML document of another kind"
        case .lines: bytes.allSatisfy(TextLine.isBlank) ? "an empty file" : "a text of another kind"
        }
    }
}
