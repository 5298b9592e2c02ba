// SPDX-License-Identifier: Apache-2.0

import CommandDescription
package import Kazasu

/// The ending of an output file, which decides its format unless an option does.
package struct OutputEnding {
    /// In lower case; `nil` for no file, or one without an ending.
    package let ending: String?

    package init(_ path: String?) {
        let name = path?.split(separator: "/").last ?? ""
        let dot = name.lastIndex(of: ".") ?? name.startIndex
        let ending = name[dot...].dropFirst().lowercased()
        self.ending = dot == name.startIndex || ending.isEmpty ? nil : ending
    }

    /// The format that an ending says; the first of several.
    package func format<Format>(_ known: [String: [Format]]) -> Format? { ending.flatMap { known[$0]?.first } }

    /// Endings of formats that some command writes, or that people expect: text under such a name would be misleading.
    private static let misleading: Set<String> = [
        "csv", "json", "ndjson", "jsonl", "hex", "nfc", "html", "htm", "ofx", "qif", "xls", "xlsx", "ods", "pdf",
    ]

    /// Checks that the ending is one of a format that the command writes, and of the one that an option says.
    ///
    /// - Parameters:
    ///   - option: the option with its value, as in `--format table`.
    ///   - format: the format that it says; `nil` when it was not given.
    package func check<Format: Equatable>(
        _ option: String, _ format: Format?, _ known: [String: [Format]]
    ) throws {
        guard let ending else { return }
        if let formats = known[ending] {
            guard let format, !formats.contains(format) else { return }
            throw ValidationError(
                tr(
                    "\(option) does not fit the ending .\(ending) of the output file",
                    "\(option) は出力ファイルの拡張子 .\(ending) と合いません"))
        }
        guard OutputEnding.misleading.contains(ending) else { return }
        let endings = known.keys.sorted().map { "." + $0 }
        throw ValidationError(
            tr(
                "this is written as \(Words.choice(endings)), not .\(ending)",
                "出力できる形式は \(endings.joined(separator: "、")) です（.\(ending) では書けません）"))
    }

    /// Checks the ending of a file whose format is always the same.
    package func check(isOneOf known: [String]) throws {
        try check("", Bool?.none, Dictionary(known.map { ($0, [true]) }) { first, _ in first })
    }
}

extension HistoryFormat {
    /// The formats by the ending of a file.
    package static let endings: [String: [HistoryFormat]] = [
        "csv": [.csv], "json": [.json], "ndjson": [.ndjson], "jsonl": [.ndjson], "txt": [.table],
    ]
}

extension DumpFileFormat {
    /// The formats by the ending of a file; the first is the usual one.
    package static let endings: [String: [DumpFileFormat]] = [
        "json": [.json, .proxmark, .metrodroid], "hex": [.hex], "nfc": [.flipper], "mfd": [.mfd], "mct": [.mct],
        "eml": [.eml],
    ]

    /// The same with the endings that only files of a MIFARE Classic have in common.
    package static let classicEndings = endings.merging(["bin": [.mfd], "dump": [.mfd], "mfc": [.mfd]]) { $1 }
}
