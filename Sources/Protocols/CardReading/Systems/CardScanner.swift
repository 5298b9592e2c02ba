// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import FeliCa

/// Lists every system, area and service of a FeliCa card.
package struct CardScanner {
    private let session: CardSession
    private let layouts: CardLayouts
    private let budget: ProofBudget
    private let progress: (ReadingProgress) -> Void

    /// Makes a scanner for the card in this session.
    ///
    /// - Parameters:
    ///   - layouts: what to predict the nodes from; without layouts, each is asked for. The result is the same.
    ///   - random: draws the places that are searched after a proof.
    package init(
        session: CardSession, layouts: CardLayouts = .shipped,
        random: some RandomNumberGenerator = SystemRandomNumberGenerator(),
        progress: @escaping (ReadingProgress) -> Void = { _ in }
    ) {
        self.session = session
        self.layouts = layouts
        budget = ProofBudget(random)
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
            let traversal = SystemTraversal(session: session)
            try traversal.run { system throws(ReadingError) in
                let index = outcome.systems.count
                outcome.systems.append(SystemScan(system: system))
                try nodes(of: system, on: traversal.listed, into: &outcome.systems[index])
            }
            if outcome.systems.contains(where: \.isSilent) { outcome.interruption = .cardSilent }
        } catch {
            outcome.interruption = error
        }
        return outcome
    }

    /// Finds the nodes of one system and their key versions; what was found before an error is kept in `scan`.
    ///
    /// - Parameter card: the systems that the card lists.
    func nodes(
        of system: SystemHandle, on card: [SystemCode], into scan: inout SystemScan
    ) throws(ReadingError) {
        let before = session.exchanges
        let versions = KeyVersionFinder(session: session, system: system)
        let finder = NodeFinder(
            session: session, system: system, candidates: layouts.candidates(for: system.code, of: card),
            versions: versions, budget: budget, hasSearched: budget.cardSearches
        ) { count in
            progress(ReadingProgress(system: system.code, nodes: count, blocks: 0))
        }
        defer {
            finder.apply(versions.found)
            scan.keyVersion = versions.found[.system]
            scan.nodes = finder.nodes
            scan.listing = finder.listing
            scan.isProved = finder.isProved
            scan.searchedNodes = finder.searchedNodes
            budget.cardSearches = finder.searchWorks
            scan.isSilent = !finder.hasEnd
            scan.exchanges = session.exchanges - before
        }
        try finder.run()
        guard finder.listing != .fixedLayout else { return }
        _ = try versions.versions(of: [.system] + finder.nodes.map(\.code))
    }
}

/// The result of a scan in one system.
public struct SystemScan: Hashable, Sendable {
    /// The system, from its answer to its Polling.
    public var system: SystemHandle
    /// The version of the system key; `nil` if the card did not report it.
    public var keyVersion: KeyVersion?
    /// Its nodes, ascending by code: the root area first.
    public var nodes: [ScannedNode]
    /// How they were found.
    public var listing: NodeListing
    /// Whether a prediction of the nodes was proved, instead of asking for each; the nodes are the same.
    public internal(set) var isProved = false
    /// How many of the proved nodes the card itself listed; it confirmed the others. `nil` if nothing was proved.
    public internal(set) var searchedNodes: Int?
    /// Whether no answer of the card shows where the list of its nodes ends, so that more may exist.
    public internal(set) var isSilent = false
    /// The number of exchanges with the card that it took.
    public internal(set) var exchanges = 0

    package init(
        system: SystemHandle, keyVersion: KeyVersion? = nil, nodes: [ScannedNode] = [],
        listing: NodeListing = .searchServiceCode
    ) {
        self.system = system
        self.keyVersion = keyVersion
        self.nodes = nodes
        self.listing = listing
    }

    /// The services, ascending by code.
    public var services: [ServiceCode] {
        nodes.compactMap { if case .service(let code) = $0.kind { code } else { nil } }
    }
}
