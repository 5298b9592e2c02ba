// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Kazasu

/// `kazasu convert`
struct Convert: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: tr("Convert a dump to another format.", "ダンプの形式を変換する。"),
        discussion: tr(
            """
            The format of FILE is detected from its content. What the new format cannot store is left out.

            Examples:
              kazasu convert suica.nfc --to json -o card.json
              kazasu convert card.json --to proxmark
            """,
            """
            元の形式は中身から判断します。新しい形式で表せないものは省かれます。

            例:
              kazasu convert suica.nfc --to json -o card.json
              kazasu convert card.json --to proxmark
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: help("A dump.", "ダンプ。", value: "file"), completion: .file())
    var file: String

    @Option(name: .long, help: help("The new format.", "新しい形式。", value: "format"))
    var to: DumpFileFormat

    @Option(name: .shortAndLong, help: help("Write to a file.", "ファイルに書く。", value: "file"), completion: .file())
    var output: String?

    func validate() throws { try common.check("--to", to.rawValue) }

    func execute(_ context: Context) throws {
        let dump = try DumpFile.read(file)
        let text = try to.text(dump, context.redaction, option: "to")
        guard let output else { return try context.print(file: text) }
        let file = try OutputFile(output)
        try file.finish(text)
        context.note(tr("wrote \(file.path) (\(to.rawValue))", "\(file.path) に書きました（\(to.rawValue)）"))
    }
}
