// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The stops of single cards' networks that are published; `Data/local-stops.tsv`.
enum LocalStops {
    /// One row: a stop, or with no stop an operator.
    struct Row {
        let key: Key
        let name: StationName
    }

    /// What tells a stop within all of them.
    struct Key: Hashable {
        let system: SystemCode
        let operatorCode: UInt16?
        let stop: UInt32?
    }

    /// The rows of the table.
    static let table = FactTable(
        PackageResources.local_stops_tsv, columns: ["system", "operator", "stop", "company", "line", "name"]
    ) { row throws(TableFault) in
        let operators: [UInt16] = try row.hexList("operator")
        let stops: [UInt32] = try row.hexList("stop")
        return Row(
            key: Key(system: SystemCode(rawValue: try row.hex("system")), operatorCode: operators.first, stop: stops.first),
            name: StationName(company: try row.text("company"), line: try row.text("line"), name: try row.text("name")))
    }

    private static let names = Dictionary(table.rows.map { ($0.key, $0.name) }) { first, _ in first }

    /// The stop, or of an unknown stop its operator; `nil` when neither is known.
    static func name(_ code: LocalStopCode) -> StationName? {
        names[Key(system: code.system, operatorCode: code.operatorCode, stop: code.stop)]
            ?? names[Key(system: code.system, operatorCode: code.operatorCode, stop: nil)]
    }

    /// The place with this code, named where it is known.
    static func place(_ code: LocalStopCode) -> Place {
        Place(code: .local(code), name: name(code))
    }
}
