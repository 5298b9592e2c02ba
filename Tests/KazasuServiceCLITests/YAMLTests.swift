// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KazasuServiceCLI

@Suite("YAML files")
struct YAMLTests {
    /// A value as text, with the line of each.
    private static func shown(_ value: YAML) -> String {
        switch value.content {
        case .text(let text): "\(value.line):\(text)"
        case .sequence(let elements): "\(value.line)[\(elements.map(shown).joined(separator: " "))]"
        case .mapping(let members):
            "\(value.line){\(members.map { "\(shown($0.key))=\(shown($0.value))" }.joined(separator: " "))}"
        }
    }

    static let files: [(String, String?)] = [
        ("", nil), ("# nothing\n", nil), ("---\n...\n", "2:"), ("a", "1:a"), ("\u{FEFF}a: 1\n", "1{1:a=1:1}"),
        ("a: 'x # y'\nb:\n- |\n  two\n  lines\n- \"\\u65E5\"\n", "1{1:a=1:x # y 2:b=3[3:two\nlines\n 6:日]}"),
        ("a: &x [1, 2]\nb: *x\n", "1{1:a=1[1:1 1:2] 2:b=1[1:1 1:2]}"), ("a: 1\r\nb: 2\r\n", "1{1:a=1:1 2:b=2:2}"),
    ]

    @Test("The one document of a file", arguments: files)
    func documents(text: String, value: String?) throws {
        #expect(try YAML.document(in: text).map(Self.shown) == value)
    }

    static let faults: [(String, Int)] = [
        ("a: b: c\n", 1), ("a: 1\n---\nb: 2\n", 3), ("a: [1\n", 2), ("x: 1\na: *none\n", 2), ("a: 1\n\tb: 2\n", 2),
        // A value that contains itself.
        ("x: 1\na: &a\n- *a\n", 2), (String(repeating: "[", count: 5000) + "\n", 2),
        (String(repeating: "[", count: 200) + String(repeating: "]", count: 200), 1),
    ]

    @Test("Anything but one document is refused with its line", arguments: faults)
    func malformed(text: String, line: Int) {
        do {
            _ = try YAML.document(in: text)
            Issue.record("it was read")
        } catch {
            guard case .malformed(let found) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(found == line)
        }
    }

    @Test("Aliases of aliases do not make a small file large")
    func bomb() throws {
        let lines = (1...40).map { "- &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }
        let root = try #require(try YAML.document(in: (["- &a0 [x, x]"] + lines).joined(separator: "\n")))
        guard case .sequence(let elements) = root.content else {
            Issue.record("no sequence")
            return
        }
        #expect(elements.count == 41)
    }
}
