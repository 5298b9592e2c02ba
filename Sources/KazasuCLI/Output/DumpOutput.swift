// SPDX-License-Identifier: Apache-2.0

import CardModel
import SystemPackage

/// The file that `-o` names for a dump. What was read only in part never takes the place of a complete dump: it is written
/// beside it.
final class DumpOutput {
    private let file: OutputFile
    /// Where the dump is, when it was written.
    private(set) var written: String?

    init(_ path: String) throws(Failure) {
        file = try OutputFile(path)
    }

    /// Writes a dump as Kazasu's own document, masked where `--redact` says so.
    func finish(_ dump: CardDump, _ context: Context) throws(Failure) {
        try finish(DumpFormatName.json.text(dump, context.redaction, option: "format"), of: dump, context)
    }

    /// Writes the text of a dump.
    func finish(_ text: String, of dump: CardDump, _ context: Context) throws(Failure) {
        guard !dump.complete, DumpOutput.isComplete(file.path) else {
            try file.finish(text)
            written = file.path
            return
        }
        let path = DumpOutput.free(beside: file.path)
        try OutputFile(path).finish(text)
        written = path
        context.note(
            tr(
                "\(file.path) has a complete dump and was kept; what was read is in \(path)",
                "\(file.path) には完全なダンプがあるため残しました。今回読めた分は \(path) にあります"))
    }

    /// A name at which no complete dump is.
    private static func free(beside path: String) -> String {
        var candidate = "\(path).incomplete"
        var number = 1
        while isComplete(candidate) {
            number += 1
            candidate = "\(path).incomplete\(number)"
        }
        return candidate
    }

    /// Whether a file has dumps of any format, and nothing is missing in them.
    private static func isComplete(_ path: String) -> Bool {
        guard path != "-", (try? FilePath(path).stat())?.type == .regular, let bytes = try? Files.read(path),
            let dumps = try? DumpFile.dumps(bytes)
        else { return false }
        return !dumps.isEmpty && dumps.allSatisfy(\.complete)
    }
}
