// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders
import CardModel

/// `kazasu stations lookup`
struct StationsLookup: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: tr("Say which station a code means.", "コードの駅名を調べる。"),
        discussion: tr(
            """
            A station is AREA-LINE-STATION in decimal; a bus stop is OPERATOR-STOP, four hexadecimal digits each.

            Examples:
              kazasu stations lookup 0-3-13
              kazasu stations lookup 0C4F-0000 --json
            """,
            """
            駅は 地区-線区-駅順（10 進）、バス停は 事業者-停留所（16 進 4 桁ずつ）で指定します。

            例:
              kazasu stations lookup 0-3-13
              kazasu stations lookup 0C4F-0000 --json
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var stationOptions: StationOptions

    @Argument(help: help("Codes, as in 0-3-13.", "コード（0-3-13 など）。", value: "code"))
    var codes: [PlaceArgument]

    @Option(name: .long, help: help("The name on that day, YYYY-MM-DD.", "その日の名前（YYYY-MM-DD）。", value: "date"))
    var date: DateArgument?

    func execute(_ context: Context) throws {
        let names = try stationOptions.names()
        if names is NoStationNames {
            throw Failure(
                .missingFile, "noTable", tr("there is no table of stations", "駅名の表がありません"),
                hint: tr(
                    "kazasu stations import FILE, or --stations FILE", "kazasu stations import ファイル、または --stations ファイル"
                ))
        }
        if date != nil, (names as? StationTable)?.hasDates == false {
            context.note(
                tr("the table has no dates, so --date changes nothing", "この表には日付がないため --date は効きません"))
        }
        let places = codes.map { Place($0.code, on: date?.date, names) }
        if context.json {
            try context.print(["schema": "kazasu.lookup/1", "places": .array(places.map(\.json))])
        } else {
            try context.print(Columns.text(zip(codes, places).map { [$0.text] + StationsLookup.cells($1) }))
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
