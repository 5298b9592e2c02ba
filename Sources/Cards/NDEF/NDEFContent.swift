// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The decoded contents of a record, by its type.
@nonexhaustive
package enum NDEFContent: Hashable, Sendable {
    /// No contents.
    case empty
    /// A text with its language.
    case text(NDEFText)
    case uri(NDEFURI)
    /// A URI with titles and further fields.
    case smartPoster(NDEFSmartPoster)
    /// Data of a media type.
    case mime(type: String, data: [UInt8])
    /// The URI in the type field, and the data it describes.
    case absoluteURI(String, data: [UInt8])
    /// Data of an external type, as in `android.com:pkg`.
    case external(type: String, data: [UInt8])
    /// Data of another well-known type.
    case wellKnown(type: String, data: [UInt8])
    /// Data without a description.
    case unknown(data: [UInt8])

    /// The identifier for machine use.
    ///
    /// One of `text`, `uri`, `smartPoster`, `mime`, `absoluteURI`, `external`, `wellKnown`, `unknown`, `empty`.
    package var word: String {
        switch self {
        case .empty: "empty"
        case .text: "text"
        case .uri: "uri"
        case .smartPoster: "smartPoster"
        case .mime: "mime"
        case .absoluteURI: "absoluteURI"
        case .external: "external"
        case .wellKnown: "wellKnown"
        case .unknown: "unknown"
        }
    }
}

extension NDEFRecord {
    /// Decodes the contents of the record.
    ///
    /// - Parameter allowingUndefinedPrefix: treat a reserved URI prefix code as no prefix.
    /// - Throws: ``NDEFError`` when the payload does not match the type.
    package func content(allowingUndefinedPrefix: Bool = false) throws(NDEFError) -> NDEFContent {
        switch format {
        case .empty: return .empty
        case .wellKnown:
            switch typeText {
            case "T": return .text(try NDEFText(payload: payload))
            case "U":
                return .uri(try NDEFURI(payload: payload, allowingUndefinedPrefix: allowingUndefinedPrefix))
            case "Sp":
                return .smartPoster(
                    try NDEFSmartPoster(payload: payload, allowingUndefinedPrefix: allowingUndefinedPrefix))
            default: return .wellKnown(type: typeText, data: payload)
            }
        case .mime: return .mime(type: typeText, data: payload)
        case .absoluteURI: return .absoluteURI(try NDEFURI.checked(type[...], offset: 0), data: payload)
        case .external: return .external(type: typeText, data: payload)
        case .unknown, .unchanged: return .unknown(data: payload)
        }
    }

    /// Creates a record with these contents.
    ///
    /// - Throws: ``NDEFError`` when they cannot be encoded.
    package init(_ content: NDEFContent, id: [UInt8]? = nil) throws(NDEFError) {
        switch content {
        case .empty: self = .empty
        case .text(let text):
            self.init(format: .wellKnown, type: "T", id: id, payload: try text.payload())
        case .uri(let uri):
            self.init(format: .wellKnown, type: "U", id: id, payload: try uri.payload())
        case .smartPoster(let poster):
            self.init(format: .wellKnown, type: "Sp", id: id, payload: try poster.payload())
        case .mime(let type, let data): self.init(format: .mime, type: type, id: id, payload: data)
        case .absoluteURI(let uri, let data): self.init(format: .absoluteURI, type: uri, id: id, payload: data)
        case .external(let type, let data): self.init(format: .external, type: type, id: id, payload: data)
        case .wellKnown(let type, let data): self.init(format: .wellKnown, type: type, id: id, payload: data)
        case .unknown(let data): self.init(format: .unknown, id: id, payload: data)
        }
    }
}

/// Makes texts from a tag safe for a terminal.
package enum DisplayText {
    /// Returns the text without anything that could affect a terminal or hide itself.
    ///
    /// Line ends become ⏎, tabs become blanks, other control, format and private characters become U+FFFD.
    package static func harmless(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control: scalars.append(scalar == "\n" ? "⏎" : scalar == "\t" ? " " : "\u{FFFD}")
            case .format where scalar == "\u{200D}": scalars.append(scalar)
            case .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: scalars.append("\u{FFFD}")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }
}

extension NDEFRecord {
    /// A one-line summary of the record that depends on no language and is safe for a terminal.
    ///
    /// A text or URI is returned as is, a smart poster as its URI with its titles in brackets, other records as the
    /// type and the data as text or hexadecimal digits.
    package var summary: String { DisplayText.harmless(said) }

    private var said: String {
        guard let content = try? content(allowingUndefinedPrefix: true) else {
            return NDEFRecord.summary(typeText, payload)
        }
        switch content {
        case .empty: return "-"
        case .text(let text): return text.text
        case .uri(let uri): return uri.text
        case .smartPoster(let poster):
            let titles = poster.titles.map(\.text).joined(separator: ", ")
            return titles.isEmpty ? poster.uri.text : "\(poster.uri.text) (\(titles))"
        case .absoluteURI(let uri, let data): return data.isEmpty ? uri : NDEFRecord.summary(uri, data)
        case .mime(let type, let data), .external(let type, let data), .wellKnown(let type, let data):
            return NDEFRecord.summary(type, data)
        case .unknown(let data): return Hex.encode(data, uppercase: true)
        }
    }

    private static func summary(_ type: String, _ data: [UInt8]) -> String {
        let text = String(validating: data, as: UTF8.self)
        let isReadable = text?.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ?? false
        return "\(type): \(isReadable ? text ?? "" : Hex.encode(data, uppercase: true))"
    }
}

extension NDEFMessage {
    /// The records in the form used in documents, in order.
    package var json: JSONValue { .array(records.map(\.json)) }
}

extension NDEFRecord {
    /// The record in the form used in documents: its kind, its contents, and its raw fields.
    ///
    /// A payload that does not match its type has `error` with the reason in place of the contents.
    package var json: JSONValue {
        var object = JSONObject()
        do {
            let content = try content(allowingUndefinedPrefix: true)
            object["kind"] = .string(content.word)
            object.merge(content.members)
        } catch {
            object["kind"] = .string(format == .wellKnown ? "wellKnown" : "unknown")
            object["error"] = .string(error.reason.rawValue)
            if error.reason == .notAURI, let uri = NDEFURI.padded(payload) { object["uri"] = .string(uri.text) }
        }
        object["tnf"] = .int(format.rawValue)
        object["type"] = .string(typeText)
        object["id"] = .text(id.map { Hex.encode($0) })
        object["payload"] = .string(Hex.encode(payload))
        return .object(object)
    }
}

extension NDEFContent {
    /// The contents as named members.
    fileprivate var members: JSONObject {
        switch self {
        case .empty, .unknown, .wellKnown, .external: JSONObject()
        case .text(let text): text.members
        case .uri(let uri): uri.members
        case .smartPoster(let poster): poster.members
        case .mime(_, let data), .absoluteURI(_, let data):
            // Data that is valid text is shown as text, beside the bytes.
            JSONObject(String(validating: data, as: UTF8.self).map { [("text", .string($0))] } ?? [])
        }
    }
}

extension NDEFText {
    fileprivate var members: JSONObject {
        JSONObject([
            ("text", .string(text)), ("language", .string(language)), ("encoding", .string(encoding.rawValue)),
        ])
    }
}

extension NDEFURI {
    fileprivate var members: JSONObject {
        JSONObject([("uri", .string(text))] + (hasDefinedPrefix ? [] : [("warning", "undefinedURIPrefix")]))
    }
}

extension NDEFSmartPoster {
    fileprivate var members: JSONObject {
        var object = uri.members
        object["titles"] = .array(titles.map { .object($0.members) })
        object["action"] = .text(action.map { "\($0)" })
        object["size"] = .optional(size)
        object["mediaType"] = .text(mediaType)
        object["icons"] = .array(icons.map { .string($0.typeText) })
        return object
    }
}
