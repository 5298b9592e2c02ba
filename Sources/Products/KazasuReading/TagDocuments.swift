// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import CardDecoders
package import NFCForumTags

extension ForumTag.Information: Encodable {
    /// The document `kazasu.tag/1`, as `kazasu tag info --json` prints it, with a final newline.
    ///
    /// - Parameter language: the language of names; keys and ids never change.
    public func document(in language: Language = .english) -> String {
        var document = JSONObject([("schema", "kazasu.tag/1"), ("card", dump.card.json)])
        document.merge(members(language))
        return JSONValue.object(document).prettyText + "\n"
    }

    /// Encodes the members of the document `kazasu.tag/1` after `card`.
    public func encode(to encoder: any Encoder) throws {
        try JSONValue.object(members(Language(of: encoder))).encode(to: encoder)
    }

    /// The members of `kazasu.tag/1` after `card`.
    ///
    /// - Parameter redact: returns the replacement for a personal value; `nil` shows everything.
    package func members(_ language: Language, redact: ((String) -> String)? = nil) -> JSONObject {
        var object = report.members(language, originality: originality?.json, redact: redact)
        object["ntag424"] = keyed?.json(redact ?? { $0 })
        return object
    }
}

extension Originality {
    /// `originality` of documents.
    package var json: JSONValue { ["state": .string(state.rawValue), "key": .text(key)] }
}

extension NTAG424Information {
    /// `ntag424` of documents.
    package func json(_ redact: (String) -> String) -> JSONValue {
        func right(_ value: UInt8) -> JSONValue { .string(String(value, radix: 16, uppercase: true)) }
        return [
            "key": .int(key), "uid": .string(redact(uid.hexadecimal)),
            "files": .array(
                files.map { file in
                    [
                        "number": .int(file.number), "size": .int(file.size), "mode": .string(file.modeName),
                        "sdm": .bool(file.isDynamic), "read": right(file.read), "write": right(file.write),
                        "readWrite": right(file.readWrite), "change": right(file.change),
                    ]
                }),
        ]
    }
}
