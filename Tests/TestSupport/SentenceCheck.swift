// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import Testing

/// Checks the rule for every message: one sentence in each language, without a full stop, a placeholder or Swift's syntax.
package func checkSentence(
    _ value: some SelfDescribing, sourceLocation: SourceLocation = #_sourceLocation
) {
    let message = value.message
    #expect(value.description == message.english, sourceLocation: sourceLocation)
    for language in Language.allCases {
        let text = message[language]
        #expect(!text.isEmpty && text.first != " " && text.last != " ", sourceLocation: sourceLocation)
        #expect(!text.hasSuffix(".") && !text.hasSuffix("。") && !text.contains(where: \.isNewline), "\(text)")
        let syntax = /\{[0-9*]+\}|\b[a-z]\w*\([a-z]\w*: |Optional\(|\bnil\b|\[\]|\b[A-Z]\w+\.[a-z]\w+/
        #expect(text.firstMatch(of: syntax) == nil, "\(text)", sourceLocation: sourceLocation)
    }
}

/// Checks the sentence of every case of an enumeration.
///
/// - Parameters:
///   - values: at least one value of each case.
///   - kind: the name of the case of a value; a `switch` without a default, so that a new case is noticed.
package func checkSentences<Value: SelfDescribing, Kind: CaseIterable & Hashable>(
    _ values: [Value], _ kind: (Value) -> Kind, sourceLocation: SourceLocation = #_sourceLocation
) {
    for value in values { checkSentence(value, sourceLocation: sourceLocation) }
    let missing = Set(Kind.allCases).subtracting(values.map(kind))
    #expect(missing.isEmpty, "no example: \(missing)", sourceLocation: sourceLocation)
}

/// Checks a table of messages: no malformed line, and a row for every code.
package func checkMessages<Code: CaseIterable & RawRepresentable & Hashable & Sendable>(
    _ table: MessageTable<Code>, sourceLocation: SourceLocation = #_sourceLocation
) where Code.RawValue == String {
    #expect(table.faults == [], sourceLocation: sourceLocation)
    let missing = Code.allCases.filter { !table.contains($0) }.map(\.rawValue)
    #expect(missing == [], "no row", sourceLocation: sourceLocation)
}
