// SPDX-License-Identifier: Apache-2.0

internal import CSchemas
package import CardModel

/// The schemas of the documents, as files of `Docs/schemas` hold them.
package enum ServiceSchemas {
    /// The schemas as components of one document: their references point into it.
    ///
    /// - Parameter place: where the components are, as in `#/components/schemas/`.
    package static func components(at place: String) -> JSONObject {
        JSONObject(documents.map { ($0.name, moved(.object($0.schema.without(["$schema", "$id"])), $0.name, place)) })
    }

    /// The schemas as they are, by the names of their files.
    static var documents: [(name: String, schema: JSONObject)] {
        var documents: [(name: String, schema: JSONObject)] = []
        let schemas = unsafe UnsafeBufferPointer(start: kazasu_schemas_start(), count: Int(kazasu_schema_count))
        for index in schemas.indices {
            let schema = unsafe schemas[index]
            guard let name = unsafe schema.name.map({ unsafe String(cString: $0) }),
                let text = unsafe schema.text
            else { continue }
            let bytes = unsafe Array(UnsafeBufferPointer(start: text, count: Int(schema.length)))
            guard case .object(let document)? = try? JSONValue(parsing: bytes) else { continue }
            documents.append((name, document))
        }
        return documents
    }

    /// The schema with this id, as in `kazasu.balance/1`.
    package static func reference(_ id: String, at place: String) -> JSONValue {
        ["$ref": .string(place + file(of: id))]
    }

    /// The name of the file with the schema of this id, as in `balance`.
    static func file(of id: String) -> String {
        id.split(separator: "/").first.map { String($0.drop { $0 != "." }.dropFirst()) } ?? ""
    }

    private static func moved(_ value: JSONValue, _ name: String, _ place: String) -> JSONValue {
        switch value {
        case .array(let values): return .array(values.map { moved($0, name, place) })
        case .object(let object):
            return .object(
                JSONObject(
                    object.members.map { member in
                        guard member.key == "$ref", case .string(let target) = member.value else {
                            return (member.key, moved(member.value, name, place))
                        }
                        return (member.key, .string(moved(reference: target, name, place)))
                    }))
        default: return value
        }
    }

    /// As in `#/components/schemas/common/$defs/code` for `common.json#/$defs/code`.
    private static func moved(reference: String, _ name: String, _ place: String) -> String {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let file = parts.first.map(String.init) ?? ""
        let owner = file.isEmpty ? name : file.replacing(".json", with: "")
        return place + owner + (parts.count > 1 ? String(parts[1]) : "")
    }
}
