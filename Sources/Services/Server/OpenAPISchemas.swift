// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The schemas of the documents as code generators understand them: each part is a schema of its own, named as its class is in
/// other languages, and objects are written out. A document that is valid against the schema in `Docs/schemas` is valid here,
/// too; what depends on other members is left to those.
struct OpenAPISchemas {
    /// Schemas, and parts of them, by their names here.
    private let named: [String: JSONValue]
    /// The names of schemas by those of their files.
    private let titles: [String: String]

    init() {
        var (named, titles): ([String: JSONValue], [String: String]) = ([:], [:])
        let documents = ServiceSchemas.documents.map { name, schema in
            (name, JSONObject(schema.members.map { ($0.key, Self.whole(references: $0.value, in: name)) }))
        }
        for (name, schema) in documents { titles[name] = Self.title(of: schema, or: name) }
        for (name, schema) in documents {
            if let title = titles[name] {
                named[title] = .object(schema.without(["$schema", "$id", "$defs", "title"]))
            }
            guard case .object(let parts)? = schema["$defs"] else { continue }
            for part in parts.members {
                guard case .object(let schema) = part.value else { continue }
                named[Self.title(of: schema, or: part.key)] = .object(schema.without(["title"]))
                titles[name + "#" + part.key] = Self.title(of: schema, or: part.key)
            }
        }
        (self.named, self.titles) = (named, titles)
    }

    /// The same with the file in each reference to a part of it.
    private static func whole(references value: JSONValue, in file: String) -> JSONValue {
        switch value {
        case .array(let values): return .array(values.map { whole(references: $0, in: file) })
        case .object(let object):
            return .object(
                JSONObject(
                    object.members.map { member in
                        guard member.key == "$ref", case .string(let target) = member.value, target.hasPrefix("#")
                        else { return (member.key, whole(references: member.value, in: file)) }
                        return (member.key, .string(file + ".json" + target))
                    }))
        default: return value
        }
    }

    private static func title(of schema: JSONObject, or name: String) -> String {
        if case .string(let title)? = schema["title"] { return title }
        return name.prefix(1).uppercased() + name.dropFirst()
    }

    /// The schema of documents of this file, as in `balance`.
    func reference(toFile name: String) -> JSONValue { ["$ref": .string(Self.place + (titles[name] ?? name))] }

    private static let place = "#/components/schemas/"

    /// The schemas that a document refers to, with those that they refer to.
    func components(of document: JSONValue) -> JSONObject {
        var (found, open) = (Set<String>(), Self.references(in: document))
        var components: [(String, JSONValue)] = []
        while let name = open.popFirst() {
            guard found.insert(name).inserted, let schema = named[name] else { continue }
            let plain = plain(schema)
            components.append((name, plain))
            open.formUnion(Self.references(in: plain))
        }
        return JSONObject(components.sorted { $0.0 < $1.0 })
    }

    private static func references(in value: JSONValue) -> Set<String> {
        switch value {
        case .array(let values): return values.reduce(into: []) { $0.formUnion(references(in: $1)) }
        case .object(let object):
            return object.members.reduce(into: []) { names, member in
                if member.key == "$ref", case .string(let target) = member.value, target.hasPrefix(place) {
                    names.insert(String(target.dropFirst(place.utf8.count)))
                } else {
                    names.formUnion(references(in: member.value))
                }
            }
        default: return []
        }
    }

    // MARK: Schemas

    private func plain(_ value: JSONValue) -> JSONValue {
        guard case .object(var schema) = value else { return value }
        if case .string(let target)? = schema["$ref"] {
            schema["$ref"] = .string(Self.place + name(of: target))
            return .object(schema)
        }
        if case .bool? = schema["const"] {
            schema = schema.without(["const"])
            schema["type"] = "boolean"
        }
        if case .object(let patterns)? = schema["patternProperties"], let any = patterns.members.first {
            schema = schema.without(["patternProperties"])
            schema["additionalProperties"] = any.value
        }
        schema = merged(schema)
        return .object(JSONObject(schema.members.map { ($0.key, plainMember($0.key, $0.value)) }))
    }

    private func plainMember(_ key: String, _ value: JSONValue) -> JSONValue {
        switch (key, value) {
        case ("properties", .object(let members)):
            return .object(JSONObject(members.members.map { ($0.key, plain($0.value)) }))
        case ("items", _), ("additionalProperties", _): return plain(value)
        case ("anyOf", .array(let options)), ("oneOf", .array(let options)): return .array(options.map(plain))
        default: return value
        }
    }

    /// An object with the members of all that it consists of. What only says which members come together is left out.
    private func merged(_ schema: JSONObject) -> JSONObject {
        var schema = schema
        if case .array(let parts)? = schema["allOf"] {
            schema = schema.without(["allOf"])
            for part in parts {
                guard case .object(let part) = part else { continue }
                guard case .string(let target)? = part["$ref"] else {
                    if part["if"] == nil { schema.add(merged(part)) }
                    continue
                }
                if case .object(let inherited)? = named[name(of: target)] { schema.add(merged(inherited)) }
            }
        }
        if schema["unevaluatedProperties"] != nil {
            schema = schema.without(["unevaluatedProperties"])
            schema["additionalProperties"] = false
        }
        if case .array(let options)? = schema["oneOf"], let whole = Self.whole(of: options) {
            schema = schema.without(["oneOf"])
            schema.merge(whole)
        }
        for key in ["anyOf", "oneOf"] where schema["properties"] != nil && schema[key] != nil {
            schema = schema.without([key])
        }
        return schema
    }

    /// One object for several that no member tells apart: it has the members of all, and needs what all need.
    private static func whole(of options: [JSONValue]) -> JSONObject? {
        var (properties, required): (JSONObject, [JSONValue]?) = (JSONObject(), nil)
        for option in options {
            guard case .object(let option) = option, case .object(let members)? = option["properties"],
                !members.members.contains(where: { isConstant($0.value) })
            else { return nil }
            properties.merge(members)
            let needed: [JSONValue] = if case .array(let needed)? = option["required"] { needed } else { [] }
            required = required.map { $0.filter { needed.contains($0) } } ?? needed
        }
        return JSONObject([
            ("type", "object"), ("properties", .object(properties)), ("required", .array(required ?? [])),
            ("additionalProperties", false),
        ])
    }

    private static func isConstant(_ schema: JSONValue) -> Bool {
        if case .object(let schema) = schema { schema["const"] != nil } else { false }
    }

    /// The name here of `common.json#/$defs/code`.
    private func name(of reference: String) -> String {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let file = parts.first.map { String($0.replacing(".json", with: "")) } ?? ""
        let part = parts.count > 1 ? parts[1].split(separator: "/").last.map { String($0) } : nil
        guard let part else { return titles[file] ?? file }
        return titles[file + "#" + part] ?? part
    }
}

extension JSONObject {
    /// Adds the members and the required ones of another schema of an object, which come first.
    fileprivate mutating func add(_ other: JSONObject) {
        if case .object(var members)? = other["properties"] {
            if case .object(let own)? = self["properties"] { members.merge(own) }
            self["properties"] = .object(members)
        }
        if case .array(let needed)? = other["required"] {
            let own: [JSONValue] = if case .array(let own)? = self["required"] { own } else { [] }
            self["required"] = .array(needed + own.filter { !needed.contains($0) })
        }
        if self["type"] == nil, let type = other["type"] { self["type"] = type }
        if self["description"] == nil, let words = other["description"] { self["description"] = words }
    }
}
