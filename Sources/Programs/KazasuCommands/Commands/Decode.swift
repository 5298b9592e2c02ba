// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu decode`
struct Decode: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: tr("Show what a dump contains; no reader needed.", "ダンプの中身を表示する（リーダー不要）。"),
        discussion: tr(
            """
            Reads what 'kazasu dump -o FILE' wrote, and the dumps of Flipper, Proxmark3, Metrodroid, FareBot, nfcpy and \
            others; - is standard input. Several files, folders, and files with one dump a line are taken as well: each \
            dump gets a heading, or one line of JSON with --format ndjson.

            Examples:
              kazasu decode card.json
              kazasu decode suica.nfc
              kazasu decode dumps/ --format ndjson > decoded.ndjson
              kazasu decode dumps/ --format csv > histories.csv
              kazasu decode dumps/ --keep              # add the histories to the ledger
              kazasu decode card.json --json | jq '.reports[].balances'
            """,
            """
            'kazasu dump -o ファイル' のほか、Flipper・Proxmark3・Metrodroid・FareBot・nfcpy などのダンプも読みます。- は標準入力です。
            複数のファイル、フォルダー、1 行 1 ダンプのファイルも読めます。ダンプごとに見出しを付けます（--format ndjson では JSON を 1 行）。

            例:
              kazasu decode card.json
              kazasu decode suica.nfc
              kazasu decode dumps/ --format ndjson > decoded.ndjson
              kazasu decode dumps/ --format csv > histories.csv
              kazasu decode dumps/ --keep              # 履歴を台帳に追加する
              kazasu decode card.json --json | jq '.reports[].balances'
            """))

    static let programAccess = CommandAccess.method(
        .dump(
            "decode", .post("decode"), schema: "decode",
            LocalizedText("What a dump contains; needs no reader.", "ダンプの中身。リーダーは不要。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var stationOptions: StationOptions

    @Argument(
        required: [], reach: .never, help: help("Dumps or folders of dumps.", "ダンプ、またはダンプのフォルダー。", value: "file"),
        completion: .file()
    )
    var files: [String]

    @Option(
        reach: .never, name: .long,
        help: help(
            "text, json, ndjson or csv (the histories).", "text、json、ndjson、csv（履歴）のいずれか。"))
    var format: DecodeFormat?

    @OptionGroup var csvOptions: CSVOptions

    @Option(
        reach: .never, name: .long,
        help: help(
            "Write the photo of a license, a card or a passport to a file.", "免許証・カード・旅券の写真をファイルに書く。",
            value: "file"), completion: .file())
    var photo: String?

    @OptionGroup var keepOptions: KeepOptions

    private var form: DecodeFormat { format ?? (common.json ? .json : .text) }

    func validate() throws {
        try common.check("--format", format?.rawValue)
        try csvOptions.check(isCSV: form == .csv)
    }

    func execute(_ context: Context) throws {
        var answer = DecodeAnswer(form, try stationOptions.names(), csvOptions, context)
        let keeper = try keepOptions.keeper(context)
        let photo = try PhotoFile(photo, context)
        let source = DumpFiles(paths: files)
        var first: (place: String, dump: CardDump)?
        var (isMany, anyRead) = (source.areMany, false)
        guard photo == nil || !isMany else { throw Decode.severalPhotos }
        var failures: [CommandError] = []
        try source.forEach { item in
            try context.checkCancelled()
            isMany = isMany || item.isOneOfMany
            switch item.dump {
            case .failure(let failure):
                guard isMany else { throw failure }
                failures.append(failure)
                Output.message(CommandError(failure.status, failure.reason, failure.message), json: context.json)
            case .success(let dump):
                anyRead = true
                if let keeper {
                    context.attempt { () throws(CommandError) in
                        try keeper.keep(.dump(dump, kind: nil, place: item.place))
                    }
                }
                guard isMany || first != nil else {
                    first = (item.place, dump)
                    return
                }
                isMany = true
                guard photo == nil else { return }
                if let earlier = first {
                    first = nil
                    try answer.print(earlier.dump, earlier.place, isOnly: false)
                }
                try answer.print(dump, item.place, isOnly: false)
            }
        }
        guard photo == nil || !isMany else { throw Decode.severalPhotos }
        try context.checkCancelled()
        if let only = first { try answer.print(only.dump, only.place, isOnly: true, photo: photo) }
        context.keep([], in: keeper)
        if let failure = failures.first {
            throw CommandError(
                failure.status, failure.reason,
                anyRead
                    ? tr(
                        "\(Words.count(failures.count, "file")) could not be read; the others were",
                        "\(failures.count) 件を読めませんでした。残りは読みました")
                    : tr(
                        "none of the \(Words.count(failures.count, "file")) could be read",
                        "\(failures.count) 件とも読めませんでした"),
                hint: failure.hint)
        }
    }

    private static var severalPhotos: CommandError {
        CommandError(.decodeOnePhoto)
    }
}
