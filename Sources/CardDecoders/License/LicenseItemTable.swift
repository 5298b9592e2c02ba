// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The items of every file of a licence: `Data/license-items.tsv`.
struct LicenseItemTable: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    /// The rows in the card's order.
    let rows: [LicenseItemRow]

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["file", "tag", "count", "item", "category", "form", "english", "japanese"],
            key: ["file", "tag"], row: LicenseItemRow.init(_:))
        rows = table.rows
        faults = table.faults
        var before: [Counted: Int] = [:]
        for row in table.rows {
            let counted = Counted(item: row.item, isOnMyNumberCard: row.file.isOnMyNumberCard)
            for place in 0..<row.count {
                let tag = LicenseTag(rawValue: row.tag.rawValue &+ UInt16(clamping: place))
                entries[Place(file: row.file, tag: tag)] = (row, before[counted, default: 0] + place + 1)
            }
            before[counted, default: 0] += row.count
        }
    }

    private var entries: [Place: (row: LicenseItemRow, number: Int)] = [:]

    private struct Place: Hashable {
        let file: LicenseFile
        let tag: LicenseTag
    }

    private struct Counted: Hashable {
        let item: LicenseItem
        let isOnMyNumberCard: Bool
    }

    /// What a tag of a file holds, and which one of several it is: all of one card are counted through, as the external
    /// characters are, 1 and 2 in one file and 3 to 7 in another.
    func item(_ tag: LicenseTag, in file: LicenseFile) -> (row: LicenseItemRow, number: Int)? {
        entries[Place(file: file, tag: tag)]
    }

    /// The items of a file, each once.
    func items(of file: LicenseFile) -> [LicenseItem] {
        var items: [LicenseItem] = []
        for row in rows where row.file == file && !items.contains(row.item) { items.append(row.item) }
        return items
    }
}
