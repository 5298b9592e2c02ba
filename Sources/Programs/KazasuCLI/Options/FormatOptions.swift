// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
package import Kazasu

/// The forms of `kazasu history`.
package enum HistoryFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case table, csv, json, ndjson
}

/// The forms of `kazasu decode`.
package enum DecodeFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text, json, ndjson, csv
}

package struct CSVOptions: ParsableArguments {
    package init() {}

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Begin CSV with a byte order mark, for Excel; a file of -o always does.",
            "CSV の先頭に BOM を付ける（Excel 用）。-o のファイルには常に付ける。"))
    package var bom = false

    @Option(
        reach: .never, name: .long,
        help: help("Language of CSV column names and values. Default: en.", "CSV の列名と値の言語。省略時は en。", value: "en|ja"))
    package var header: CommonOptions.LanguageName?

    /// The writer of the rows.
    package var csv: HistoryCSV { HistoryCSV(language: header == .ja ? .japanese : .english) }

    /// The text with the byte order mark that makes Excel read it as UTF-8, where one is wanted.
    package func text(_ csv: String, isFile: Bool = false) -> String { (bom || isFile ? "\u{FEFF}" : "") + csv }

    /// Checks that the answer is CSV when one of these is given.
    package func check(isCSV: Bool) throws {
        guard !isCSV, bom || header != nil else { return }
        throw ValidationError(
            tr(
                "\(bom ? "--bom" : "--header") needs --format csv",
                "\(bom ? "--bom" : "--header") は --format csv と一緒に指定してください"))
    }
}

extension CommonOptions {
    /// Checks that the format given by another option is JSON when `--json` is given, too.
    ///
    /// - Parameters:
    ///   - option: the option, as in `--format`.
    ///   - format: its value, or `nil` when it was not given.
    package func check(_ option: String, _ format: String?) throws {
        guard json, let format, format != "json", format != "ndjson" else { return }
        throw ValidationError(
            tr("--json cannot be used with \(option) \(format)", "--json と \(option) \(format) は同時に指定できません"))
    }
}
