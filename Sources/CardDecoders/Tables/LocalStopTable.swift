// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Stations and stops of cards with a network of their own; the facts are rows of `Data/local-stops.tsv`.
struct LocalStopTable: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    private let names: [Key: StationName]

    private struct Key: Hashable {
        let system: SystemCode
        let stop: UInt32
    }

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["system", "stop", "company", "line", "name"], key: ["system", "stop"]
        ) { (row) throws(TableFault) -> (key: Key, name: StationName) in
            let name = StationName(
                company: try row.text("company"), line: try row.text("line"), name: try row.required("name"))
            return (Key(system: SystemCode(rawValue: try row.hex("system")), stop: try row.hex("stop")), name)
        }
        names = Dictionary(table.rows.map { ($0.key, $0.name) }) { first, _ in first }
        faults = table.faults
    }

    /// The stop, or of a stop that is not in the table its operator; `nil` when neither is known.
    func name(_ code: LocalStopCode) -> StationName? {
        if let name = names[Key(system: code.system, stop: code.stop)] { return name }
        let company = code.operatorCode.flatMap { DecoderTables.busOperators.name($0, in: code.system) }
        return company.map { StationName(company: $0.japanese, line: nil, name: nil) }
    }

    /// The place with this code, named where it is known.
    func place(_ code: LocalStopCode) -> Place {
        Place(code: .local(code), name: name(code))
    }
}
