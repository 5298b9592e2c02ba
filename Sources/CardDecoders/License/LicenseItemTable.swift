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
    }

    /// What a tag of a file holds, and which one of several it is: all of one card are counted through, as the external
    /// characters are, 1 and 2 in one file and 3 to 7 in another.
    func item(_ tag: LicenseTag, in file: LicenseFile) -> (row: LicenseItemRow, number: Int)? {
        var before: [LicenseItem: Int] = [:]
        for row in rows where row.file.isOnMyNumberCard == file.isOnMyNumberCard {
            if row.file == file, let number = row.number(of: tag) {
                return (row, number + before[row.item, default: 0])
            }
            before[row.item, default: 0] += row.count
        }
        return nil
    }

    /// The items of a file, each once.
    func items(of file: LicenseFile) -> [LicenseItem] {
        var items: [LicenseItem] = []
        for row in rows where row.file == file && !items.contains(row.item) { items.append(row.item) }
        return items
    }
}
