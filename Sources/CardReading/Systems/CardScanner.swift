// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import FeliCa

/// Lists every system, area and service of a FeliCa card.
package struct CardScanner {
    private let session: CardSession
    private let progress: (ReadingProgress) -> Void

    package init(session: CardSession, progress: @escaping (ReadingProgress) -> Void = { _ in }) {
        self.session = session
        self.progress = progress
    }

    /// The result of a scan, and why it ended early if it did.
    package struct Result: Hashable, Sendable {
        /// The systems in the card's order, then those that it does not list.
        package var systems: [SystemScan]
        /// Why the scan ended early.
        package var interruption: ReadingError?
    }

    /// Scans the card; what was found before an interruption is kept.
    package func scan() -> Result {
        var outcome = Result(systems: [], interruption: nil)
        do throws(ReadingError) {
            try SystemTraversal(session: session).run { system throws(ReadingError) in
                let index = outcome.systems.count
                outcome.systems.append(SystemScan(system: system))
                try nodes(of: system, into: &outcome.systems[index])
            }
        } catch {
            outcome.interruption = error
        }
        return outcome
    }

    /// Finds the nodes of one system and their key versions; what was found before an error is kept in `scan`.
    func nodes(of system: SystemHandle, into scan: inout SystemScan) throws(ReadingError) {
        let finder = NodeFinder(session: session, system: system) { count in
            progress(ReadingProgress(system: system.code, nodes: count, blocks: 0))
        }
        defer {
            scan.nodes = finder.nodes
            scan.listing = finder.listing
        }
        try finder.run()
        guard finder.listing != .fixedLayout else { return }
        let versions = try KeyVersionFinder(session: session, system: system)
            .versions(of: [.system] + finder.nodes.map(\.code))
        finder.apply(versions)
        scan.keyVersion = versions[.system]
    }
}

/// The result of a scan in one system.
public struct SystemScan: Hashable, Sendable {
    /// The system, from its answer to its Polling.
    public var system: SystemHandle
    /// The version of the system key; `nil` if the card did not report it.
    public var keyVersion: KeyVersion?
    /// Its nodes in the card's order, the root area first.
    public var nodes: [ScannedNode]
    /// How they were found.
    public var listing: NodeListing

    package init(
        system: SystemHandle, keyVersion: KeyVersion? = nil, nodes: [ScannedNode] = [],
        listing: NodeListing = .searchServiceCode
    ) {
        self.system = system
        self.keyVersion = keyVersion
        self.nodes = nodes
        self.listing = listing
    }

    /// The services in the card's order.
    public var services: [ServiceCode] {
        nodes.compactMap { if case .service(let code) = $0.kind { code } else { nil } }
    }
}
