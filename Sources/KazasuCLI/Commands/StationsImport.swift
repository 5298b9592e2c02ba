// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders
import CardModel

/// `kazasu stations import`
struct StationsImport: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: tr("Check a table and keep it for later runs.", "表を検査して保存する。"),
        discussion: tr(
            """
            Reads CSV or TSV in UTF-8 or Shift_JIS: area, line, station, company, line name, station name; or operator, \
            stop, company, stop name (with that header); or former names: area, line, station, current_name, former_name, \
            and valid_until if known (with that header). Files of the same name exist with hexadecimal and with decimal codes: it is \
            found out by letters among the digits or by stations whose codes are public, else --codes must tell.

            Examples:
              kazasu stations import StationCode.csv
              kazasu stations import --codes hex station_codes.csv
            """,
            """
            UTF-8 または Shift_JIS の CSV・TSV を読みます: 地区、線区、駅順、会社、線名、駅名。バス停は事業者、停留所、会社、
            停留所名（見出し行 operator,stop が必要）。旧駅名は area, line, station, current_name, former_name と、わかれば
            valid_until（見出し行が必要）。同じ名前のファイルにも 16 進と 10 進のものがあります。桁の中の英字か、公知の駅コードで確かめ、
            わからなければ --codes の指定が必要です。

            例:
              kazasu stations import StationCode.csv
              kazasu stations import --codes hex station_codes.csv
            """))

    /// What `--codes` takes.
    enum CodesName: String, CaseIterable, ExpressibleByArgument { case hex, decimal }

    @OptionGroup var common: CommonOptions

    @Argument(help: help("A table.", "表のファイル。", value: "file"))
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
                        "\(table.repeated) with a key that was there, \(table.differing) of them with another name",
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
        case .told: tr("as you said", "指定による")
        case .layout: tr("as its layout says", "書式による")
        case .letters: tr("letters among the digits", "桁に英字あり")
        case .knownPairs(let count):
            tr(
                count == 1 ? "1 known station is in its place" : "\(count) known stations are in their place",
                "公知の駅 \(count) 件が一致")
        }
    }
}
