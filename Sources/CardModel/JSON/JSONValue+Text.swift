// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// This value on one line, without blanks, as for one line of ndjson.
    public var compactText: String {
        var text = ""
        write(to: &text, layout: .compact, indent: 0)
        return text
    }

    /// This value over several lines, two blanks a level; arrays and objects without arrays or objects in them
    /// stay on one line while they are short.
    public var prettyText: String {
        var text = ""
        write(to: &text, layout: .pretty, indent: 0)
        return text
    }

    private enum Layout { case compact, pretty }

    private static let lineLength = 110

    private func write(to text: inout String, layout: Layout, indent: Int) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.isFinite ? "\(value)" : "null"
        case .string(let value): JSONValue.writeQuoted(value, to: &text)
        case .array(let values):
            writeList(values.map { (nil, $0) }, ("[", "]"), to: &text, layout: layout, indent: indent)
        case .object(let object):
            writeList(object.members.map { ($0.key, $0.value) }, ("{", "}"), to: &text, layout: layout, indent: indent)
        }
    }

    private func writeList(
        _ entries: [(key: String?, value: JSONValue)], _ brackets: (String, String), to text: inout String,
        layout: Layout, indent: Int
    ) {
        let flat = !entries.contains { $0.value.isContainer }
        if layout == .compact || flat {
            var line = brackets.0
            let separator = layout == .compact ? "," : ", "
            for (index, entry) in entries.enumerated() {
                if index > 0 { line += separator }
                JSONValue.writeKey(entry.key, to: &line, layout: layout)
                entry.value.write(to: &line, layout: layout, indent: indent)
            }
            line += brackets.1
            if layout == .compact || line.utf8.count + indent <= JSONValue.lineLength {
                text += line
                return
            }
        }
        text += brackets.0
        for (index, entry) in entries.enumerated() {
            text += index > 0 ? ",\n" : "\n"
            text += String(repeating: " ", count: indent + 2)
            JSONValue.writeKey(entry.key, to: &text, layout: layout)
            entry.value.write(to: &text, layout: layout, indent: indent + 2)
        }
        text += "\n" + String(repeating: " ", count: indent) + brackets.1
    }

    private var isContainer: Bool {
        switch self {
        case .array(let values): !values.isEmpty
        case .object(let object): !object.members.isEmpty
        default: false
        }
    }

    private static func writeKey(_ key: String?, to text: inout String, layout: Layout) {
        guard let key else { return }
        writeQuoted(key, to: &text)
        text += layout == .compact ? ":" : ": "
    }

    private static func writeQuoted(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{00}"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
