// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders
import CardModel

/// `kazasu decode`
struct Decode: KazasuCommand {
    static let configuration = CommandConfiguration(
        abstract: tr("Say what a dump holds; no reader needed.", "ダンプの中身を表示する（リーダー不要）。"),
        discussion: tr(
            """
            Reads a dump that 'kazasu dump -o FILE' wrote; - is standard input.

            Examples:
              kazasu decode card.json
              kazasu decode card.json --json | jq '.reports[].balances'
            """,
            """
            'kazasu dump -o ファイル' が書いたダンプを読みます。- は標準入力です。

            例:
              kazasu decode card.json
              kazasu decode card.json --json | jq '.reports[].balances'
            """))

    @OptionGroup var common: CommonOptions

    @Argument(help: help("A dump.", "ダンプ。", value: "file"))
    var file: String

    func execute(_ context: Context) throws {
        let dump = try DumpFile.read(file)
        var reports: [CardReport] = []
        for decoder in DecoderRegistry.standard.recognising(dump) {
            do {
                reports.append(try decoder.decode(dump))
            } catch {
                context.note(Failure(error).message)
            }
        }
        if !dump.complete { context.note(tr("the dump is not complete", "このダンプは不完全です")) }
        let view = DecodeView(dump: dump, reports: reports, redaction: context.redaction)
        if context.json { try context.print(view.json) } else { try context.print(view.text) }
    }
}
