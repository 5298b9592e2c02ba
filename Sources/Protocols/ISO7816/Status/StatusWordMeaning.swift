// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The meaning of a status word, or of a range; the facts are rows of `Data/status-words.tsv`.
package struct StatusWordMeaning: Hashable, Sendable {
    /// The word as four upper-case digits, of which the last one or two may be `x` for any.
    package let pattern: String
    /// Its meaning.
    package let text: LocalizedText

    init(_ row: FactRow) throws(FactTableError) {
        let text = try row.requiredName()
        let pattern = try row.required("word")
        let digits = pattern.prefix { $0 != "x" }
        guard (2...4).contains(digits.count), pattern.dropFirst(digits.count).allSatisfy({ $0 == "x" }),
            pattern.count == 4, StatusWord(digits) != nil
        else { throw row.fault("word", .notANumber) }
        self.pattern = pattern
        self.text = text
    }

    static let table = FactTable(
        PackageResources.status_words_tsv, columns: ["word", "english", "japanese"], key: ["word"],
        row: StatusWordMeaning.init(_:))

    private static let byPattern = Dictionary(table.rows.map { ($0.pattern, $0) }) { first, _ in first }

    /// Every word and range with a known meaning, by number.
    package static var all: [StatusWordMeaning] { table.rows }

    /// The faults of the table; a release has none.
    package static var faults: [FactTableError] { table.faults }

    /// Returns the most specific row for a status word, or `nil`.
    package static func of(_ status: StatusWord) -> StatusWordMeaning? {
        let digits = status.description
        let patterns: [String] = [digits, "\(digits.dropLast())x", "\(digits.dropLast(2))xx"]
        return patterns.lazy.compactMap { byPattern[$0] }.first
    }
}

extension StatusWord {
    /// The meaning; `nil` for one that no source names. For `61xx`, `63Cx` and `6Cxx`, it includes the number.
    public var meaning: LocalizedText? {
        guard let text = StatusWordMeaning.of(self)?.text else { return nil }
        guard let number = bytesAvailable ?? counter ?? correctLength else { return text }
        return LocalizedText("\(text.english): \(number)", "\(text.japanese): \(number)")
    }

    /// The number and what it means.
    package var text: LocalizedText {
        guard let meaning else { return LocalizedText(description, description) }
        return LocalizedText("\(self) (\(meaning.english))", "\(self) (\(meaning.japanese))")
    }
}
