// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// A row of `Data/license-items.tsv`: tags that follow each other and hold the same item.
struct LicenseItemRow: Sendable {
    /// The file.
    let file: LicenseFile
    /// The first tag.
    let tag: LicenseTag
    /// How many tags.
    let count: Int
    /// What they hold.
    let item: LicenseItem
    /// Which category of vehicles, where it is one.
    let category: String?
    /// How it is written.
    let form: LicenseItemForm
    /// The name for people.
    let name: LocalizedText

    init(_ row: FactRow) throws(TableFault) {
        guard let file = try row.word("file", LicenseFile.self) else { throw row.fault("file", .empty) }
        guard let item = try row.word("item", LicenseItem.self) else { throw row.fault("item", .empty) }
        guard let form = try row.word("form", LicenseItemForm.self) else { throw row.fault("form", .empty) }
        guard let name = try row.name() else { throw row.fault("english", .empty) }
        self.file = file
        self.item = item
        self.form = form
        self.name = name
        tag = LicenseTag(rawValue: try row.hex("tag"))
        count = min(max(try row.decimal("count") ?? 1, 0), 256)
        category = try row.text("category")
    }
}
