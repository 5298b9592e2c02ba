// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What is known of a service of some system.
public struct KnownService: Hashable, Sendable {
    /// The service.
    public let code: ServiceCode
    /// What it holds, or `nil` when nobody has published it.
    public let name: LocalizedText?
    /// How many blocks real cards had, or how many the public decoders read; `nil` when neither gave a number. A hint
    /// for planning a read: what the card says counts.
    public let usualBlocks: Int?

    /// What is known of a service in a system, or `nil`.
    public static func of(_ code: ServiceCode, in system: SystemCode) -> KnownService? {
        for group in KnownServiceGroup.all where group.systems.contains(system) {
            if let service = group.services.first(where: { $0.code == code }) { return service }
        }
        return nil
    }

    /// The services that are known in a system, in the order of their codes.
    public static func all(in system: SystemCode) -> [KnownService] {
        let services = KnownServiceGroup.all.filter { $0.systems.contains(system) }.flatMap(\.services)
        var seen: Set<ServiceCode> = []
        return services.filter { seen.insert($0.code).inserted }.sorted { $0.code < $1.code }
    }

    /// The nodes to ask for by Request Service when a card does not answer Search Service Code: the root area and the
    /// known services of the system; the openly readable ones of all systems when the system is unknown.
    ///
    /// No PIN variants are among them, which silence cards that do not know them.
    public static func candidateNodes(in system: SystemCode) -> [NodeCode] {
        let own = all(in: system).map(\.code)
        let services = own.isEmpty ? openOfAllSystems : own
        return [AreaCode.root.node] + services.map(\.node)
    }

    private static let openOfAllSystems: [ServiceCode] = {
        let codes = KnownServiceGroup.all.flatMap(\.services).map(\.code)
        return Set(codes.filter { !$0.requiresAuthentication }).sorted()
    }()
}
