// SPDX-License-Identifier: Apache-2.0

import CardModel

/// A dump whose file cannot be written: the card may be gone, so what was read goes elsewhere, as JSON.
struct KeptDump {
    let dump: CardDump
    /// The file that was asked for.
    let output: String?

    /// Writes the dump to a file beside the one that was asked for when only the format cannot hold it, else to standard
    /// output.
    ///
    /// - Returns: the error, with a hint at where the dump is now.
    func kept(after error: Failure, _ context: Context) -> Failure {
        guard let output, output != "-", error.status == .badFile || error.status == .cannotWrite,
            let text = try? DumpFormatName.json.text(dump, context.redaction, option: "format")
        else { return error }
        var failure = error
        let path = "\(output).json"
        if error.status == .badFile, (try? OutputFile(path).finish(text)) != nil {
            failure.hint = tr("what was read is in \(path)", "読み取った内容は \(path) に保存しました")
        } else if (try? context.print(file: text)) != nil {
            failure.hint = tr("what was read was written to standard output", "読み取った内容は標準出力に書きました")
        }
        return failure
    }
}
