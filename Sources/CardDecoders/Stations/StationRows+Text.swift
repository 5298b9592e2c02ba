// SPDX-License-Identifier: Apache-2.0

extension StationRows {
    /// The rows in Kazasu's own layout: tab-separated, a header, decimal codes, sorted by code.
    public var text: String {
        switch self {
        case .stations(let rows):
            let hasDates = rows.contains(where: \.hasDates)
            return StationRows.table(
                ["area", "line", "station", "company", "line_name", "station_name"]
                    + (hasDates ? ["valid_from", "valid_until"] : []),
                rows.sorted { $0.key < $1.key }.map { row in
                    StationRows.codes(row.code) + [row.name.company, row.name.line, row.name.name].map { $0 ?? "" }
                        + (hasDates ? [row.from, row.until].map { $0?.description ?? "" } : [])
                })
        case .busStops(let rows):
            return StationRows.table(
                ["operator", "stop", "company", "stop_name"],
                rows.sorted { $0.key < $1.key }.map { row in
                    [String(row.operatorCode), String(row.stop), row.name.company ?? "", row.name.name ?? ""]
                })
        case .formerNames(let rows):
            let hasDates = rows.contains { $0.former.until != nil }
            return StationRows.table(
                ["area", "line", "station", "current_name", "former_name"] + (hasDates ? ["valid_until"] : []),
                // Sorting leaves the order of a code's names as it is.
                rows.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }.map { _, row in
                    StationRows.codes(row.code) + ["", row.former.name]
                        + (hasDates ? [row.former.until?.description ?? ""] : [])
                })
        }
    }

    private static func codes(_ code: StationCode) -> [String] {
        [String(code.area), String(code.line), String(code.station)]
    }

    /// Tabs and line ends inside a field become blanks, since the layout has no quotes.
    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        ([header] + rows).map { row in
            row.map { field in String(String.UnicodeScalarView(field.unicodeScalars.map { $0 < " " ? " " : $0 })) }
                .joined(separator: "\t") + "\n"
        }.joined()
    }
}
