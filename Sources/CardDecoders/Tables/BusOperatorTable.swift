// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Bus companies by system and 16-bit operator code; the facts are rows of `Data/bus-operators.tsv`.
struct BusOperatorTable: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    private let names: [Key: LocalizedText]

    private struct Key: Hashable {
        let system: SystemCode
        let code: UInt16
    }

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["system", "operator", "english", "japanese"], key: ["system", "operator"]
        ) { (row) throws(TableFault) -> (key: Key, name: LocalizedText) in
            guard let name = try row.name() else { throw row.fault("english", .empty) }
            return (Key(system: SystemCode(rawValue: try row.hex("system")), code: try row.hex("operator")), name)
        }
        names = Dictionary(table.rows.map { ($0.key, $0.name) }) { first, _ in first }
        faults = table.faults
    }

    /// The company that has a code in a system, or `nil`.
    func name(_ code: UInt16, in system: SystemCode) -> LocalizedText? { names[Key(system: system, code: code)] }
}
