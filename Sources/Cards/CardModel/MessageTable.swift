// SPDX-License-Identifier: Apache-2.0

/// The sentences of codes, in every language: a table with the columns `code`, `english` and `japanese`.
///
/// `{0}`, `{1}` and so on stand for the values of a code, `{*}` for a list of all of them.
package struct MessageTable<Code: RawRepresentable & Hashable & Sendable>: Sendable where Code.RawValue == String {
    private let messages: LookupTable<Code, LocalizedText>

    /// Reads a table in the same way as ``FactTable``.
    package init(_ bytes: [UInt8]) {
        messages = LookupTable(bytes, columns: ["code", "english", "japanese"], key: ["code"]) {
            row throws(FactTableError) in
            (try row.requiredWord("code", Code.self), try row.requiredName())
        }
    }

    /// The faults of the malformed lines; a release has none.
    package var faults: [FactTableError] { messages.faults }

    /// Whether the table has a row for the code; every code must have one, which a test of each table ensures.
    package func contains(_ code: Code) -> Bool { messages[code] != nil }

    /// Returns the sentence of a code with its values, which are inserted unchanged.
    package func message(_ code: Code, _ values: [String] = []) -> LocalizedText {
        let message = messages[code] ?? LocalizedText(code.rawValue, code.rawValue)
        let choice =
            values.count < 2
            ? values.joined() : values.dropLast().joined(separator: ", ") + " or " + (values.last ?? "")
        return message.filled(
            values.map { LocalizedText($0, $0) }, all: LocalizedText(choice, values.joined(separator: "、")))
    }
}

extension LocalizedText {
    /// Returns the text with values in place of `{0}`, `{1}` and so on, and `all` in place of `{*}`.
    package func filled(_ values: [LocalizedText], all: LocalizedText = LocalizedText("", "")) -> LocalizedText {
        func filled(_ text: String, _ language: Language) -> String {
            var (result, rest) = ("", text[...])
            while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
                let name = rest[rest.index(after: open)..<close]
                let value = Int(name).map { values.indices.contains($0) ? values[$0] : LocalizedText("", "") }
                result += rest[..<open]
                result += value?[language] ?? (name == "*" ? all[language] : String(rest[open...close]))
                rest = rest[rest.index(after: close)...]
            }
            return result + rest
        }
        return LocalizedText(filled(english, .english), filled(japanese, .japanese))
    }
}
