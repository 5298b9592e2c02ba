// SPDX-License-Identifier: Apache-2.0

package import Kazasu
package import KazasuCLI
import SystemPackage

/// A dump whose file cannot be written: the card may be gone, so the data is kept elsewhere, as JSON.
package struct KeptDump {
    package let dump: CardDump
    /// The requested file.
    package let output: String?

    /// Writes the dump beside the requested file if only the format cannot hold it, otherwise to standard output.
    ///
    /// - Returns: the error, with a hint at where the dump is now.
    package func kept(after error: CommandError, _ context: Context) -> CommandError {
        guard let output, output != "-", error.status == .badFile || error.status == .cannotWrite,
            let file = try? DumpFileFormat.json.file(dump, context.redaction, option: "format")
        else { return error }
        var failure = error
        let path = "\(output).json"
        if error.status == .badFile, (try? OutputFile(path).finish(file)) != nil {
            failure.hint = Remedy.keptInFile.text(path)
        } else if (try? context.print(file: file)) != nil {
            failure.hint = Remedy.keptOnOutput.text()
        }
        return failure
    }
}

/// The file that `-o` names for a dump. A partial dump never replaces a complete one: it is written beside it.
package final class DumpOutput {
    private let file: OutputFile
    /// The path of the dump, once it is written.
    private(set) var written: String?

    /// - Parameter replacing: a file of the command that it may replace.
    package init(_ path: String, replacing: FilesInUse.Role? = nil) throws(CommandError) {
        file = try OutputFile(path, replacing: replacing)
    }

    /// Writes a dump as Kazasu's own document, masked under `--redact`.
    package func finish(_ dump: CardDump, _ context: Context) throws(CommandError) {
        try finish(DumpFileFormat.json.file(dump, context.redaction, option: "format"), of: dump, context)
    }

    /// Writes the file of a dump.
    package func finish(_ bytes: [UInt8], of dump: CardDump, _ context: Context) throws(CommandError) {
        guard !dump.isComplete, DumpOutput.isComplete(file.path) else {
            try file.finish(bytes)
            written = file.path
            return
        }
        let path = DumpOutput.free(beside: file.path)
        try OutputFile(path).finish(bytes)
        written = path
        context.note(
            tr(
                "\(file.path) already contains a complete dump and was kept; the new data is in \(path)",
                "\(file.path) には完全なダンプがあるため残しました。今回読めた分は \(path) にあります"))
    }

    /// Returns a path that does not hold a complete dump.
    private static func free(beside path: String) -> String {
        var candidate = "\(path).incomplete"
        var number = 1
        while isComplete(candidate) {
            number += 1
            candidate = "\(path).incomplete\(number)"
        }
        return candidate
    }

    /// Whether a file holds dumps of any format, all of them complete.
    private static func isComplete(_ path: String) -> Bool {
        guard path != "-", (try? FilePath(path).stat())?.type == .regular, let bytes = try? Files.read(path, as: nil),
            let dumps = try? DumpFile.dumps(bytes)
        else { return false }
        return !dumps.isEmpty && dumps.allSatisfy(\.isComplete)
    }
}
