// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import NFCTransport

/// Finds the nodes of one system by the best way that the card knows. What was found stays in ``nodes`` when the
/// card leaves.
final class NodeFinder {
    private(set) var nodes: [ScannedNode] = []
    private(set) var listing = NodeListing.searchServiceCode
    private let session: CardSession
    private let system: SystemHandle
    private let progress: (Int) -> Void
    private var seen: Set<NodeCode> = []
    private var nesting = Nesting()

    /// No card has more nodes than there are numbers and attributes; an odd card that lists for ever is stopped here.
    private static let mostNodes = 1024 * 20

    init(session: CardSession, system: SystemHandle, progress: @escaping (Int) -> Void = { _ in }) {
        self.session = session
        self.system = system
        self.progress = progress
    }

    /// Lists the nodes: Search Service Code, else Request Code List, else Request Service over the known codes, else
    /// a read of the known open services. FeliCa Lite and Lite-S have a fixed layout and are not asked.
    func run() throws(ReadingError) {
        let pmm = session.target.pmm
        if LiteLayout.applies(to: system.pmm) {
            listing = .fixedLayout
            for service in LiteLayout.services { add(.service(service)) }
            return
        }
        if pmm.mayAnswer(SearchServiceCode.code), try search() { return }
        if pmm.mayAnswer(RequestCodeList.code), try requestCodeList() { return }
        if pmm.mayAnswer(RequestService.code), try requestService() { return }
        try probe()
    }

    /// Takes over key versions that were found by code.
    func apply(_ versions: [NodeCode: KeyVersion]) {
        for index in nodes.indices { nodes[index].keyVersion = versions[nodes[index].code] ?? nodes[index].keyVersion }
    }

    /// The services that cards with this system are known to have.
    private var candidates: [ServiceCode] {
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

    /// Index 0 is the root area on every card and is not asked for.
    ///
    /// - Returns: `false` when the card does not know the command.
    private func search() throws(ReadingError) -> Bool {
        restart(.searchServiceCode)
        var index: UInt16 = 1
        while index < .max {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.searchServiceCode(index: index)
            }
            switch reply {
            case .value(.area(let area)?): if !add(.area(area.start, end: area.end)) { return true }
            case .value(.service(let code)?): if !add(.service(code)) { return true }
            case .value(nil): return true
            case .refused, .silent: return index > 1
            }
            index += 1
        }
        return true
    }

    /// Each area's direct content, page by page.
    private func requestCodeList() throws(ReadingError) -> Bool {
        restart(.requestCodeList)
        return try requestCodeList(of: .root, depth: 0)
    }

    private func requestCodeList(of parent: AreaCode, depth: Int) throws(ReadingError) -> Bool {
        var children: [ScannedNode.Kind] = []
        var page: UInt16 = 1
        while page < 1024 {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.requestCodeList(parent: parent.node, index: page)
            }
            guard case .value(let list) = reply else { return page > 1 }
            children += list.areas.map { .area($0.start, end: $0.end) } + list.services.map { .service($0) }
            guard list.hasMore, !list.areas.isEmpty || !list.services.isEmpty else { break }
            page += 1
        }
        for child in children.sorted(by: NodeFinder.treeOrder) {
            guard add(child), case .area(let start, _) = child, depth < 32 else { continue }
            _ = try requestCodeList(of: start, depth: depth + 1)
        }
        return true
    }

    /// By code, as Search Service Code lists them.
    private static func treeOrder(_ left: ScannedNode.Kind, _ right: ScannedNode.Kind) -> Bool {
        ScannedNode(left).code < ScannedNode(right).code
    }

    /// Asks for the key versions of all codes that are known of this system; `FFFF` says that one is not there.
    private func requestService() throws(ReadingError) -> Bool {
        restart(.requestService)
        var known = false
        for batch in candidates.batches(of: session.nodesPerRequest) {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.requestService(batch.map(\.node))
            }
            guard case .value(let versions) = reply else {
                if known { continue }
                return false
            }
            known = true
            for (code, version) in zip(batch, versions) {
                if let version { add(.service(code), keyVersion: version) }
            }
        }
        return known
    }

    /// Reads block 0 of each open service that is known; only "no such service" says that it is not there.
    private func probe() throws(ReadingError) {
        restart(.readProbe)
        for code in candidates where !code.requiresAuthentication {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.readWithoutEncryption(services: [code], blocks: [BlockListElement(number: 0)])
            }
            switch reply {
            case .value: add(.service(code))
            case .refused(let flags) where flags.flag2 == .noSuchBlock: add(.service(code))
            case .refused, .silent: continue
            }
        }
    }
}
