// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders
import CardModel

/// `kazasu decode`
struct Decode: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: tr("Show what a dump contains; no reader needed.", "ダンプの中身を表示する（リーダー不要）。"),
        discussion: tr(
            """
            Reads what 'kazasu dump -o FILE' wrote, and the dumps of Flipper, Proxmark3, Metrodroid, FareBot, nfcpy and \
            others; - is standard input. Of several files, of folders, and of files with one dump a line, the answer is \
            one JSON object a dump.

            Examples:
              kazasu decode card.json
              kazasu decode suica.nfc
              kazasu decode dumps/ > decoded.ndjson
              kazasu decode card.json --json | jq '.reports[].balances'
            """,
            """
            'kazasu dump -o ファイル' のほか、Flipper・Proxmark3・Metrodroid・FareBot・nfcpy などのダンプも読みます。- は標準入力です。
            複数のファイル、フォルダー、1 行 1 ダンプのファイルでは、ダンプごとに JSON を 1 行出力します。

            例:
              kazasu decode card.json
              kazasu decode suica.nfc
              kazasu decode dumps/ > decoded.ndjson
              kazasu decode card.json --json | jq '.reports[].balances'
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var stationOptions: StationOptions

    @Argument(help: help("Dumps or folders of dumps.", "ダンプ、またはダンプのフォルダー。", value: "file"))
    var files: [String]

    func execute(_ context: Context) throws {
        let names = try stationOptions.names()
        let source = DumpFiles(paths: files)
        var line = DecodeLine(names: names, redaction: context.redaction)
        var first: (place: String, dump: CardDump)?
        var isMany = source.areMany
        var failures = 0
        try source.forEach { item in
            isMany = isMany || item.isOneOfMany
            switch item.dump {
            case .failure(let failure):
                guard isMany else { throw failure }
                failures += 1
                Output.message(CommandError(failure.status, failure.reason, failure.message), json: context.json)
            case .success(let dump):
                guard isMany || first != nil else {
                    first = (item.place, dump)
                    return
                }
                isMany = true
                if let earlier = first {
                    first = nil
                    try line.print(earlier.dump, earlier.place)
                }
                try line.print(dump, item.place)
            }
        }
        if let only = first { try show(only.dump, names, context) }
        if failures > 0 {
            throw CommandError(
                .badFile, "badFiles",
                tr(
                    "\(Words.count(failures, "file")) could not be read; the others were",
                    "\(failures) 件を読めませんでした。残りは読みました"))
        }
    }

    private func show(_ dump: CardDump, _ names: any StationNames, _ context: Context) throws {
        let decoding = Decoding(dump, names)
        for failure in decoding.failures { context.note(failure.message) }
        if dump.hasAssumedNumbers {
            context.note(
                tr(
                    "the file labels two records alike: they are numbered in the order of its lines",
                    "履歴の番号が重複しているため、行の順に番号を付けました"))
        }
        if !dump.complete { context.note(tr("the dump is not complete", "このダンプは不完全です")) }
        let view = DecodeView(dump: dump, reports: decoding.reports, redaction: context.redaction)
        if context.json {
            try context.print { view.write(to: &$0) }
        } else {
            try view.write { text throws(CommandError) in try context.print(text) }
        }
    }
}

extension CardDump {
    /// Whether some block numbers are assumed and not those of the source file.
    fileprivate var hasAssumedNumbers: Bool {
        systems.contains { $0.services.contains { $0.assumed == [.blocks] } }
    }
}
