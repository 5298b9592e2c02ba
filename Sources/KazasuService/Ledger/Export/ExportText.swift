// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
internal import CardModel
internal import Glibc

/// The texts that exports have in common. They stay the same from version to version where they can: programs remember them.
enum ExportText {
    /// What a record is about: `六本木一丁目 → 後楽園`, `バス 新宿駅西口`, `物販`.
    static func title(_ record: LedgerRecord, _ language: Language) -> String {
        let kind = record.record.kind.name[language]
        let (entry, exit) = (record.record.entry?.label, record.record.exit?.label)
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

    /// What the machine and the process were, for a memo.
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

    /// Lines of CSV (RFC 4180).
    static func csv(_ rows: [[String]], quotesAll: Bool = false, separator: String = ",", newline: String = "\r\n")
        -> String
    {
        rows.map { row in
            row.map { quotesAll ? quoted($0) : field($0, separator) }.joined(separator: separator) + newline
        }.joined()
    }

    private static func field(_ text: String, _ separator: String) -> String {
        text.unicodeScalars.contains { $0 == "\"" || $0 == "\n" || $0 == "\r" } || text.contains(separator)
            ? quoted(text) : text
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    /// A text cell that no spreadsheet runs as a formula.
    static func cell(_ text: String) -> String {
        guard let first = text.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) else { return text }
        return "'" + text
    }

    /// A text in CP932; `〓` stands for what that has no character for.
    ///
    /// - Throws: ``LedgerError/noCharacterSet`` when the C library has no converter.
    static func cp932(_ text: String) throws(LedgerError) -> [UInt8] {
        let converter = unsafe iconv_open("CP932", "UTF-8")
        guard unsafe converter != iconv_t(bitPattern: -1) else { throw .noCharacterSet }
        defer { unsafe iconv_close(converter) }
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if scalar.isASCII {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                bytes += unsafe encode(Array(String(scalar).utf8), converter) ?? [0x81, 0xAC]
            }
        }
        return bytes
    }

    private static func encode(_ character: [UInt8], _ converter: iconv_t?) -> [UInt8]? {
        var input = character.map { CChar(bitPattern: $0) }
        var output: [CChar] = [0, 0, 0, 0]
        var (inputLeft, outputLeft) = (input.count, output.count)
        let result = unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                var (from, to) = (input.baseAddress, output.baseAddress)
                return unsafe iconv(converter, &from, &inputLeft, &to, &outputLeft)
            }
        }
        guard result >= 0, inputLeft == 0 else {
            unsafe iconv(converter, nil, nil, nil, nil)
            return nil
        }
        return output.prefix(output.count - outputLeft).map { UInt8(bitPattern: $0) }
    }
}
