// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

extension NDEFMessage {
    /// The records as documents show them, in order.
    public var json: JSONValue { .array(records.map(\.json)) }
}

extension NDEFRecord {
    /// The record as documents show it: what kind it is, what it says, and its raw fields.
    ///
    /// A payload that is not what its type says has `error` with the reason in place of what it says.
    public var json: JSONValue {
        var object = JSONObject()
        do {
            let content = try content(allowingUndefinedPrefix: true)
            object["kind"] = .string(content.word)
            object.merge(content.members)
        } catch {
            object["kind"] = .string(format == .wellKnown ? "wellKnown" : "unknown")
            object["error"] = .string(error.reason.rawValue)
        }
        object["tnf"] = .int(format.rawValue)
        object["type"] = .string(typeText)
        object["id"] = .text(id.map { Hex.encode($0) })
        object["payload"] = .string(Hex.encode(payload))
        return .object(object)
    }
}

extension NDEFContent {
    /// What it says, by name.
    fileprivate var members: JSONObject {
        switch self {
        case .empty, .unknown, .wellKnown, .external: JSONObject()
        case .text(let text): text.members
        case .uri(let uri): uri.members
        case .smartPoster(let poster): poster.members
        case .mime(_, let data), .absoluteURI(_, let data):
            // What is readable as text is shown as such, beside the bytes.
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
