// SPDX-License-Identifier: Apache-2.0

public import CardModel
package import FeliCa
internal import ReaderCore

/// A DES key that is changed.
public struct StandardKeyChange: Hashable, Sendable {
    /// The service, the area, or the system (`FFFF`).
    public let node: NodeCode
    /// The version of the key that the card has.
    public let from: KeyVersion
    /// The version of the new key; the same if the card has the new key already.
    public let to: KeyVersion

    /// Makes a change, such as one of a journal.
    public init(node: NodeCode, from: KeyVersion, to: KeyVersion) {
        (self.node, self.from, self.to) = (node, from, to)
    }
}

/// A step of a key change or an issuance, as the journal has it.
@nonexhaustive
public enum StandardStep: Hashable, Sendable {
    /// The system code and the key of area 0000 are about to be registered on a blank card.
    case issueID
    /// This area is about to be registered.
    case area(NodeCode)
    /// This service is about to be registered.
    case service(NodeCode)
    /// What was registered is about to be made permanent.
    case commit
    /// The card has all that was registered after it had lost its power.
    case committed
    /// The data of this service is about to be written.
    case data(NodeCode)
    /// The key of this node is about to be changed.
    case key(NodeCode)
    /// The new key of this node was proved by both sides after the card had lost its session.
    case keyProved(NodeCode)
    /// All new keys were proved, and the card tells their versions.
    case done
}

extension StandardStep {
    /// Reads a step of a journal; `nil` for one that is unknown.
    package init?(_ word: String, _ node: NodeCode?) {
        switch (word, node) {
        case ("issueID", nil): self = .issueID
        case ("area", let node?): self = .area(node)
        case ("service", let node?): self = .service(node)
        case ("commit", nil): self = .commit
        case ("committed", nil): self = .committed
        case ("data", let node?): self = .data(node)
        case ("key", let node?): self = .key(node)
        case ("keyProved", let node?): self = .keyProved(node)
        case ("done", nil): self = .done
        default: return nil
        }
    }

    /// Its name in a journal.
    package var word: String {
        switch self {
        case .issueID: "issueID"
        case .area: "area"
        case .service: "service"
        case .commit: "commit"
        case .committed: "committed"
        case .data: "data"
        case .key: "key"
        case .keyProved: "keyProved"
        case .done: "done"
        }
    }

    /// The node that it is about.
    package var node: NodeCode? {
        switch self {
        case .area(let node), .service(let node), .data(let node), .key(let node), .keyProved(let node): node
        case .issueID, .commit, .committed, .done: nil
        }
    }
}

/// Changes DES keys of a FeliCa Standard, one by one: services first, then areas from the innermost, the system last.
///
/// The old keys are proved before the first change, and each new key right after its own, in a new session. The version that
/// the card tells shows which key it has, so that an interrupted change goes on where it was.
package struct KeyChanger {
    private let session: CardSession
    private let system: SystemHandle
    private let old: StandardKeys
    private let new: StandardKeys
    private let reading: StandardReading
    private let lift: () throws(KeyChangeError) -> Void
    private let journal: (StandardStep) throws(KeyChangeError) -> Void

    /// - Parameters:
    ///   - keyring: the keys that the card has or had.
    ///   - new: the keys that it gets, each with its version.
    ///   - lift: has the card lifted and put back, for readers that cannot switch their field off.
    ///   - journal: stores each step where it survives the loss of power, before it is taken.
    package init(
        session: CardSession, system: SystemHandle, keyring: StandardKeyring, new: StandardKeys,
        lift: @escaping () throws(KeyChangeError) -> Void = { () throws(KeyChangeError) in throw .keptPower },
        journal: @escaping (StandardStep) throws(KeyChangeError) -> Void
    ) {
        (self.session, self.system, self.old, self.new) = (session, system, keyring.keys, new)
        (self.lift, self.journal) = (lift, journal)
        reading = StandardReading(session: session, system: system, keyring: keyring)
    }

    /// The system as it is, and what is to change.
    package struct Plan {
        /// In the order in which they are made; those that the card has already as well.
        package let changes: [StandardKeyChange]
        package let nodes: [ScannedNode]
        package let versions: [NodeCode: KeyVersion]
        fileprivate let areas: [AreaRange]
    }

    // MARK: Looking

    /// Looks at the card and checks everything that can be checked without a key; nothing is sent that needs one.
    ///
    /// - Parameter wanted: the changes of an interrupted run; `nil` for a new one.
    package func plan(resuming wanted: [StandardKeyChange]? = nil) throws(KeyChangeError) -> Plan {
        guard system.isStandard else { throw .standard(.notStandard) }
        let (nodes, versions) = try look()
        let areas = nodes.compactMap { node -> AreaRange? in
            guard case .area(let start, let end) = node.kind else { return nil }
            return AreaRange(start: start, end: end)
        }
        var changes: [StandardKeyChange] = []
        for node in new.nodes(in: system.code, card: card) {
            if let change = try change(of: node, versions, isResumed: wanted != nil) { changes.append(change) }
        }
        if let wanted,
            Set(wanted.map { [$0.node.rawValue, $0.to.rawValue] })
                != Set(changes.map { [$0.node.rawValue, $0.to.rawValue] })
        {
            throw .otherPlan
        }
        guard !changes.isEmpty else { throw .nothingToChange }
        func depth(_ node: NodeCode) -> Int { areas.count { $0.contains(node) } }
        func rank(_ node: NodeCode) -> (Int, Int, NodeCode) {
            if node == .system { return (2, 0, node) }
            let isArea = areas.contains { $0.start.node == node }
            return (isArea ? 1 : 0, isArea ? -depth(node) : 0, node)
        }
        let plan = Plan(
            changes: changes.sorted { rank($0.node) < rank($1.node) }, nodes: nodes, versions: versions, areas: areas)
        for change in plan.changes { _ = try access(to: change.node, plan, versions) }
        return plan
    }

    private var card: IDm { session.target.idm }

    private func look() throws(KeyChangeError) -> (nodes: [ScannedNode], versions: [NodeCode: KeyVersion]) {
        try reading { () throws(ReadingError) in
            var scan = SystemScan(system: system)
            scan.nodes = try session.nodes(of: system)
            let finder = StandardVersionFinder(session, system)
            let versions = try finder.versions(of: [.system] + scan.nodes.map(\.code))
            return (scan.nodes, versions.isDES112 ? [:] : versions.des ?? [:])
        }
    }

    private func change(
        of node: NodeCode, _ versions: [NodeCode: KeyVersion], isResumed: Bool
    ) throws(KeyChangeError) -> StandardKeyChange? {
        guard new.entry(node, in: system.code, .aes, card: card) == nil else { throw .unsupported(node) }
        guard let entry = new.entry(node, in: system.code, .des, card: card) else { return nil }
        let before = old.entry(node, in: system.code, .des, card: card)
        if let before, before.key.isSame(as: entry.key) { return nil }
        guard node != AreaCode.root.node else { throw .unsupported(node) }
        guard !entry.key.isWeak else { throw .weakKey(node) }
        guard let found = versions[node] else { throw .noSuchNode(node) }
        guard let version = entry.version, version.rawValue != 0xFFFF, version != before?.version,
            isResumed || version != found
        else { throw .sameVersion(node) }
        guard let before else { throw .key(node, .noKey) }
        if version != found, let wanted = before.version, wanted != found { throw .key(node, .keyVersion) }
        return StandardKeyChange(node: node, from: found, to: version)
    }

    // MARK: Changing

    /// Changes the keys, or goes on where that was interrupted.
    package func run(_ plan: Plan) throws(KeyChangeError) {
        var versions = plan.versions
        for change in plan.changes { try prove(change.node, plan, versions) }
        for change in plan.changes {
            if versions[change.node] != change.to {
                try journal(.key(change.node))
                try send(change, plan, versions)
                versions[change.node] = change.to
                try prove(change.node, plan, versions, isNew: true)
            }
            try journal(.keyProved(change.node))
        }
        let (_, found) = try look()
        for change in plan.changes where found[change.node] != change.to { throw .notVerified(change.node) }
        try journal(.done)
    }

    /// Proves the key that the card has of a node, in a session of its own, and has the card forget the session.
    private func prove(
        _ node: NodeCode, _ plan: Plan, _ versions: [NodeCode: KeyVersion], isNew: Bool = false
    ) throws(KeyChangeError) {
        do throws(KeyChangeError) {
            _ = try open(node, plan, versions)
        } catch .key(_, .wrongKey) where isNew {
            throw .notVerified(node)
        }
        try reset()
    }

    private func open(
        _ node: NodeCode, _ plan: Plan, _ versions: [NodeCode: KeyVersion]
    ) throws(KeyChangeError) -> StandardSession {
        let access = try access(to: node, plan, versions)
        switch try reading({ () throws(ReadingError) in try reading.attempt(access) }) {
        case .opened(let session): return session
        case .refused(let reason): throw .key(node, reason)
        case .failed(let end):
            guard let error = StandardKeyError(end, ServiceCode(rawValue: node.rawValue)) else {
                throw .silent(node)
            }
            throw .standard(error)
        }
    }

    /// Sends a new key. If the answer is lost, the version tells whether the card has it; if not, it is sent once more.
    private func send(
        _ change: StandardKeyChange, _ plan: Plan, _ versions: [NodeCode: KeyVersion]
    ) throws(KeyChangeError) {
        let node = change.node
        guard let key = new.entry(node, in: system.code, .des, card: card)?.key,
            let sealed = key.sealed(
                version: change.to, old: try self.key(of: node, plan, versions),
                parent: try self.key(of: parent(of: node, plan), plan, versions))
        else { throw .unsupported(node) }
        for _ in 0..<2 {
            var open = try open(node, plan, versions)
            try reading { () throws(ReadingError) in try session.checkCancellation() }
            var failure: StandardError?
            do throws(StandardError) {
                try open.changeKey(of: node, to: sealed, version: change.to)
            } catch {
                failure = error
            }
            try reset()
            guard let failure else { return }
            if case .command(.status(let flags)) = failure { throw .refused(node, flags) }
            let found = try look().versions[node]
            if found == change.to { return }
            guard found == change.from else { throw .notVerified(node) }
        }
        throw .silent(node)
    }

    /// Ends the session, so that the next one proves what the card has kept.
    private func reset() throws(KeyChangeError) {
        try reading { () throws(ReadingError) in try reading.leave() }
        guard session.staysAuthenticated else { return }
        try lift()
        session.authenticated = nil
    }

    // MARK: Keys

    /// The key that the card has of a node, by the version that it tells.
    private func key(
        of node: NodeCode, _ plan: Plan, _ versions: [NodeCode: KeyVersion]
    ) throws(KeyChangeError) -> StandardKey {
        let isNew = plan.changes.contains { $0.node == node && $0.to == versions[node] }
        guard let entry = (isNew ? new : old).entry(node, in: system.code, .des, card: card) else {
            throw .key(node, .noKey)
        }
        if !isNew, let wanted = entry.version, let found = versions[node], wanted != found {
            throw .key(node, .keyVersion)
        }
        return entry.key
    }

    private func path(to node: NodeCode, _ plan: Plan) -> [NodeCode] {
        if node == .system { return [AreaCode.root.node] }
        return plan.areas.filter { $0.contains(node) }.sorted { ($0.start, $1.end) < ($1.start, $0.end) }.map(
            \.start.node)
    }

    /// The node whose key wraps the new one: the area around it; of the system, itself.
    private func parent(of node: NodeCode, _ plan: Plan) -> NodeCode {
        node == .system ? node : path(to: node, plan).last { $0 != node } ?? .system
    }

    /// How a session opens a node, which may be a system, an area or a service: always by the list of services.
    private func access(
        to node: NodeCode, _ plan: Plan, _ versions: [NodeCode: KeyVersion]
    ) throws(KeyChangeError) -> StandardAccess {
        func layer(_ node: NodeCode) throws(KeyChangeError) -> StandardLayer {
            StandardLayer(node, try key(of: node, plan, versions))
        }
        var areas: [StandardLayer] = []
        for area in path(to: node, plan) { areas.append(try layer(area)) }
        guard
            let access = StandardAccess.des(
                system: try key(of: .system, plan, versions), areas: areas, services: [try layer(node)])
        else { throw .unsupported(node) }
        return access
    }

    private func reading<Value>(_ body: () throws(ReadingError) -> Value) throws(KeyChangeError) -> Value {
        do throws(ReadingError) {
            return try body()
        } catch {
            throw .reading(error)
        }
    }
}
