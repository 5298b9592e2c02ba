// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import CardDecoders
import CardModel
import Glibc

/// `kazasu stations`
struct Stations: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stations",
        abstract: tr("Manage your table of station and bus stop names.", "駅名・バス停名の表を扱う。"),
        discussion: tr(
            """
            Kazasu ships no such table. Import one once; from then on 'history' and 'decode' show its names.

            Tables under the MIT licence, on GitHub: assets/station_codes.csv of soltia48/suica-viewer (some 6,950 \
            stations), StationCode.csv of m2wasabi/nfcpy-suica-sample (some 5,880).

            Examples:
              kazasu stations import station_codes.csv
              kazasu stations lookup 0-3-13
            """,
            """
            Kazasu に駅名の表は付属しません。一度取り込むと 'history' と 'decode' が駅名を表示します。

            MIT ライセンスの表が GitHub にあります: soltia48/suica-viewer の assets/station_codes.csv（約 6,950 駅）、
            m2wasabi/nfcpy-suica-sample の StationCode.csv（約 5,880 駅）。

            例:
              kazasu stations import station_codes.csv
              kazasu stations lookup 0-3-13
            """),
        subcommands: [StationsImport.self, StationsLookup.self])
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
            checks for letters among the digits and for stations whose codes are public; otherwise --codes is required.

            Examples:
              kazasu stations import StationCode.csv
              kazasu stations import --codes hex station_codes.csv
            """,
            """
            UTF-8 または Shift_JIS の CSV・TSV を読みます: 地区、線区、駅順、会社、線名、駅名。バス停は事業者、停留所、会社、
            停留所名（見出し行 operator,stop が必要）。旧駅名は area, line, station, current_name, former_name と、わかれば
            valid_until（見出し行が必要）。同じ名前のファイルにも 16 進と 10 進のものがあります。桁の中の英字か、公知の駅コードで判断し、
            判断できなければ --codes の指定が必要です。

            例:
              kazasu stations import StationCode.csv
              kazasu stations import --codes hex station_codes.csv
            """))

    /// The values of `--codes`.
    enum CodesName: String, CaseIterable, ExpressibleByArgument { case hex, decimal }

    @OptionGroup var common: CommonOptions

    @Argument(help: help("A table.", "表のファイル。", value: "file"), completion: .file())
    var file: String

    @Option(name: .long, help: help("How its codes are written.", "コードの書き方。"))
    var codes: CodesName?

    func execute(_ context: Context) throws {
        let table = try StationOptions.file(file, codes: codes.flatMap { StationFile.Codes(rawValue: $0.rawValue) })
        let path = try StationStore().save(table.rows)
        if context.json {
            try context.print([
                "schema": "kazasu.stations/1", "kind": .string(StationsImport.kind(table.rows)),
                "rows": .int(table.rows.count), "repeated": .int(table.repeated), "differing": .int(table.differing),
                "codes": .string(table.codes.rawValue), "file": .string(path),
            ])
            return
        }
        var rows = [
            [tr("Rows", "行数"), "\(table.rows.count)"],
            [tr("Codes", "コード"), "\(table.codes.rawValue) (\(StationsImport.words(table.evidence)))"],
            [tr("Kept in", "保存先"), path],
        ]
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
        try context.print(Columns.text(rows))
    }

    private static func kind(_ rows: StationRows) -> String {
        switch rows {
        case .stations: "stations"
        case .busStops: "busStops"
        case .formerNames: "formerNames"
        }
    }

    private static func words(_ evidence: StationFile.Evidence) -> String {
        switch evidence {
        case .told: tr("as specified", "指定による")
        case .layout: tr("as its layout says", "書式による")
        case .letters: tr("letters among the digits", "桁に英字あり")
        case .knownPairs(let count):
            tr(
                count == 1 ? "1 known station matches" : "\(count) known stations match",
                "公知の駅 \(count) 件が一致")
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
            other text is a name, or a part of one. Ends with status 1 when the table has no entry for one of them.

            Examples:
              kazasu stations lookup 0-3-13
              kazasu stations lookup 新宿
              kazasu stations lookup 0C4F-0000 --json
            """,
            """
            駅は 地区-線区-駅順（10 進）、バス停は 事業者-停留所（16 進 4 桁ずつ）で指定します。それ以外は名前（一部でも可）と
            みなします。表にないものがあれば終了ステータスは 1 です。

            例:
              kazasu stations lookup 0-3-13
              kazasu stations lookup 新宿
              kazasu stations lookup 0C4F-0000 --json
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var stationOptions: StationOptions

    @Argument(help: help("Codes, as in 0-3-13, or names.", "コード（0-3-13 など）または名前。", value: "code|name"))
    var queries: [PlaceQuery]

    @Option(name: .long, help: help("The name on that day, YYYY-MM-DD.", "その日の名前（YYYY-MM-DD）。", value: "date"))
    var date: DateArgument?

    func execute(_ context: Context) throws {
        let names = try stationOptions.names()
        if names is NoStationNames {
            throw CommandError(
                .missingFile, "noTable", tr("no table of stations has been imported", "駅名の表がありません"),
                hint: tr(
                    "kazasu stations import FILE, or --stations FILE; 'kazasu stations --help' names tables",
                    "kazasu stations import ファイル、または --stations ファイル。入手先は 'kazasu stations --help' にあります"))
        }
        if date != nil, (names as? StationTable)?.hasDates == false {
            context.note(
                tr("the table has no dates, so --date has no effect", "この表には日付がないため --date は効きません"))
        }
        let found = queries.map { query in (query, places(query, names)) }
        if context.json {
            try context.print(["schema": "kazasu.lookup/1", "places": .array(found.flatMap(\.1).map(\.json))])
        } else {
            let rows = found.flatMap { query, places in
                places.isEmpty ? [[query.text, "-"]] : places.map { [query.code(of: $0)] + StationsLookup.cells($0) }
            }
            try context.print(Columns.text(rows))
        }
        let missing = found.filter { $0.1.allSatisfy { $0.name == nil } }.map(\.0.text)
        guard missing.isEmpty else {
            throw CommandError(
                .negative, "notFound",
                tr("not in the table: ", "表にありません: ") + missing.joined(separator: tr(", ", "、")),
                hint: tr(
                    "give a code as 'kazasu history' prints it, or a part of a name",
                    "'kazasu history' に出るコードか、名前の一部を指定してください"))
        }
    }

    /// The places that a query finds; a code always finds its own, with or without a name.
    private func places(_ query: PlaceQuery, _ names: any StationNames) -> [Place] {
        switch query {
        case .code(let code): [Place(code.code, on: date?.date, names)]
        case .name(let name): (names as? StationTable)?.places(named: name) ?? []
        }
    }

    private static func cells(_ place: Place) -> [String] {
        guard let name = place.name else { return ["-"] }
        var cells = [name.name ?? "-", name.company ?? "", name.line ?? ""]
        if !name.formerNames.isEmpty {
            let former = name.formerNames.map(HistoryView.words).joined(separator: tr(", ", "、"))
            cells.append(tr("formerly \(former)", "旧 \(former)"))
        }
        return cells
    }
}

/// Options of the commands that name stations.
package struct StationOptions: ParsableArguments {
    package init() {}

    @Option(
        name: .long,
        help: help(
            "A table of stations or bus stops for this run. Default: KAZASU_STATIONS, or the tables that 'stations import' saved.",
            "この実行で使う駅・バス停の表。省略時は KAZASU_STATIONS、なければ 'stations import' で保存した表。", value: "file"), completion: .file())
    package var stations: [String] = []

    /// The names from the tables of the options, the environment or the store. Having none is an error only if one was
    /// requested.
    package func names() throws(CommandError) -> any StationNames {
        var paths = stations
        if paths.isEmpty, let variable = getenv("KAZASU_STATIONS") {
            paths = String(cString: variable).split(separator: ":").map { String($0) }
        }
        if paths.isEmpty { paths = StationStore().paths }
        guard !paths.isEmpty else { return NoStationNames() }
        var table = StationTable()
        for path in paths { table.add(try StationOptions.file(path)) }
        return table
    }

    /// Reads one table.
    static func file(_ path: String, codes: StationFile.Codes? = nil) throws(CommandError) -> StationFile {
        let bytes = try Files.read(path, limit: StationFile.longestDocument)
        do {
            return try StationFile(parsing: bytes, codes: codes)
        } catch {
            var failure = CommandError(error, path: path)
            if case .malformed(_, let expected) = error, expected.code == .stationRadix {
                failure.message = tr(
                    "\(Files.name(path)): cannot tell whether its codes are hexadecimal or decimal",
                    "\(Files.name(path)): コードが 16 進か 10 進か判断できません")
                failure.hint = tr(
                    "kazasu stations import --codes hex|decimal \(ShellWord.quoted(path))",
                    "kazasu stations import --codes hex|decimal \(ShellWord.quoted(path))")
            } else if case .malformedLine(_, let expected) = error, expected.code == .utf8 {
                failure.hint = tr(
                    "save it as UTF-8 or Shift_JIS", "UTF-8 か Shift_JIS で保存し直してください")
            }
            throw failure
        }
    }
}

extension Context {
    /// Says on a terminal why stations are shown as codes: no table has been imported.
    package func explainCodes(_ names: any StationNames, of records: some Sequence<HistoryRecord>) {
        guard names is NoStationNames, Output.messagesAreOnTerminal,
            records.contains(where: { [$0.entry, $0.exit].contains { $0?.isUnnamed ?? false } })
        else { return }
        note(
            tr(
                "stations are shown as codes, as no table has been imported; 'kazasu stations --help' says where to get one",
                "駅名の表がないため駅をコードで表示しています。入手先は 'kazasu stations --help' にあります"))
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
    /// Whether it is a station or stop that a table could name.
    fileprivate var isUnnamed: Bool {
        if case .local = code { false } else { name?.name == nil }
    }

    /// The code as `stations lookup` takes it; `nil` for a stop of a local card.
    fileprivate var codeText: String? {
        switch code {
        case .station(let code): "\(code.area)-\(code.line)-\(code.station)"
        case .busStop(let code): "\(code.operatorHex)-\(code.stopHex)"
        case .local: nil
        }
    }
}

/// The directory of the user's station tables: `kazasu/` below the XDG data directory.
struct StationStore {
    /// The folder, without a slash at the end; `nil` when there is no home directory.
    let folder: String?

    init(environment: (String) -> String? = StationStore.variable) {
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") {
            folder = "\(data)/kazasu"
        } else {
            let home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
            folder = home.map { "\($0)/.local/share/kazasu" }
        }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The file that holds this kind of rows.
    func path(of rows: StationRows) -> String? {
        let name =
            switch rows {
            case .stations: "stations.tsv"
            case .busStops: "bus_stops.tsv"
            case .formerNames: "former_names.tsv"
            }
        return folder.map { "\($0)/\(name)" }
    }

    /// The stored files that exist.
    var paths: [String] {
        let rows: [StationRows] = [.stations([]), .busStops([]), .formerNames([])]
        return rows.compactMap { path(of: $0) }.filter { access($0, F_OK) == 0 }
    }

    /// Stores rows for later runs, replacing those of the same kind.
    ///
    /// - Returns: the file.
    func save(_ rows: StationRows) throws(CommandError) -> String {
        guard let folder, let path = path(of: rows) else {
            throw CommandError(
                .cannotWrite, "cannotWrite",
                tr("there is no home directory to save the table in", "表を保存するホームディレクトリがありません"),
                hint: tr("set HOME or XDG_DATA_HOME", "HOME か XDG_DATA_HOME を設定してください"))
        }
        try makeFolder(folder)
        try OutputFile(path).finish(rows.text)
        return path
    }

    private func makeFolder(_ folder: String) throws(CommandError) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            if mkdir(path, 0o755) != 0, errno != EEXIST { throw CommandError.unwritable(path, errno) }
        }
    }
}
