// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

/// Texts that exports share. They should not change between versions: programs remember them.
enum ExportText {
    /// The description of a record: `六本木一丁目 → 後楽園`, `バス 新宿駅西口`, `物販`.
    static func title(_ record: LedgerRecord, _ language: Language) -> String {
        let kind = record.record.kind.name[language]
        let (entry, exit) = (record.record.entry?.label(language), record.record.exit?.label(language))
        switch (record.record.kind, entry, exit) {
        case (.rail, let entry?, let exit?): return "\(entry) → \(exit)"
        case (.rail, let place?, nil), (.rail, nil, let place?): return "\(kind) \(place)"
        case (.bus, let entry?, let exit?): return "\(kind) \(entry) → \(exit)"
        case (.bus, let stop?, nil), (.bus, nil, let stop?): return "\(kind) \(stop)"
        case (.charge, let place?, _): return "\(process(record, language) ?? kind) \(place)"
        case (.charge, nil, _), (.point, _, _), (.other, _, _): return process(record, language) ?? kind
        default: return kind
        }
    }

    /// The machine and the process, for a memo.
    static func memo(_ record: LedgerRecord, _ language: Language) -> String {
        [record.record.terminal?.name?[language], process(record, language)].compactMap(\.self).joined(separator: ", ")
    }

    private static func process(_ record: LedgerRecord, _ language: Language) -> String? {
        record.record.process?.name?[language]
    }

    /// A gap as a marked line.
    static func title(_ gap: LedgerGap, _ language: Language) -> String {
        switch (language, gap.missing, gap.atMost) {
        case (.english, 0?, _): "Balance differs (kazasu: gap)"
        case (.english, let count?, _): "\(count) records lost (kazasu: gap)"
        case (.english, nil, let most?): "\(gap.atLeast) to \(most) records lost (kazasu: gap)"
        case (.english, nil, nil): "Records lost (kazasu: gap)"
        case (.japanese, 0?, _): "残高の不一致（kazasu: gap）"
        case (.japanese, let count?, _): "履歴\(count)件の欠落（kazasu: gap）"
        case (.japanese, nil, let most?): "履歴\(gap.atLeast)～\(most)件の欠落（kazasu: gap）"
        case (.japanese, nil, nil): "履歴の欠落（kazasu: gap）"
        }
    }

    /// The id of a gap, which goes with the record after it.
    static func id(of gap: LedgerRecord) -> String { gap.uid + ".gap" }

    /// A date with other separators, as in `2011/03/12`.
    static func date(_ date: CalendarDate, _ separator: String) -> String {
        date.description.split(separator: "-").joined(separator: separator)
    }

    /// A text on one line: control characters and line ends become blanks. Scalars are compared, because a combining
    /// character changes the character it follows.
    static func line(_ text: String, blanking others: Set<Unicode.Scalar> = []) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.value {
                    case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: " "
                    default: others.contains(scalar) ? " " : scalar
                    }
                }))
    }
}
