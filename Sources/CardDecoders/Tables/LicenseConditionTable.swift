// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// What conditions of a licence mean; the facts are rows of `Data/license-conditions.tsv`.
struct LicenseConditionTable: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    private let meanings: [String: LocalizedText]

    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["japanese", "english"], key: ["japanese"]) {
            (row) throws(TableFault) -> LocalizedText in
            guard let name = try row.name() else { throw row.fault("english", .empty) }
            return name
        }
        meanings = Dictionary(table.rows.map { ($0.japanese, $0) }) { first, _ in first }
        faults = table.faults
    }

    /// What a condition means, however the card spaces it; `nil` when it is not in the table.
    subscript(text: JISText) -> LocalizedText? { meanings[text.unspaced] }
}
