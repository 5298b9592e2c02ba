// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import CardDecoders

/// What the schema of an identity document takes from its items. `KAZASU_RECORD=1` adds to `Docs/schemas/common.json` what is missing,
/// and makes the document's own schema where there is none.
struct IdentitySchema {
    let kind: String
    let items: [(id: String, form: IdentityForm?)]

    private static let common = "\(TestFiles.root)/Docs/schemas/common.json"
    private var own: String { "\(TestFiles.root)/Docs/schemas/\(kind).json" }

    func recordIfAsked() throws {
        guard let record = getenv("KAZASU_RECORD"), record.pointee != 0 else { return }
        let old = String(decoding: try TestFiles.read(Self.common), as: UTF8.self)
        let new = adding(to: old)
        if new != old { try Self.write(new, Self.common) }
        if access(own, F_OK) != 0 { try Self.write(document, own) }
    }

    private static func write(_ text: String, _ path: String) throws {
        let file = try #require(fopen(path, "wb"), "\(path) cannot be written")
        fputs(text, file)
        fclose(file)
    }

    /// The members in the text of `common.json`, with the items that it does not have; those of no simple form are left to the author.
    func adding(to text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let head = "    \"\(kind)Members\": {"
        if !lines.contains(head), let end = lines.lastIndex(of: "    }") {
            lines[end] = "    },"
            lines.insert(contentsOf: [head] + Self.empty, at: end + 1)
        }
        guard let start = lines.firstIndex(of: head),
            let first = lines[start...].firstIndex(of: "      \"properties\": {").map({ $0 + 1 }),
            var end = lines[first...].firstIndex(of: "      },")
        else { return text }
        // Each stands behind the item before it; a property can have several lines.
        var place = first
        for (id, form) in items {
            if let found = lines[first..<end].firstIndex(where: { $0.hasPrefix("        \"\(id)\": ") }) {
                place = lines[(found + 1)..<end].firstIndex { $0.hasPrefix("        \"") } ?? end
            } else if let form {
                if place == end { lines[place - 1] += "," }
                lines.insert("        \"\(id)\": \(Self.property(form))" + (place == end ? "" : ","), at: place)
                (place, end) = (place + 1, end + 1)
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func property(_ form: IdentityForm) -> String {
        switch form {
        case .text: #"{"type": ["string", "null"]}"#
        case .date: #"{"type": ["string", "null"], "description": "YYYY-MM-DD"}"#
        }
    }

    /// The members that every document has.
    private static let empty = [
        #"      "type": "object","#, #"      "properties": {"#,
        #"        "withheld": {"type": "array", "items": {"type": "string"}},"#,
        ##"        "faults": {"type": "array", "items": {"$ref": "#/$defs/fault"}}"##,
        "      },", #"      "required": ["withheld", "faults"]"#, "    }",
    ]

    private var document: String {
        """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "\(kind).json",
          "title": "\(kind.prefix(1).uppercased() + kind.dropFirst())",
          "description": "What was not read is null.",
          "type": "object",
          "allOf": [{"$ref": "common.json#/$defs/\(kind)Members"}],
          "properties": {
            "schema": {"const": "kazasu.\(kind)/1"},
            "card": {"$ref": "common.json#/$defs/decodedCard"},
            "redacted": {"const": true}
          },
          "required": ["schema", "card"],
          "unevaluatedProperties": false
        }

        """
    }
}
