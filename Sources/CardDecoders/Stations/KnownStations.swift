// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// A few codes whose station is public from decoded cards; they tell whether a table's codes are hexadecimal or decimal.
///
/// Sources: the card listings of toyowata/suica-reader-rcs620s and felica-reader-rcs660s-pico, farebot's sample card,
/// hara-y-u/SuicaRecorder.
enum KnownStations {
    private static let rows: [(area: UInt8, line: UInt8, station: UInt8, name: String)] = [
        (0, 3, 13, "新宿"), (0, 3, 18, "高円寺"), (0, 37, 7, "渋谷"), (0, 22, 3, "浅草橋"), (0, 29, 30, "町田"),
        (0, 1, 35, "小田原"), (0, 227, 59, "青山一丁目"), (0, 227, 54, "銀座"), (0, 229, 43, "東京"),
        (0, 206, 38, "渋谷"), (0, 206, 31, "都立大学"), (0, 241, 8, "岩本町"), (0, 38, 194, "新千歳空港"),
        (2, 217, 82, "板宿"), (3, 134, 64, "大通"),
    ]

    /// How many of them stand in the table at their place, when its codes are read so.
    static func matches(
        _ text: DelimitedText, _ layout: StationLayout, _ codes: StationFile.Codes
    ) throws(DocumentError) -> Int {
        guard layout.kind == .stations else { return 0 }
        let wanted = Dictionary(
            uniqueKeysWithValues: rows.map {
                (StationRow.key(area: $0.area, line: $0.line, station: $0.station), $0.name)
            })
        var count = 0
        try text.forEachRow { row throws(DocumentError) in
            guard let key = layout.stationKey(row, codes), let name = wanted[key], let found = layout.name(row) else {
                return
            }
            if found.elementsEqual(name.utf8) { count += 1 }
        }
        return count
    }
}
