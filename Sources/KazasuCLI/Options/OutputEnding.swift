// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import Kazasu

/// The ending of an output file, which decides its format unless an option does.
package struct OutputEnding {
    /// In lower case; `nil` for no file, or one without an ending.
    private let ending: String?

    package init(_ path: String?) {
        let name = path?.split(separator: "/").last ?? ""
        let dot = name.lastIndex(of: ".") ?? name.startIndex
        let ending = name[dot...].dropFirst().lowercased()
        self.ending = dot == name.startIndex || ending.isEmpty ? nil : ending
    }

    /// The format that an ending says; the first of several.
    package func format<Format>(_ known: [String: [Format]]) -> Format? { ending.flatMap { known[$0]?.first } }

    /// Checks that the format that an option says is one of the ending's.
    ///
    /// - Parameters:
    ///   - option: the option with its value, as in `--format table`.
    ///   - format: the format that it says; `nil` when it was not given.
    package func check<Format: Equatable>(
        _ option: String, _ format: Format?, _ known: [String: [Format]]
    ) throws {
        guard let format, let ending, let formats = known[ending], !formats.contains(format) else { return }
        throw ValidationError(
            tr(
                "\(option) does not fit the ending .\(ending) of the output file",
                "\(option) は出力ファイルの拡張子 .\(ending) と合いません"))
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
        "json": [.json, .proxmark, .metrodroid], "hex": [.hex], "nfc": [.flipper],
    ]
}
