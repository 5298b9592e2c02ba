// SPDX-License-Identifier: Apache-2.0

/// What a record says, by its type.
@nonexhaustive
public enum NDEFContent: Hashable, Sendable {
    /// Nothing.
    case empty
    /// A text with its language.
    case text(NDEFText)
    /// A URI.
    case uri(NDEFURI)
    /// A URI with titles and more.
    case smartPoster(NDEFSmartPoster)
    /// Data of a media type.
    case mime(type: String, data: [UInt8])
    /// A URI that stands in the type field, and what it describes.
    case absoluteURI(String, data: [UInt8])
    /// Data of somebody's own type, as in `android.com:pkg`.
    case external(type: String, data: [UInt8])
    /// Data of another well-known type.
    case wellKnown(type: String, data: [UInt8])
    /// Data of which nothing is said.
    case unknown(data: [UInt8])

    /// The word for scripts: `text`, `uri`, `smartPoster`, `mime`, `absoluteURI`, `external`, `wellKnown`, `unknown`,
    /// `empty`.
    public var word: String {
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
    /// What the record says.
    ///
    /// - Parameter allowingUndefinedPrefix: take a reserved prefix code of a URI for none.
    /// - Throws: ``NDEFError`` when the payload is not what the type says.
    public func content(allowingUndefinedPrefix: Bool = false) throws(NDEFError) -> NDEFContent {
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

    /// A record of what it is to say.
    ///
    /// - Throws: ``NDEFError`` when it cannot be written.
    public init(_ content: NDEFContent, id: [UInt8]? = nil) throws(NDEFError) {
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
