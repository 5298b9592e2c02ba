// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu convert`
struct Convert: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: tr("Convert a dump to another format.", "ダンプの形式を変換する。"),
        discussion: tr(
            """
            The format of FILE is detected from its content. What the new format cannot store is left out. A MIFARE Classic keeps \
            the keys in its trailers (--redact leaves them out); .mfd and .eml have zeros for unknown bytes.

            Examples:
              kazasu convert suica.nfc -o card.json
              kazasu convert card.json --to proxmark
              kazasu convert card.mfd -o card.nfc
            """,
            """
            元の形式は中身から判断します。新しい形式で表せないものは省かれます。MIFARE Classic のトレーラーの鍵は残ります（--redact で除きます）。
            .mfd と .eml では不明なバイトがゼロになります。

            例:
              kazasu convert suica.nfc -o card.json
              kazasu convert card.json --to proxmark
              kazasu convert card.mfd -o card.nfc
            """))

    static let programAccess = CommandAccess.method(
        .dump(
            "convert", .post("convert"), required: ["to"], schema: nil,
            LocalizedText("A dump in another format.", "別の形式にしたダンプ。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(required: "", reach: .never, help: help("A dump.", "ダンプ。", value: "file"), completion: .file())
    var file: String

    @Option(
        reach: .network, name: [.long, .customLong("format")],
        help: help(
            "The new format. Default: by the ending of -o (.json, .hex, .nfc, .mfd, .mct, .eml).",
            "新しい形式。省略時は -o の拡張子（.json、.hex、.nfc、.mfd、.mct、.eml）による。",
            programs: LocalizedText("The new format.", "新しい形式。"), value: "format"))
    var to: DumpFileFormat?

    @Option(
        reach: .never, name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"),
        completion: .file())
    var output: String?

    /// The format that an option says, else the one of the output file.
    private var format: DumpFileFormat? { to ?? OutputEnding(output).format(DumpFileFormat.endings) }

    func validate() throws {
        try common.check("--to", to?.rawValue)
        try OutputEnding(output).check("--to \(to?.rawValue ?? "")", to, DumpFileFormat.endings)
        guard format == nil else { return }
        throw ValidationError(
            tr("--to or an output file with a known ending is needed", "--to か、拡張子から形式が分かる出力ファイルを指定してください"))
    }

    func execute(_ context: Context) throws {
        let dump = try DumpFile.read(file)
        guard let format else { throw CommandError.bug("no format") }
        try context.checkCancelled()
        let bytes = try format.file(dump, context.redaction, option: "to")
        guard let output else {
            try context.print(file: bytes)
            return context.noteLimits(of: format, dump)
        }
        let file = try OutputFile(output)
        try file.finish(bytes)
        context.noteLimits(of: format, dump)
        context.note(tr("wrote \(file.path) (\(format.rawValue))", "\(file.path) に書きました（\(format.rawValue)）"))
    }
}
