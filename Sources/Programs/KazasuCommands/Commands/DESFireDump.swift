// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu desfire dump`
struct DESFireDumpCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: tr("Read everything that the keys open.", "鍵で読めるものをすべて読む。"),
        discussion: tr(
            """
            Prints a dump (JSON) with applications, files and their contents, or writes it to a file. Each key is tried once, \
            and only where it has a right. What none of them opens is listed as withheld. Keys are not in the dump; with \
            --redact, neither are applications and files.

            A key file has lines of AID N KEY, or picc 0 KEY for the card's master key; KEY may be factory.

            Examples:
              kazasu desfire dump                              # what everybody may read
              kazasu desfire dump --keys desfire.keys -o card.json
              kazasu desfire dump --keys masters.keys --diversify uid+F5A1C0
            """,
            """
            アプリケーション、ファイルとその内容をダンプ（JSON）として出力するか、ファイルに保存します。鍵はそれぞれ、権限のある所で 1 回だけ
            試します。どの鍵でも読めないものは withheld に入ります。鍵はダンプに入りません。--redact ではアプリケーションとファイルも除きます。

            鍵のファイルには AID 番号 鍵、カードのマスターキーは picc 0 鍵 と 1 行ずつ書きます。鍵は factory とも書けます。

            例:
              kazasu desfire dump                              # 誰でも読めるもの
              kazasu desfire dump --keys desfire.keys -o card.json
              kazasu desfire dump --keys masters.keys --diversify uid+F5A1C0
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "desfire.dump", .none(because: "keys are never taken from the network"), schema: "dump",
            LocalizedText("Everything on a MIFARE DESFire that the keys open.", "MIFARE DESFire の、鍵で読めるすべて。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        reach: .local, name: .long,
        help: help(
            "A file with keys: lines of AID N KEY [VERSION], picc for the card itself, KEY of 16, 32 or 48 hexadecimal digits or factory.",
            "鍵のファイル: AID 番号 鍵 [バージョン] の行。カード自体は picc、鍵は 16 進 16・32・48 桁または factory。", value: "file"),
        completion: .file())
    var keys: String?

    @Option(reach: .local, name: .long, help: DESFireKeyOptions.diversifyHelp)
    var diversify: TagSetupOptions.KeyInput?

    @Option(
        reach: .never, name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"),
        completion: .file())
    var output: String?

    func execute(_ context: Context) throws {
        let given = try TagSetupOptions.readDESFire(keys, context) ?? DESFireKeys()
        let file = try output.map { path throws(CommandError) in try DumpOutput(path) }
        let session = try ReaderSession(readerOptions, context)
        let (dump, contents, error) = try closing(session) { session in
            let card = try session.find(.desfire).desfire()
            let input = try diversify?.input(uid: card.identity.uid ?? [])
            let contents = try card.dump(input.map { given.diversified($0) } ?? given)
            let view = DESFireView(contents.information, contents: contents.contents)
            return (card.document(contents, view.members).stamped(session), contents, card.error(of: contents))
        }
        if contents.contents.isEmpty, error == nil {
            throw contents.refusedKeys.isEmpty ? CommandError(.desfireNothingOpen) : CommandError(DESFireError.wrongKey)
        }
        if let file { try file.finish(dump, context) }
        if context.json {
            try context.print(context.redaction.apply(dump).json)
        } else if file == nil {
            try context.print(file: DumpFileFormat.json.file(dump, context.redaction, option: "format"))
        }
        for key in contents.refusedKeys {
            context.warn(
                tr(
                    "the card refused key \(key.number) of \(key.application)",
                    "\(key.application) の鍵 \(key.number) はカードに拒否されました"))
        }
        if let error { throw CommandError(error, keepingWhatWasRead: true) }
    }
}
