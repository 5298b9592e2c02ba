// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// What is known of a service of some system.
package struct KnownService: Hashable, Sendable {
    /// The service.
    package let code: ServiceCode
    /// What it holds, or `nil` when nobody has published it.
    package let name: LocalizedText?
    /// How many blocks real cards had, or how many the public decoders read; `nil` when neither gave a number. A hint
    /// for planning a read: what the card says counts.
    package let usualBlocks: Int?

    /// What is known of a service in a system, or `nil`.
    package static func of(_ code: ServiceCode, in system: SystemCode) -> KnownService? {
        for group in KnownServiceGroup.all where group.systems.contains(system) {
            if let service = group.services.first(where: { $0.code == code }) { return service }
        }
        return nil
    }

    /// The services that are known in a system, in the order of their codes.
    package static func all(in system: SystemCode) -> [KnownService] {
        let services = KnownServiceGroup.all.filter { $0.systems.contains(system) }.flatMap(\.services)
        var seen: Set<ServiceCode> = []
        return services.filter { seen.insert($0.code).inserted }.sorted { $0.code < $1.code }
    }

    /// The nodes to ask for by Request Service when a card does not answer Search Service Code: the root area and the
    /// known services of the system; the openly readable ones of all systems when the system is unknown.
    ///
    /// No PIN variants are among them, which silence cards that do not know them.
    package static func candidateNodes(in system: SystemCode) -> [NodeCode] {
        let own = all(in: system).map(\.code)
        let services = own.isEmpty ? openOfAllSystems : own
        return [AreaCode.root.node] + services.map(\.node)
    }

    private static let openOfAllSystems: [ServiceCode] = {
        let codes = KnownServiceGroup.all.flatMap(\.services).map(\.code)
        return Set(codes.filter { !$0.requiresAuthentication }).sorted()
    }()
}

/// Services that mean the same in each of some systems; the facts are rows of `Data/services.tsv`.
package struct KnownServiceGroup: Hashable, Sendable {
    /// The systems.
    package let systems: [SystemCode]
    /// The services.
    package private(set) var services: [KnownService]

    /// A group of one row.
    init(_ row: FactRow) throws(FactTableError) {
        systems = try row.hexList("systems").map(SystemCode.init(rawValue:))
        if systems.isEmpty { throw row.fault("systems", .empty) }
        services = [
            KnownService(
                code: ServiceCode(rawValue: try row.hex("service")), name: try row.name(),
                usualBlocks: try row.decimal("blocks"))
        ]
    }

    /// Every group. Where two groups have the same system and service, the earlier one's name counts.
    package static let all: [KnownServiceGroup] = {
        var groups: [KnownServiceGroup] = []
        for row in Registry.services.rows {
            if let last = groups.indices.last, groups[last].systems == row.systems {
                groups[last].services += row.services
            } else {
                groups.append(row)
            }
        }
        return groups
    }()
}

/// A system code and whose it is; the facts are rows of `Data/systems.tsv`.
package struct KnownSystem: Hashable, Sendable {
    /// The code.
    package let code: SystemCode
    /// The card or the purpose.
    package let name: LocalizedText

    init(_ row: FactRow) throws(FactTableError) {
        code = SystemCode(rawValue: try row.hex("code"))
        name = try row.requiredName()
    }

    /// Every system that is known, by code.
    package static var all: [KnownSystem] { Registry.systems.rows }

    /// What is known of a code, or `nil`.
    package static func of(_ code: SystemCode) -> KnownSystem? {
        byCode[code]
    }

    private static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }
}

/// The tables in `Registry/Data`, one row a fact; each is read when it is first asked for.
///
/// What a row says, and where the facts of a table come from, stands on top of its file. Profiles of ICs
/// (``ICProfile``) are code, since every read of a card asks for one and they name commands.
package enum Registry {
    static let systems = FactTable(
        PackageResources.systems_tsv, columns: ["code", "english", "japanese"], key: ["code"],
        row: KnownSystem.init(_:))

    static let products = FactTable(
        PackageResources.ic_products_tsv, columns: ["ic", "last", "roms", "product", "use"],
        key: ["ic", "last", "roms"], row: ICProduct.init(_:))

    static let services = FactTable(
        PackageResources.services_tsv, columns: ["systems", "service", "blocks", "english", "japanese"],
        key: ["systems", "service"], row: KnownServiceGroup.init(_:))

    /// What is wrong in the tables, by the name of the file; a release has no faults.
    package static var faults: [String: [FactTableError]] {
        [
            "systems.tsv": systems.faults, "ic-products.tsv": products.faults, "services.tsv": services.faults,
        ]
    }
}
