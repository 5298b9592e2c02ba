// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The known facts about a service of some system.
package struct KnownService: Hashable, Sendable {
    package let code: ServiceCode
    /// Its contents; `nil` if nobody has published them.
    package let name: LocalizedText?
    /// The number of blocks on real cards, or the number that the public decoders read; `nil` if neither is known.
    ///
    /// A hint for planning a read: the card's answers are authoritative.
    package let usualBlocks: Int?

    /// Returns the known facts about a service in a system, or `nil`.
    package static func of(_ code: ServiceCode, in system: SystemCode) -> KnownService? {
        KnownServiceRow.all.first { $0.service.code == code && $0.systems.contains(system) }?.service
    }

    /// Returns the known services of a system, in the order of their codes.
    package static func all(in system: SystemCode) -> [KnownService] {
        let services = KnownServiceRow.all.filter { $0.systems.contains(system) }.map(\.service)
        var seen: Set<ServiceCode> = []
        return services.filter { seen.insert($0.code).inserted }.sorted { $0.code < $1.code }
    }

    /// Returns the nodes to request with Request Service if a card does not answer Search Service Code.
    ///
    /// They are the root area and the known services of the system; if the system is unknown, the openly readable
    /// services of all systems. PIN variants are excluded, since cards that do not support them do not answer.
    package static func candidateNodes(in system: SystemCode) -> [NodeCode] {
        let own = all(in: system).map(\.code)
        let services = own.isEmpty ? openOfAllSystems : own
        return [AreaCode.root.node] + services.map(\.node)
    }

    private static let openOfAllSystems: [ServiceCode] = {
        let codes = KnownServiceRow.all.map(\.service.code)
        return Set(codes.filter { !$0.requiresAuthentication }).sorted()
    }()
}

/// A service with the same meaning in each of some systems; the facts are rows of `Data/services.tsv`.
package struct KnownServiceRow: Hashable, Sendable {
    package let systems: [SystemCode]
    package let service: KnownService

    init(_ row: FactRow) throws(FactTableError) {
        systems = try row.hexList("systems").map(SystemCode.init(rawValue:))
        if systems.isEmpty { throw row.fault("systems", .empty) }
        service = KnownService(
            code: ServiceCode(rawValue: try row.hex("service")), name: try row.name(),
            usualBlocks: try row.decimal("blocks"))
    }

    /// Every row. If two rows have the same system and service, the earlier one's name counts.
    package static var all: [KnownServiceRow] { Registry.services.rows }
}

/// A system code and its owner; the facts are rows of `Data/systems.tsv`.
package struct KnownSystem: Hashable, Sendable {
    package let code: SystemCode
    /// The card or the purpose.
    package let name: LocalizedText

    init(_ row: FactRow) throws(FactTableError) {
        code = SystemCode(rawValue: try row.hex("code"))
        name = try row.requiredName()
    }

    /// Every known system, by code.
    package static var all: [KnownSystem] { Registry.systems.rows }

    /// Returns the known facts about a code, or `nil`.
    package static func of(_ code: SystemCode) -> KnownSystem? {
        byCode[code]
    }

    private static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }
}

/// The tables in `Registry/Data`, one fact per row; each is read when it is first used.
///
/// The head of each file explains its rows and names its sources. IC profiles (``ICProfile``) are code, since every
/// read of a card uses one and they refer to commands.
package enum Registry {
    static let systems = FactTable(
        PackageResources.systems_tsv, columns: ["code", "english", "japanese"], key: ["code"],
        row: KnownSystem.init(_:))

    static let products = FactTable(
        PackageResources.ic_products_tsv, columns: ["ic", "last", "roms", "product", "use"],
        key: ["ic", "last", "roms"], row: ICProduct.init(_:))

    static let phones = FactTable(
        PackageResources.phones_tsv, columns: ["carrier", "model", "name"], key: ["carrier", "model"],
        row: KnownPhone.init(_:))

    static let services = FactTable(
        PackageResources.services_tsv, columns: ["systems", "service", "blocks", "english", "japanese"],
        key: ["systems", "service"], row: KnownServiceRow.init(_:))

    /// The faults of the tables, by file name; a release has none.
    package static var faults: [String: [FactTableError]] {
        [
            "systems.tsv": systems.faults, "ic-products.tsv": products.faults, "services.tsv": services.faults,
            "phones.tsv": phones.faults,
        ]
    }
}
