// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// This value on one line, without blanks, as for one line of ndjson.
    public var compactText: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }

    /// This value over several lines, two blanks a level; arrays and objects without arrays or objects in them
    /// stay on one line while they are short.
    public var prettyText: String {
        var writer = JSONWriter()
        writePretty(to: &writer, indent: 0)
        return writer.text
    }

    private static let lineLength = 110

    private func writePretty(to writer: inout JSONWriter, indent: Int) {
        let entries: [(key: String?, value: JSONValue)]
        let brackets: (UInt8, UInt8)
        switch self {
        case .array(let values):
            entries = values.map { (nil, $0) }
            brackets = (UInt8(ascii: "["), UInt8(ascii: "]"))
        case .object(let object):
            entries = object.members.map { ($0.key, $0.value) }
            brackets = (UInt8(ascii: "{"), UInt8(ascii: "}"))
        default: return writer.value(self)
        }
        if !entries.contains(where: { $0.value.isContainer }) {
            var line = JSONWriter()
            line.raw(brackets.0)
            for (index, entry) in entries.enumerated() {
                if index > 0 { line.raw(", ") }
                entry.value.writeWithKey(entry.key, to: &line) { $1.value($0) }
            }
            line.raw(brackets.1)
            if line.count + indent <= JSONValue.lineLength { return writer.raw(line) }
        }
        writer.raw(brackets.0)
        for (index, entry) in entries.enumerated() {
            writer.raw(index > 0 ? ",\n" : "\n")
            writer.blanks(indent + 2)
            entry.value.writeWithKey(entry.key, to: &writer) { $0.writePretty(to: &$1, indent: indent + 2) }
        }
        writer.raw("\n")
        writer.blanks(indent)
        writer.raw(brackets.1)
    }

    private func writeWithKey(
        _ key: String?, to writer: inout JSONWriter, _ write: (JSONValue, inout JSONWriter) -> Void
    ) {
        if let key {
            writer.string(key)
            writer.raw(": ")
        }
        write(self, &writer)
    }

    private var isContainer: Bool {
        switch self {
        case .array(let values): !values.isEmpty
        case .object(let object): !object.members.isEmpty
        default: false
        }
    }
}
