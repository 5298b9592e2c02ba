// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Who issues a FeliCa Lite card, by its data format code; the facts are rows of `Data/lite-issuers.tsv`.
struct LiteIssuerTable: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    private let names: [UInt16: LocalizedText]

    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["dfc", "english", "japanese"], key: ["dfc"]) {
            (row) throws(TableFault) -> (code: UInt16, name: LocalizedText) in
            guard let name = try row.name() else { throw row.fault("english", .empty) }
            return (code: try row.hex("dfc"), name: name)
        }
        names = Dictionary(table.rows.map { ($0.code, $0.name) }) { first, _ in first }
        faults = table.faults
    }

    /// The issuer that a data format code stands for, or `nil`.
    subscript(code: UInt16) -> LocalizedText? { names[code] }
}
