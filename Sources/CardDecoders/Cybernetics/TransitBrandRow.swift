// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// A row of `Data/transit-brands.tsv`: services that only one issuer uses.
struct TransitBrandRow: Sendable {
    /// The word for scripts.
    let brand: String
    /// The name for people.
    let name: LocalizedText
    /// The services; all of them must be there.
    let services: [ServiceCode]

    init(_ row: FactRow) throws(TableFault) {
        guard let name = try row.name() else { throw row.fault("english", .empty) }
        self.name = name
        brand = try row.required("brand")
        services = try row.hexList("services").map(ServiceCode.init(rawValue:))
        if services.isEmpty { throw row.fault("services", .empty) }
    }
}
