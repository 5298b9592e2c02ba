// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The rows of `Data/named-cards.tsv`.
enum NamedCards {
    static let table = FactTable(
        PackageResources.named_cards_tsv, columns: ["id", "system", "services", "english", "japanese"]
    ) { row throws(TableFault) in
        let codes: [UInt16] = try row.hexList("services")
        let services = codes.map { ServiceCode(rawValue: $0) }
        guard let name = try row.name() else { throw row.fault("english", .empty) }
        guard let first = services.first else { throw row.fault("services", .empty) }
        return NamedCardDecoder(
            id: try row.required("id"), name: name, system: SystemCode(rawValue: try row.hex("system")),
            services: services, first: first)
    }
}
