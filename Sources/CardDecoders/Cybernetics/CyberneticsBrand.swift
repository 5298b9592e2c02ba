// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Which brand of card it is, by services that only its issuer uses; the facts are rows of `Data/transit-brands.tsv`.
///
/// Most of these services need a key, so they are in a dump only when the card listed its services.
enum CyberneticsBrand {
    /// The brand, or `undecidable` when the services fit none or more than one: never a guess.
    static func field(_ system: SystemDump) -> CardField {
        // A list, not a set: few of its codes are ever looked for.
        var services: [ServiceCode] = []
        services.reserveCapacity(system.services.count)
        for service in system.services {
            if case .refused = service.state, service.blocks.isEmpty { continue }
            services.append(service.code)
        }
        let fitting = DecoderTables.transitBrands.rows.filter { $0.services.allSatisfy { services.contains($0) } }
        let brand = fitting.first.flatMap { first in
            fitting.allSatisfy { $0.brand == first.brand } ? first : nil
        }
        return CardField(
            key: "brand", name: LocalizedText("Brand", "カードの種類"), value: brand?.brand ?? "undecidable",
            label: brand?.name ?? LocalizedText("cannot be told", "判別不能"), isPersonal: false)
    }
}
