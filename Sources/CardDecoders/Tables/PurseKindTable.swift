// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// What the kind bytes of e-money records mean; the facts are rows of `Data/purse-kinds.tsv`.
struct PurseKindTable: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    private let kinds: [String: [UInt8: PurseKind]]

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["card", "code", "kind", "sign", "english", "japanese"], key: ["card", "code"]
        ) { (row) throws(TableFault) in
            (card: try row.required("card"), kind: try PurseKind(row))
        }
        var kinds: [String: [UInt8: PurseKind]] = [:]
        for (card, kind) in table.rows { kinds[card, default: [:]][kind.value.code] = kind }
        self.kinds = kinds
        faults = table.faults
    }

    /// What is known of the kinds of a decoder's card, by code.
    subscript(card: String) -> [UInt8: PurseKind] { kinds[card] ?? [:] }
}
