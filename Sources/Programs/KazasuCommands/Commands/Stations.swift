// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu stations`
struct Stations: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stations",
        abstract: tr("Look up station and bus stop names, import your own.", "駅名・バス停名を調べる。自分の表を取り込む。"),
        discussion: tr(
            """
            The names of Japan's stations and bus stops are built in; 'kazasu stations status' lists their number, sources and \
            terms. Your own table takes precedence, row by row: a missing code is looked up in the next table.

            Examples:
              kazasu stations lookup 0-3-13
              kazasu stations import station_codes.csv
              kazasu stations status
            """,
            """
            日本の駅とバス停の名前が付属します（件数・出典・利用条件は kazasu stations status）。自分の表を取り込むと、行ごとにそちらが
            優先され、表にないコードは次の表で調べます。

            例:
              kazasu stations lookup 0-3-13
              kazasu stations import station_codes.csv
              kazasu stations status
            """),
        subcommands: [StationsImport.self, StationsLookup.self, StationsStatus.self])
}

/// `kazasu stations import`
struct StationsImport: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: tr("Check a table and keep it for later runs.", "表を検査して保存する。"),
        discussion: tr(
            """
            Reads CSV or TSV in UTF-8 or Shift_JIS: area, line, station, company, line name, station name; or operator, \
            stop, company, stop name (with that header); or former names: area, line, station, current_name, former_name, \
            and valid_until if known (with that header). Such files exist with hexadecimal and with decimal codes: Kazasu \
            checks for letters among the digits and for stations whose codes are public; otherwise --codes is required. \
            The table takes precedence over the built-in names, and replaces an earlier imported table of the same kind.

            Examples:
              kazasu stations import StationCode.csv
              kazasu stations import --codes hex station_codes.csv
            """,
            """
            UTF-8 または Shift_JIS の CSV・TSV を読みます: 地区、線区、駅順、会社、線名、駅名。バス停は事業者、停留所、会社、
            停留所名（見出し行 operator,stop が必要）。旧駅名は area, line, station, current_name, former_name と、分かれば
            valid_until（見出し行が必要）。同じ名前のファイルにも 16 進と 10 進のものがあります。A～F があるか、既知の駅のコードと照合して
            判断し、判断できなければ --codes の指定が必要です。取り込んだ表は付属の表より優先されます。同じ種類の表は、取り込むたびに置き換わります。

            例:
              kazasu stations import StationCode.csv
              kazasu stations import --codes hex station_codes.csv
            """))

    /// The values of `--codes`.
    enum CodesName: String, CaseIterable, ExpressibleByArgument { case hex, decimal }

    static let programAccess = CommandAccess.none(
        because: "it installs a table for all programs of the user; the parameter stations names one")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(required: "", reach: .never, help: help("A table.", "表のファイル。", value: "file"), completion: .file())
    var file: String

    @Option(reach: .never, name: .long, help: help("How its codes are written.", "コードの書き方。", value: "hex|decimal"))
    var codes: CodesName?

    func execute(_ context: Context) throws {
        let table = try StationOptions.file(file, codes: codes.flatMap { StationFile.Codes(rawValue: $0.rawValue) })
        let store = StationStore()
        let replaced = store.stored(table.rows)
        let path = try store.save(table.rows)
        if context.json {
            try context.print([
                "schema": "kazasu.stations/1", "kind": .string(StationsImport.kind(table.rows)),
                "rows": .int(table.rows.count), "repeated": .int(table.repeated), "differing": .int(table.differing),
                "codes": .string(table.codes.rawValue), "file": .string(path), "replaced": .optional(replaced),
            ])
            return
        }
        var rows = [
            [tr("Rows", "行数"), "\(table.rows.count)"],
            [tr("Codes", "コード"), StationsImport.words(table)],
            [tr("Kept in", "保存先"), path],
            [tr("Order", "順序"), tr("before the names that come with Kazasu", "付属の表より優先")],
        ]
        if let replaced {
            rows.append([
                tr("Replaced", "置き換え"),
                tr("the table imported before, \(Words.count(replaced, "row"))", "前に取り込んだ表（\(replaced) 行）"),
            ])
        }
        if table.repeated > 0 {
            rows.insert(
                [
                    tr("Left out", "除外"),
                    tr(
                        "\(table.repeated) with a duplicate key, \(table.differing) of them with another name",
                        "キーの重複 \(table.repeated) 行（うち名前が違うもの \(table.differing) 行）"),
                ],
                at: 1)
        }
        try context.print(Columns.values(rows))
    }

    private static func kind(_ rows: StationRows) -> String {
        switch rows {
        case .stations: "stations"
        case .busStops: "busStops"
        case .formerNames: "formerNames"
        }
    }

    private static func words(_ table: StationFile) -> String {
        let evidence = words(table.evidence)
        return switch table.codes {
        case .hex: tr("hex (\(evidence))", "16 進（\(evidence)）")
        case .decimal: tr("decimal (\(evidence))", "10 進（\(evidence)）")
        }
    }

    private static func words(_ evidence: StationFile.Evidence) -> String {
        switch evidence {
        case .told: tr("as specified", "指定による")
        case .layout: tr("as its layout says", "書式による")
        case .letters: tr("letters among the digits", "A～F を含む")
        case .knownPairs(let count):
            tr(
                count == 1 ? "1 known station matches" : "\(count) known stations match",
                "既知の駅 \(count) 件と一致")
        }
    }
}

/// `kazasu stations lookup`
struct StationsLookup: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: tr("Find a station by its code or name.", "コードまたは名前で駅を調べる。"),
        discussion: tr(
            """
            A station is AREA-LINE-STATION in decimal; a bus stop is OPERATOR-STOP, four hexadecimal digits each. Any \
            other text is a name or a part of one, in kanji, kana or Latin script; at most 50 places are shown. Ends with status 1 \
            when no table has an entry for one of them.

            Examples:
              kazasu stations lookup 0-3-13
              kazasu stations lookup shinjuku
              kazasu stations lookup 0C4F-0000 --json
            """,
            """
            駅は 地区-線区-駅順（10 進）、バス停は 事業者-停留所（16 進 4 桁ずつ）で指定します。それ以外は名前（漢字・かな・ローマ字、一部でも
            可）とみなします。表示するのは 50 件までです。表にないものがあれば終了ステータスは 1 です。

            例:
              kazasu stations lookup 0-3-13
              kazasu stations lookup 新宿
              kazasu stations lookup 0C4F-0000 --json
            """))

    static let programAccess = CommandAccess.method(
        .plain(
            "stations.lookup", .get("stations/lookup"), argument: "queries", schema: "lookup",
            LocalizedText(
                "Stations and bus stops by their codes or names; the name of an unknown code is null.",
                "コードか名前で探した駅・停留所。不明なコードの名前は null。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var stationOptions: StationOptions

    @Argument(
        required: [], reach: .network,
        help: help("Codes, as in 0-3-13, or names.", "コード（0-3-13 など）または名前。", value: "code|name"))
    var queries: [PlaceQuery]

    @Option(
        reach: .network, name: .long,
        help: help("The name on that day, YYYY-MM-DD.", "その日の名前（YYYY-MM-DD）。", value: "date"))
    var date: CalendarDate?

    func execute(_ context: Context) throws {
        let names = try stationOptions.names()
        var (found, more): ([(PlaceQuery, [Place])], Int) = ([], 0)
        var room = LayeredStationNames.mostFound
        for query in queries {
            switch query {
            case .code(let code): found.append((query, [Place(code.code, on: date, names)]))
            case .name(let name):
                let answer =
                    (names as? any SearchableStations)?.places(named: name, limit: room) ?? (places: [], more: 0)
                (room, more) = (room - answer.places.count, more + answer.more)
                if answer.places.isEmpty, answer.more > 0 { continue }
                found.append((query, answer.places))
            }
        }
        if context.json {
            try context.print([
                "schema": "kazasu.lookup/1", "places": .array(found.flatMap(\.1).map(\.json)), "more": .int(more),
            ])
        } else {
            let rows = found.flatMap { query, places in
                places.isEmpty ? [[query.text, "-"]] : places.map { [query.code(of: $0)] + StationsLookup.cells($0) }
            }
            try context.print(Columns.text(rows))
        }
        if more > 0 {
            context.note(
                tr(
                    "\(more) more \(more == 1 ? "match" : "matches"); type more of the name",
                    "該当する名前はほかに \(more) 件あります。名前をもう少し詳しく指定してください"))
        }
        let missing = found.filter { $0.1.allSatisfy { $0.name == nil } }.map(\.0.text)
        let nearest = queries.flatMap { query -> [String] in
            guard case .name(let name) = query else { return [] }
            return (names as? any SearchableStations)?.names(near: name) ?? []
        }
        let meant = StationsLookup.question(nearest)
        if missing.isEmpty, let meant { context.note(meant) }
        guard missing.isEmpty else {
            var failure = CommandError(.stationsNotFound, values: [missing.joined(separator: tr(", ", "、"))])
            if let meant { failure.hint = meant }
            throw failure
        }
    }

    /// Asks whether one of these names was meant; `nil` for none.
    private static func question(_ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let list = names.map { "'\($0)'" }
        return tr("did you mean \(list.joined(separator: " or "))?", "\(list.joined(separator: "、")) のことですか？")
    }

    private static func cells(_ place: Place) -> [String] {
        guard let name = place.name else { return ["-"] }
        let language = Language.current
        let label = name.names(language).map { $0 + (place.doubt == nil || name.isOpen ? "" : tr("?", "？")) }
        let remarks = name.remarks(language, besides: label).joined(separator: tr("; ", "、"))
        let cells = [label ?? "-", name.company(in: language) ?? "", name.line(in: language) ?? ""]
        return remarks.isEmpty ? cells : cells + [remarks]
    }
}

/// `kazasu stations status`
struct StationsStatus: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: tr("List the tables in use, in their order.", "使われる表を、優先される順に表示する。"),
        discussion: tr(
            """
            Names are looked up in the tables of --stations, in those of KAZASU_STATIONS (a:b:c), in the imported ones and in \
            those that come with Kazasu; the first that has a code names it.

            Examples:
              kazasu stations status
              kazasu stations status --stations own.tsv --json
            """,
            """
            名前は、--stations の表、KAZASU_STATIONS（a:b:c）の表、取り込んだ表、付属の表の順に調べます。コードのある最初の表の名前を
            使います。

            例:
              kazasu stations status
              kazasu stations status --stations own.tsv --json
            """))

    static let programAccess = CommandAccess.none(because: "it says which files of the user are in use")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var stationOptions: StationOptions

    /// A table, and how many rows it has.
    private struct Table {
        var origin: String
        var title: String
        var path: String?
        var stations = 0
        var busStops = 0
        var formerNames = 0
        var sources: [ShippedStations.Source] = []
    }

    func execute(_ context: Context) throws {
        var tables: [Table] = []
        if stationOptions.showsNames {
            tables = try stationOptions.tables().map(StationsStatus.table)
            let counts = ShippedStations.counts
            tables.append(
                Table(
                    origin: "shipped", title: tr("with Kazasu", "付属"), stations: counts.stations,
                    busStops: counts.busStops, formerNames: counts.formerNames, sources: ShippedStations.sources))
        }
        if context.json {
            try context.print([
                "schema": "kazasu.stationTables/1", "tables": .array(tables.map(StationsStatus.json)),
            ])
            return
        }
        guard !tables.isEmpty else {
            try context.print(tr("none: codes are shown\n", "なし（コードのまま表示します）\n"))
            return
        }
        let head = [
            tr("TABLE", "表"), tr("STATIONS", "駅"), tr("BUS STOPS", "バス停"), tr("FORMER NAMES", "旧駅名"),
            tr("FILE", "ファイル"),
        ]
        let rows = tables.map { table in
            [table.title, "\(table.stations)", "\(table.busStops)", "\(table.formerNames)", table.path ?? ""]
        }
        let sources = ShippedStations.sources.map { ["  " + $0.name, StationsStatus.words($0), $0.license] }
        try context.print(
            Columns.text([head] + rows, rightAligned: [1, 2, 3])
                + tr("\nSources of the names that come with Kazasu\n", "\n付属の表の出典\n") + Columns.text(sources)
                + StationsStatus.terms)
    }

    /// Under which terms the names come; more in NOTICE.
    private static var terms: String {
        let ysrl = tr(
            """
            Station codes and names contain data of 自動改札機の研究 (Yoiko), https://ja.ysrl.org/atc/station-code.html, as of
            2026-07-15, distributed with this program only. It may not be redistributed by itself, whether paid or free. Its
            accuracy is not guaranteed, it may change or end without notice, and no liability is taken for its use. Changes were made.
            """,
            """
            駅のコードと名前には「自動改札機の研究」（Yoiko、https://ja.ysrl.org/atc/station-code.html、2026-07-15 現在）のデータが
            含まれ、このプログラムと一緒にだけ配布しています。データだけの再配布は、有償・無償を問わずできません。正確さは保証されず、
            予告なく変更・終了することがあり、利用による損害の責任は負いません。内容は一部変更しています。
            """)
        let license = tr(
            "The license of Kazasu does not cover these names.", "付属の名前は Kazasu のライセンスの対象ではありません。")
        return "\n" + (ShippedStations.hasYSRL ? paragraph(ysrl) : "") + paragraph(license)
    }

    /// A text at the width of the terminal; elsewhere with the lines that it has.
    private static func paragraph(_ text: String) -> String {
        guard let width = Output.lineWidth else { return text + "\n" }
        let lines = text.split(separator: "\n").map(String.init)
        let joined = lines.dropFirst().reduce(lines.first ?? "") { LineBreaker.joined($0, $1) }
        return Columns.sentence(joined, indent: "", width: width)
    }

    private static func table(_ origin: StationOptions.Origin, _ path: String, _ file: StationFile) -> Table {
        let title =
            switch origin {
            case .option: "--stations"
            case .environment: "KAZASU_STATIONS"
            case .imported: tr("imported", "取り込み")
            }
        var table = Table(origin: origin.rawValue, title: title, path: path)
        switch file.rows {
        case .stations(let rows): table.stations = rows.count
        case .busStops(let rows): table.busStops = rows.count
        case .formerNames(let rows): table.formerNames = rows.count
        }
        return table
    }

    private static func json(_ table: Table) -> JSONValue {
        [
            "origin": .string(table.origin), "file": .text(table.path), "stations": .int(table.stations),
            "busStops": .int(table.busStops), "formerNames": .int(table.formerNames),
            "sources": .array(
                table.sources.map { source in
                    [
                        "name": .string(source.name), "license": .string(source.license),
                        "kind": .string(source.kind.rawValue), "rows": .int(source.rows),
                    ]
                }),
        ]
    }

    private static func words(_ source: ShippedStations.Source) -> String {
        switch source.kind {
        case .stations: tr("\(source.rows) stations", "\(source.rows) 駅")
        case .busStops: tr("\(source.rows) bus stops", "\(source.rows) バス停")
        case .latinNames: tr("\(source.rows) names in Latin script", "\(source.rows) 駅のローマ字")
        }
    }
}

extension PlaceQuery {
    /// The code of a place that was found: as it was given, or for a name as it would be given.
    fileprivate func code(of place: Place) -> String {
        switch self {
        case .code: text
        case .name: place.codeText ?? text
        }
    }
}

extension Place {
    /// The code as `stations lookup` takes it; `nil` for a stop of a local card.
    fileprivate var codeText: String? {
        switch code {
        case .station(let code): "\(code.area)-\(code.line)-\(code.station)"
        case .busStop(let code): "\(code.operatorHex)-\(code.stopHex)"
        case .local: nil
        }
    }
}
