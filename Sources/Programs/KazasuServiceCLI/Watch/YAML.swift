// SPDX-License-Identifier: Apache-2.0

import CYAML

/// A value of a YAML file, and its place there. libyaml reads it; https://yaml.org/spec/1.1/
struct YAML {
    indirect enum Content {
        case text(String)
        case sequence([YAML])
        case mapping([(key: YAML, value: YAML)])
    }

    /// Why a file is not used.
    enum Fault: Error {
        /// It is not one YAML document; the line is the first that is wrong, if it is known.
        case malformed(line: Int?)
        /// A mapping has a key twice.
        case repeated(key: String, line: Int)
    }

    let content: Content
    /// Counted from 1.
    let line: Int

    /// The text without its quotes; `nil` for a sequence or a mapping.
    var text: String? { if case .text(let text) = content { text } else { nil } }

    /// Whether it means that there is no value.
    var isNull: Bool { text.map(["", "~", "null", "Null", "NULL"].contains) ?? false }

    /// Whether a flag is on.
    var flag: Bool? {
        switch text?.lowercased() {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }

    /// Reads the only document of a file; `nil` if there is none.
    static func document(in text: String) throws(Fault) -> YAML? {
        // It keeps its own address, and goes on reading from these bytes with each document.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
        defer { bytes.deallocate() }
        _ = bytes.initialize(from: text.utf8)
        guard yaml_parser_initialize(parser) == 1 else { throw .malformed(line: nil) }
        defer { yaml_parser_delete(parser) }
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        let root = try next(parser) { document throws(Fault) -> YAML? in
            guard let root = yaml_document_get_root_node(document) else { return nil }
            var known: [UnsafeMutablePointer<yaml_node_t>: YAML?] = [:]
            return try value(root, in: document, &known)
        }
        guard root != nil else { return nil }
        let more = try next(parser) { document in yaml_document_get_root_node(document)?.pointee.start_mark.line }
        if let more { throw .malformed(line: Int(more) + 1) }
        return root
    }

    private static func next<Result>(
        _ parser: UnsafeMutablePointer<yaml_parser_t>,
        _ body: (UnsafeMutablePointer<yaml_document_t>) throws(Fault) -> Result
    ) throws(Fault) -> Result {
        let document = UnsafeMutablePointer<yaml_document_t>.allocate(capacity: 1)
        defer { document.deallocate() }
        guard yaml_parser_load(parser, document) == 1 else {
            throw .malformed(line: Int(parser.pointee.problem_mark.line) + 1)
        }
        defer { yaml_document_delete(document) }
        return try body(document)
    }

    /// A node with all below it. One that several aliases name is read once, so that a small file stays small.
    ///
    /// - Parameters:
    ///   - known: the nodes that were read, and as `nil` those that are being read: they contain themselves.
    ///   - depth: how many nodes this one may be within.
    private static func value(
        _ node: UnsafeMutablePointer<yaml_node_t>, in document: UnsafeMutablePointer<yaml_document_t>,
        _ known: inout [UnsafeMutablePointer<yaml_node_t>: YAML?], depth: Int = 100
    ) throws(Fault) -> YAML {
        let line = Int(node.pointee.start_mark.line) + 1
        guard depth > 0 else { throw .malformed(line: line) }
        if let known = known[node] {
            guard let known else { throw .malformed(line: line) }
            return known
        }
        known[node] = .some(nil)
        func item(_ number: Int32) throws(Fault) -> YAML {
            guard let node = yaml_document_get_node(document, number) else { throw .malformed(line: line) }
            return try value(node, in: document, &known, depth: depth - 1)
        }
        let content: Content
        switch node.pointee.type {
        case YAML_SCALAR_NODE:
            let scalar = node.pointee.data.scalar
            content = .text(
                String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self))
        case YAML_SEQUENCE_NODE:
            let items = node.pointee.data.sequence.items
            var elements: [YAML] = []
            for number in UnsafeBufferPointer(start: items.start, count: items.top - items.start) {
                try elements.append(item(number))
            }
            content = .sequence(elements)
        case YAML_MAPPING_NODE:
            let pairs = node.pointee.data.mapping.pairs
            var members: [(key: YAML, value: YAML)] = []
            var keys: Set<String> = []
            for pair in UnsafeBufferPointer(start: pairs.start, count: pairs.top - pairs.start) {
                let key = try item(pair.key)
                if let name = key.text, !keys.insert(name).inserted { throw .repeated(key: name, line: key.line) }
                try members.append((key, item(pair.value)))
            }
            content = .mapping(members)
        default: throw .malformed(line: line)
        }
        let whole = YAML(content: content, line: line)
        known[node] = whole
        return whole
    }
}
