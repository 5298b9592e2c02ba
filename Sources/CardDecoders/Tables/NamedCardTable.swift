// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Cards that are only recognised; the facts are rows of `Data/named-cards.tsv`.
struct NamedCardTable: Sendable {
    /// What is wrong in the table.
    let faults: [TableFault]
    /// One decoder for each row.
    let decoders: [NamedCardDecoder]

    init(_ bytes: [UInt8]) {
        let table = FactTable(bytes, columns: ["id", "system", "services", "english", "japanese"], key: ["id"]) {
            (row) throws(TableFault) -> NamedCardDecoder in
            let codes: [UInt16] = try row.hexList("services")
            let services = codes.map { ServiceCode(rawValue: $0) }
            guard let name = try row.name() else { throw row.fault("english", .empty) }
            guard let first = services.first else { throw row.fault("services", .empty) }
            return NamedCardDecoder(
                id: try row.required("id"), name: name, system: SystemCode(rawValue: try row.hex("system")),
                services: services, first: first)
        }
        decoders = table.rows
        faults = table.faults
    }
}
