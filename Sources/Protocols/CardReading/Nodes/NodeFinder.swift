// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import FeliCa
internal import ReaderCore

/// Finds the nodes of one system by the best method that the card supports.
///
/// What was found stays in ``nodes`` when the card leaves.
final class NodeFinder {
    private(set) var nodes: [ScannedNode] = []
    private(set) var listing = NodeListing.searchServiceCode
    /// Whether the nodes were proved, and not asked for one by one.
    private(set) var isProved = false
    /// How many nodes the card itself listed, if they were proved; the others were only confirmed.
    private(set) var searchedNodes: Int?
    /// Whether an answer of the card shows where the list ends; silence does not.
    private(set) var hasEnd = false
    /// What a method found that the card stopped answering.
    private var leftovers: [ScannedNode] = []
    private let session: CardSession
    private let system: SystemHandle
    private let candidates: LayoutCandidates
    private let versions: KeyVersionFinder
    private let budget: ProofBudget
    private let hasSearched: Bool
    private let progress: (Int) -> Void
    private var seen: Set<NodeCode> = []
    private var nesting = Nesting()
    private var searches: [UInt16: CardReply<SearchedNode?>] = [:]

    /// The maximum number of nodes, the numbers times the attributes; stops a faulty card that lists endlessly.
    private static let mostNodes = 1024 * 20

    /// - Parameters:
    ///   - candidates: the layouts that the nodes may be predicted from.
    ///   - versions: sends Request Service, and remembers the key versions.
    ///   - budget: what the proofs of the card may still cost.
    ///   - hasSearched: whether another system of the card answered Search Service Code.
    init(
        session: CardSession, system: SystemHandle, candidates: LayoutCandidates, versions: KeyVersionFinder,
        budget: ProofBudget, hasSearched: Bool,
        progress: @escaping (Int) -> Void = { _ in }
    ) {
        self.session = session
        self.system = system
        self.candidates = candidates
        self.versions = versions
        self.budget = budget
        self.hasSearched = hasSearched
        self.progress = progress
    }

    /// Lists the nodes with Search Service Code, else Request Code List, else Request Service, else by reading; then sorts
    /// them by code.
    ///
    /// Request Service is sent for the known codes, and a read for the known open services. FeliCa Lite and Lite-S have
    /// a fixed layout and are not asked.
    ///
    /// A method that the card stops answering shows no end: the next one is tried, and what was found is kept.
    func run() throws(ReadingError) {
        defer {
            for node in leftovers { add(node.kind, keyVersion: node.keyVersion) }
            sort()
        }
        let pmm = session.target.pmm
        if LiteLayout.applies(to: system.pmm) {
            listing = .fixedLayout
            hasEnd = true
            for service in LiteLayout.services { add(.service(service)) }
            return
        }
        if pmm.mayAnswer(SearchServiceCode.code) {
            do throws(ReadingError) {
                isProved = try prove()
            } catch {
                // The transcript of a walk has other questions.
                guard case .reader(.outOfScript) = error else { throw error }
            }
            hasEnd = isProved
            if isProved { return }
            if try searchOrProve() { return }
        }
        if pmm.mayAnswer(RequestCodeList.code), try requestCodeList() { return }
        if pmm.mayAnswer(RequestService.code), try requestService() { return }
        try probe()
    }

    /// Whether the card answered Search Service Code in this system, or in another one before.
    var searchWorks: Bool {
        hasSearched
            || searches.values.contains {
                if case .value = $0 { true } else { false }
            }
    }

    /// Keeps what was found with a method that the card no longer answers.
    private func keepLeftovers() { leftovers += nodes }

    /// Applies key versions that were found by code.
    func apply(_ versions: [NodeCode: KeyVersion]) {
        for index in nodes.indices { nodes[index].keyVersion = versions[nodes[index].code] ?? nodes[index].keyVersion }
    }

    /// Puts the nodes in the order of their codes, whatever the card's order is: the order cannot be proved.
    private func sort() {
        nodes.sort { $0.code < $1.code }
        var nesting = Nesting()
        for index in nodes.indices { nodes[index].depth = nesting.depth(of: nodes[index].kind) }
    }

    /// The services that cards with this system are known to have.
    private var knownServices: [ServiceCode] {
        KnownService.candidateNodes(in: system.code).map { ServiceCode(rawValue: $0.rawValue) }.filter {
            $0.kind != nil
        }
    }

    @discardableResult
    private func add(_ kind: ScannedNode.Kind, keyVersion: KeyVersion? = nil) -> Bool {
        let node = ScannedNode(kind, keyVersion: keyVersion, depth: nesting.depth(of: kind))
        guard nodes.count < NodeFinder.mostNodes, seen.insert(node.code).inserted else { return false }
        nodes.append(node)
        progress(nodes.count)
        return true
    }

    private func restart(_ listing: NodeListing) {
        self.listing = listing
        nodes = []
        seen = []
        nesting = Nesting()
        add(.area(.root, end: AreaCode(rawValue: 0xFFFE)))
    }

    /// Asks for each node. The transcript of a proof has other questions, if the card was slow, which a transcript does not show:
    /// then the nodes are proved.
    private func searchOrProve() throws(ReadingError) -> Bool {
        do throws(ReadingError) {
            return try search()
        } catch {
            guard case .reader(.outOfScript) = error else { throw error }
            do throws(ReadingError) { isProved = try prove(isForced: true) } catch { isProved = false }
            guard isProved else { throw error }
            hasEnd = true
            return true
        }
    }

    /// Proves the nodes by a few searches and the key versions, which are needed in any case.
    ///
    /// - Parameter isForced: whether to prove them although a walk is expected to take less time.
    /// - Returns: `false` if the answers contradict each other or the card does not support the commands.
    private func prove(isForced: Bool = false) throws(ReadingError) -> Bool {
        guard session.target.pmm.mayAnswer(RequestService.code),
            var proof = NodeProof(
                candidates, nodesPerRequest: session.nodesPerRequest,
                time: ExchangeTime(system.pmm, at: session.bitRate, session.pace), hasSearched: hasSearched,
                budget: budget, isForced: isForced)
        else { return false }
        restart(.searchServiceCode)
        while true {
            proof.time = ExchangeTime(system.pmm, at: session.bitRate, session.pace)
            switch proof.next() {
            case .search(let place):
                guard let found = try searched(place, or: proof.otherSpots) else {
                    proof.endSpotChecks()
                    continue
                }
                guard case .value(let node) = found.reply else { return false }
                proof.searched(found.place, node.map(NodeProof.Node.init))
            case .confirm(let codes):
                let nodes = codes.map { NodeCode(rawValue: $0) }
                let isAnswered = try versions.request(nodes)
                let present = nodes.filter { versions.found[$0] != nil }
                proof.confirmed(present.map(\.rawValue), of: codes, isAnswered: isAnswered)
            case .proved:
                searchedNodes = proof.searchedNodes
                return true
            case .walk: return false
            }
            nodes = proof.nodes.map { ScannedNode($0.kind) }
            progress(nodes.count)
        }
    }

    /// Searches at a place. A recording has other random places than the one that was drawn: those are tried, too.
    ///
    /// - Returns: `nil` if a recording has none of them.
    private func searched(
        _ place: Int, or others: [Int]
    ) throws(ReadingError) -> (place: Int, reply: CardReply<SearchedNode?>)? {
        for other in [place] + others {
            guard let index = UInt16(exactly: other) else { break }
            do throws(ReadingError) {
                return (other, try searched(index))
            } catch {
                guard !others.isEmpty, case .reader(.outOfScript) = error else { throw error }
            }
        }
        guard others.isEmpty else { return nil }
        return (place, .silent)
    }

    /// Index 0 is the root area on every card and is not requested.
    ///
    /// - Returns: `false` if the card does not support the command.
    private func search() throws(ReadingError) -> Bool {
        restart(.searchServiceCode)
        var index: UInt16 = 1
        while index < .max {
            switch try searched(index) {
            case .value(let node?): hasEnd = !add(node.kind)
            case .value(nil): hasEnd = true
            case .refused:
                hasEnd = index > 1
                if !hasEnd { return false }
            case .silent:
                keepLeftovers()
                return false
            }
            if hasEnd { return true }
            index += 1
        }
        hasEnd = true
        return true
    }

    /// Returns the answer to Search Service Code with an index, which is sent once.
    private func searched(_ index: UInt16) throws(ReadingError) -> CardReply<SearchedNode?> {
        if let known = searches[index] { return known }
        let reply = try session.ask(system) { felica throws(FeliCaError) in
            try felica.searchServiceCode(index: index)
        }
        searches[index] = reply
        return reply
    }

    /// Lists each area's direct contents, page by page.
    private func requestCodeList() throws(ReadingError) -> Bool {
        restart(.requestCodeList)
        var isWhole = true
        guard try requestCodeList(of: .root, depth: 0, &isWhole) else { return false }
        hasEnd = isWhole
        if !isWhole { keepLeftovers() }
        return isWhole
    }

    /// - Parameter isWhole: becomes `false` if the card stopped answering.
    private func requestCodeList(
        of parent: AreaCode, depth: Int, _ isWhole: inout Bool
    ) throws(ReadingError) -> Bool {
        var children: [ScannedNode.Kind] = []
        var page: UInt16 = 1
        while page < 1024 {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.requestCodeList(parent: parent.node, index: page)
            }
            guard case .value(let list) = reply else {
                if case .silent = reply, page > 1 || depth > 0 { isWhole = false }
                guard page > 1 else { return false }
                break
            }
            children += list.areas.map { .area($0.start, end: $0.end) } + list.services.map { .service($0) }
            guard list.hasMore, !list.areas.isEmpty || !list.services.isEmpty else { break }
            page += 1
        }
        for child in children.sorted(by: NodeFinder.treeOrder) {
            guard add(child), case .area(let start, _) = child, depth < 32 else { continue }
            _ = try requestCodeList(of: start, depth: depth + 1, &isWhole)
        }
        return true
    }

    /// Orders by code, as Search Service Code lists them.
    private static func treeOrder(_ left: ScannedNode.Kind, _ right: ScannedNode.Kind) -> Bool {
        ScannedNode(left).code < ScannedNode(right).code
    }

    /// Requests the key versions of all known codes of this system; `FFFF` means that a node does not exist.
    ///
    /// Without known codes, the root area shows whether the card answers at all.
    private func requestService() throws(ReadingError) -> Bool {
        restart(.requestService)
        var known = false
        guard !knownServices.isEmpty else {
            hasEnd = try versions.request([AreaCode.root.node])
            return hasEnd
        }
        for batch in knownServices.batches(of: session.nodesPerRequest) {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.requestService(batch.map(\.node))
            }
            guard case .value(let versions) = reply else {
                if known { continue }
                return false
            }
            (known, hasEnd) = (true, true)
            for (code, version) in zip(batch, versions) {
                if let version { add(.service(code), keyVersion: version) }
            }
        }
        return known
    }

    /// Reads block 0 of each known open service; only "no such service" means that it does not exist.
    private func probe() throws(ReadingError) {
        restart(.readProbe)
        for code in knownServices where !code.requiresAuthentication {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.readWithoutEncryption(services: [code], blocks: [BlockListElement(number: 0)])
            }
            if case .silent = reply {} else { hasEnd = true }
            switch reply {
            case .value: add(.service(code))
            case .refused(let flags) where flags.flag2 == .noSuchBlock: add(.service(code))
            case .refused, .silent: continue
            }
        }
    }
}

/// How the nodes of a system were found; if the card cannot list them, the list may be incomplete.
@nonexhaustive
public enum NodeListing: String, Hashable, Sendable {
    /// Listed by Search Service Code: complete.
    case searchServiceCode
    /// Listed by Request Code List: complete.
    case requestCodeList
    /// Found by Request Service with the known codes: others may exist.
    case requestService
    /// Found by trying to read the known codes: others may exist.
    case readProbe
    /// The fixed nodes of FeliCa Lite and Lite-S.
    case fixedLayout

    /// Whether the card itself reported that there are no other nodes.
    public var isComplete: Bool {
        switch self {
        case .searchServiceCode, .requestCodeList, .fixedLayout: true
        case .requestService, .readProbe: false
        }
    }
}

extension SearchedNode {
    fileprivate var kind: ScannedNode.Kind {
        switch self {
        case .area(let area): .area(area.start, end: area.end)
        case .service(let code): .service(code)
        }
    }
}

extension NodeProof.Node {
    fileprivate init(_ node: SearchedNode) {
        switch node {
        case .area(let area): self.init(code: area.start.rawValue, end: area.end.rawValue)
        case .service(let code): self.init(code: code.rawValue)
        }
    }

    fileprivate var kind: ScannedNode.Kind {
        guard let end else { return .service(ServiceCode(rawValue: code)) }
        return .area(AreaCode(rawValue: code), end: AreaCode(rawValue: end))
    }
}

/// A node found by a scan.
public struct ScannedNode: Hashable, Sendable {
    /// The kind of node.
    public var kind: Kind
    /// The version of its key; `nil` if the card did not report it.
    public var keyVersion: KeyVersion?
    /// The number of areas that contain it; 0 for the root area.
    public var depth: Int

    /// The kinds of node.
    public enum Kind: Hashable, Sendable {
        /// An area, with the last code that belongs to it.
        case area(AreaCode, end: AreaCode)
        /// A service.
        case service(ServiceCode)
    }

    package init(_ kind: Kind, keyVersion: KeyVersion? = nil, depth: Int = 0) {
        self.kind = kind
        self.keyVersion = keyVersion
        self.depth = depth
    }

    /// Its code.
    public var code: NodeCode {
        switch kind {
        case .area(let code, _): code.node
        case .service(let code): code.node
        }
    }
}

/// Computes the depth of nodes that a card lists flat, each area before its contents.
struct Nesting {
    private var ends: [UInt16] = []

    /// Returns the depth of the next node in the list: how many of the areas listed before still contain it.
    mutating func depth(of node: ScannedNode.Kind) -> Int {
        let code: UInt16 =
            switch node {
            case .area(let start, _): start.rawValue
            case .service(let service): service.rawValue
            }
        while let end = ends.last, end < code { ends.removeLast() }
        defer { if case .area(_, let end) = node { ends.append(end.rawValue) } }
        return ends.count
    }
}

/// The fixed layout of FeliCa Lite and Lite-S.
enum LiteLayout {
    /// The IC types that have it: Lite (F0), Lite-S (F1) and Link in Lite-S mode (F2).
    static func applies(to pmm: PMm) -> Bool { (0xF0...0xF2).contains(pmm.icType) }

    /// The read-only service; all blocks are read through it.
    static let readOnly = ServiceCode(rawValue: 0x000B)

    /// Both services, over the same blocks.
    static let services = [ServiceCode(rawValue: 0x0009), readOnly]

    /// Returns the blocks that exist and are not write-only.
    static func readableBlocks(pmm: PMm) -> [UInt16] {
        LiteBlock.readableNumbers(liteS: pmm.icType != 0xF0)
    }
}
