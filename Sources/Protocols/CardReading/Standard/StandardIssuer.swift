// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
package import CardModel
package import FeliCa
internal import ReaderCore

/// Issues a blank FeliCa Standard with keys of DES: registers a profile's areas and services, makes them permanent, sets
/// the system's key, writes the data and proves every key.
///
/// The seller's keys are proved before the first step. Everything is registered in one session. Whatever interrupts it, the
/// card is looked at again: it is blank, or it has a part of the profile, and only what is missing is done. Each key
/// is the seller's or the new one. Register Issue ID, which would erase an issued card, is sent to a blank one only.
package struct StandardIssuer {
    private let session: CardSession
    private let profile: StandardProfile
    private let factory, new: StandardKeys
    private let retries: Bool
    private let failures: any StandardFailures
    private let lift: () throws(KeyChangeError) -> Void
    private let journal: (StandardStep) throws(KeyChangeError) -> Void

    /// How often registering begins again after an answer was lost.
    private static let tries = 4
    /// The system of a blank card.
    package static let blank = SystemCode.any

    /// - Parameters:
    ///   - keyring: the seller's keys: `FFFF` and `0000` of system FFFF.
    ///   - new: the keys that the card gets, in the profile's system.
    ///   - lift: has the card lifted and put back, for readers that cannot switch their field off.
    ///   - journal: stores each step where it survives the loss of power, before it is taken.
    package init(
        session: CardSession, profile: StandardProfile, keyring: StandardKeyring, new: StandardKeys,
        lift: @escaping () throws(KeyChangeError) -> Void = { () throws(KeyChangeError) in throw .keptPower },
        journal: @escaping (StandardStep) throws(KeyChangeError) -> Void
    ) {
        (self.session, self.profile, self.factory, self.new) = (session, profile, keyring.keys, new)
        (self.retries, self.failures) = (keyring.retries, keyring.failures)
        (self.lift, self.journal) = (lift, journal)
    }

    /// The card as it is.
    package struct State: Hashable {
        package fileprivate(set) var system: SystemHandle
        /// The nodes with their versions, and the system's.
        package fileprivate(set) var versions: [NodeCode: KeyVersion] = [:]
        /// The blocks of a blank card, where it tells.
        package fileprivate(set) var free: Int?
        fileprivate var ends: [NodeCode: AreaCode] = [:]

        /// Whether nothing is registered.
        package fileprivate(set) var isBlank = false
    }

    // MARK: Looking

    /// Looks at the card and checks all that can be checked without a key; nothing is sent that needs one.
    ///
    /// - Parameter resumes: whether the card may have a part of the profile, or all of it.
    package func plan(resumes: Bool = false) throws(KeyChangeError) -> State {
        try checkKeys()
        let state = try look()
        guard state.isBlank || resumes else { throw .locked }
        return state
    }

    private var card: IDm { session.target.idm }

    private func checkKeys() throws(KeyChangeError) {
        for node in [.system, AreaCode.root.node] where factory.entry(node, in: Self.blank, .des, card: card) == nil {
            throw .key(node, .noKey)
        }
        for node in [.system] + profile.keyedNodes {
            guard new.entry(node, in: profile.system, .aes, card: card) == nil else { throw .unsupported(node) }
            guard let entry = new.entry(node, in: profile.system, .des, card: card) else { throw .key(node, .noKey) }
            guard !entry.key.isWeak else { throw .weakKey(node) }
            if node == .system {
                guard let version = entry.version, version.rawValue != 0xFFFF else { throw .sameVersion(node) }
            } else if let version = entry.version, version != profile.versions[node] {
                throw .key(node, .keyVersion)
            }
        }
        guard try !key(.system).isSame(as: try factoryKey(.system)) else { throw .nothingToChange }
    }

    private func look() throws(KeyChangeError) -> State {
        let state = try reading { () throws(ReadingError) in
            guard let found = try session.poll(.any, requestCode: 1), found.idm.isSameCard(as: card) else {
                throw .cardLost
            }
            var system = SystemHandle(code: .any, idm: found.idm, pmm: found.pmm)
            let told = found.requestData.map { SystemCode(rawValue: $0) }
            if case .value(let codes) = try session.ask(
                system,
                { felica throws(FeliCaError) in
                    try felica.requestSystemCode()
                })
            {
                // A second system was issued by somebody else.
                system.code = codes.count == 1 ? codes[0] : SystemCode(rawValue: 0)
            } else if let told {
                system.code = told
            }
            guard system.code == Self.blank || system.code == profile.system else { return State(system: system) }
            var state = State(system: system, isBlank: system.code == Self.blank)
            if state.isBlank {
                let reply = try session.ask(system, silences: 1) { felica throws(FeliCaError) in
                    try felica.requestBlockInformationEx([AreaCode.root.node])
                }
                if case .value(let counts) = reply { state.free = counts.first.map { Int($0.free) } }
            }
            let nodes = try session.nodes(of: system)
            let versions = try StandardVersionFinder(session, system).versions(of: [.system] + nodes.map(\.code))
            for (node, version) in versions.versions(.des) ?? [:] { state.versions[node] = version }
            for node in nodes {
                if case .area(_, let end) = node.kind { state.ends[node.code] = end }
                if state.versions[node.code] == nil { state.versions[node.code] = KeyVersion(rawValue: 0) }
            }
            return state
        }
        try check(state)
        return state
    }

    /// Refuses a card that is neither blank nor a part of the profile.
    private func check(_ state: State) throws(KeyChangeError) {
        guard state.isBlank || state.system.code == profile.system else { throw .locked }
        guard state.system.isStandard else { throw .standard(.notStandard) }
        let nodes = Set(state.versions.keys).subtracting([.system])
        if state.isBlank {
            guard nodes.isSubset(of: [AreaCode.root.node]) else { throw .locked }
            if let free = state.free, free < profile.blocks {
                throw .tooFewBlocks(needed: profile.blocks, free: free)
            }
            guard new.entry(.system, in: profile.system, .des, card: card)?.version != state.versions[.system] else {
                throw .sameVersion(.system)
            }
            for node in [.system, AreaCode.root.node] {
                let wanted = factory.entry(node, in: Self.blank, .des, card: card)?.version
                if let wanted, let found = state.versions[node], wanted != found { throw .key(node, .keyVersion) }
            }
        } else {
            guard nodes.allSatisfy({ profile.versions[$0] == state.versions[$0] }) else { throw .locked }
            for area in profile.areas where area.code != .root {
                guard state.ends[area.code.node] ?? area.end == area.end else { throw .locked }
            }
        }
    }

    /// The nodes that the card does not have yet, in the order in which they are registered.
    private func missing(_ state: State) -> [NodeCode] {
        let all = profile.areas.map(\.code.node) + profile.services.flatMap(\.codes).map(\.node)
        return state.isBlank ? all : all.filter { state.versions[$0] == nil }
    }

    // MARK: Issuing

    /// Issues the card, or goes on where that was interrupted.
    ///
    /// - Parameter progress: the steps of the journal of an interrupted run.
    package func run(resuming progress: Set<StandardStep> = []) throws(KeyChangeError) {
        let state = try register(progress)
        try setSystemKey(state)
        let system = state.system
        let keyring = StandardKeyring(try ownKeys(), retries: retries, failures: failures)
        for service in profile.services { try write(service, system, keyring) }
        try prove(system, keyring)
        try cutPower()
        try verify(keyring)
        try journal(.done)
    }

    /// Registers what is missing until the card keeps all of it without power.
    private func register(_ progress: Set<StandardStep>) throws(KeyChangeError) -> State {
        // Whether Change System Block may have been carried out, and whether it was.
        var (wasSent, isCommitted) = (progress.contains(.commit), progress.contains(.committed))
        var (failure, silences) = (KeyChangeError.notRegistered(.system, nil), 0)
        for _ in 1...Self.tries {
            var state = try look()
            let isComplete = missing(state).isEmpty
            if isCommitted, isComplete { return state }
            // Without power, the card may be blank again and have its old code.
            state.system.code = .any
            isCommitted = false
            var end = Registration.lost
            do throws(KeyChangeError) {
                end = try register(state)
            } catch .notRegistered(.system, .some) where isComplete && wasSent {
                // Nothing is left to be made permanent.
                end = .done
            }
            if end == .unanswered { (silences, wasSent) = (silences + 1, true) }
            // A card may also leave the command without an answer then, in each of the sessions that it opens.
            guard end == .done || isComplete && silences >= Self.silencesOfCommitted else {
                try reset(state.system)
                continue
            }
            try cutPower()
            let kept = try look()
            guard let lost = missing(kept).first else {
                try journal(.committed)
                return kept
            }
            failure = .notKept(lost)
        }
        throw failure
    }

    /// How registering in one session ended.
    private enum Registration {
        case done
        /// An answer was lost before Change System Block was sent.
        case lost
        /// That of Change System Block did not come.
        case unanswered
    }

    /// So many unanswered Change System Blocks say that an earlier one was carried out: one may be lost, or two.
    private static let silencesOfCommitted = 3

    /// Registers what is missing in one session, and makes it permanent.
    private func register(_ state: State) throws(KeyChangeError) -> Registration {
        let root = AreaCode.root.node
        let present = state.isBlank ? try factoryKey(root) : try key(root)
        let access = try access(
            system: try systemKey(state), areas: [(root, present)], services: [(root, present)])
        guard var open = try open(access, state.system, root) else { return .lost }
        // What was registered with other numbers is another system.
        guard state.isBlank || open.issue == profile.issue else { throw .locked }
        for node in missing(state) {
            let (step, command, parent) = try registration(of: node)
            let own = profile.keyedNodes.contains(node) ? try key(node) : nil
            let above = node == root ? present : try key(parent)
            guard let payload = command.payload(key: own, parent: above) else { throw .unsupported(node) }
            try journal(step)
            guard try send(command, payload, node, &open) else { return .lost }
        }
        try journal(.commit)
        return try send(.changeSystemBlock, [], .system, &open) ? .done : .unanswered
    }

    private func registration(
        of node: NodeCode
    ) throws(KeyChangeError) -> (StandardStep, StandardIssueCommand, parent: NodeCode) {
        let version = profile.versions[node] ?? KeyVersion(rawValue: 0)
        let parent = profile.path(to: node).last { $0 != node } ?? AreaCode.root.node
        if node == AreaCode.root.node {
            return (.issueID, .issueID(profile.system, profile.issue, version: version), node)
        }
        if let area = profile.areas.first(where: { $0.code.node == node }) {
            return (.area(node), .area(area.code, end: area.end, blocks: area.blocks, version: version), parent)
        }
        let code = ServiceCode(rawValue: node.rawValue)
        guard let service = profile.services.first(where: { $0.codes.contains(code) }) else { throw .noSuchNode(node) }
        return (.service(node), .service(code, blocks: service.blocks, version: version), parent)
    }

    /// Sends an issuing command once.
    ///
    /// - Returns: `false` if its answer was lost, so that the session is of no more use.
    private func send(
        _ command: StandardIssueCommand, _ payload: [UInt8], _ node: NodeCode, _ open: inout StandardSession
    ) throws(KeyChangeError) -> Bool {
        try reading { () throws(ReadingError) in try session.checkCancellation() }
        let short: Int
        do throws(StandardError) {
            let left = try open.issue(command, payload)
            guard node == AreaCode.root.node, let left, Int(left) < profile.blocks else { return true }
            short = Int(left)
        } catch .command(.status(let flags)) {
            throw .notRegistered(node, flags)
        } catch {
            if let end = StandardReading.final(error, 1) { throw .reading(end) }
            return false
        }
        // Nothing is permanent yet.
        throw .tooFewBlocks(needed: profile.blocks, free: short)
    }

    // MARK: The system's key

    /// Sets the system's key as a key change does: the version that the card tells shows which one it has.
    private func setSystemKey(_ state: State) throws(KeyChangeError) {
        guard let entry = new.entry(.system, in: profile.system, .des, card: card), let to = entry.version,
            let from = state.versions[.system]
        else { throw .noSuchNode(.system) }
        var old = try ownKeys(besides: .system)
        guard old.add(try factoryKey(.system), of: .system, in: profile.system) else { throw .unsupported(.system) }
        var only = StandardKeys()
        guard only.add(entry.key, of: .system, in: profile.system, version: to) else { throw .unsupported(.system) }
        let changer = KeyChanger(
            session: session, system: state.system,
            keyring: StandardKeyring(old, retries: retries, failures: failures), new: only, lift: lift
        ) { [journal] step throws(KeyChangeError) in
            if step != .done { try journal(step) }
        }
        let change = StandardKeyChange(node: .system, from: from, to: to)
        try changer.run(changer.plan(resuming: [change]))
    }

    // MARK: Data

    /// Writes a service's data from its last piece on, so that a cyclic service ends with the newest. What the card has already
    /// is not written again.
    private func write(
        _ service: StandardProfile.Service, _ system: SystemHandle, _ keyring: StandardKeyring
    ) throws(KeyChangeError) {
        guard let code = service.writable, !service.data.isEmpty else { return }
        let writer = BlockWriter(session: session, system: system, keyring: keyring)
        var isBegun = false
        func planned(_ piece: (number: UInt16, blocks: [Block])) throws(KeyChangeError) -> PlannedWrite {
            try data { () throws(BlockWriteError) in
                try writer.plan(
                    BlockWrite(code, block: code.kind == .cyclic ? 0 : piece.number, .blocks(piece.blocks)))
            }
        }
        var pieces = service.pieces
        if code.kind == .cyclic {
            // Each piece moves those before it on: the newest that is there is the last that was written.
            var left: [(number: UInt16, blocks: [Block])] = []
            for piece in pieces {
                if try planned(piece).isDone { break }
                left.append(piece)
            }
            pieces = left
        }
        for piece in pieces.reversed() {
            let plan = try planned(piece)
            guard !plan.isDone else { continue }
            if !isBegun { try journal(.data(code.node)) }
            isBegun = true
            _ = try data { () throws(BlockWriteError) in try writer.run(plan) }
        }
    }

    private func data<Value>(_ body: () throws(BlockWriteError) -> Value) throws(KeyChangeError) -> Value {
        let value: Value
        do throws(BlockWriteError) {
            value = try body()
        } catch {
            switch error {
            case .key(let error): throw .standard(error)
            case .reading(let error): throw .reading(error)
            default: throw .data(error)
            }
        }
        try settle()
        return value
    }

    // MARK: Proof

    /// Proves every key: services in one session for each path of areas, areas without services by themselves. The last
    /// session stays open, so that the card shows when it has lost its power.
    private func prove(_ system: SystemHandle, _ keyring: StandardKeyring) throws(KeyChangeError) {
        var isOpen = false
        let inner = profile.areas.map { profile.path(to: $0.code.node) }
        for path in inner {
            let keyed = profile.services.flatMap(\.codes).filter(\.requiresAuthentication).map(\.node)
                .filter { profile.path(to: $0) == path }
            let isCovered = inner.contains { $0 != path && $0.starts(with: path) }
            let lists = keyed.isEmpty ? (isCovered ? [] : [path.suffix(1)]) : keyed.batches(of: 8).map { $0[...] }
            for nodes in lists {
                var areas: [(NodeCode, StandardKey)] = []
                for area in path { areas.append((area, try key(area))) }
                var services: [(NodeCode, StandardKey)] = []
                for node in nodes { services.append((node, try key(node))) }
                let access = try access(system: try key(.system), areas: areas, services: services)
                if isOpen { try reset(system) }
                var open: StandardSession?
                for _ in 0..<Self.tries where open == nil {
                    open = try self.open(access, system, nodes.first ?? .system)
                }
                guard let open else { throw .silent(nodes.first ?? .system) }
                guard open.issue == profile.issue else { throw .notKept(.system) }
                isOpen = true
                for node in nodes { try journal(.keyProved(node)) }
            }
        }
    }

    /// Reads everything back, after the card was without power.
    private func verify(_ keyring: StandardKeyring) throws(KeyChangeError) {
        let state = try look()
        if let node = missing(state).first { throw .notKept(node) }
        for (node, version) in profile.versions where state.versions[node] != version { throw .notKept(node) }
        for service in profile.services {
            guard let code = service.writable else { continue }
            let writer = BlockWriter(session: session, system: state.system, keyring: keyring)
            for piece in service.pieces {
                let found = try data { () throws(BlockWriteError) in
                    try writer.read(code, from: piece.number, count: piece.blocks.count)
                }
                for (index, (found, wanted)) in zip(found, piece.blocks).enumerated() where found != wanted {
                    throw .data(.notVerified(block: piece.number + UInt16(index)))
                }
            }
        }
    }

    // MARK: Keys and sessions

    /// A check value of all keys that are used, for a journal.
    ///
    /// - Parameter salt: that of an earlier value; `nil` for a new one.
    package func keyCheck(salt: [UInt8]? = nil) throws(KeyChangeError) -> StandardKeyCheck {
        var keys = [try factoryKey(.system), try factoryKey(AreaCode.root.node)]
        for node in [.system] + profile.keyedNodes { keys.append(try key(node)) }
        return salt.map { StandardKeyCheck(keys, salt: $0) } ?? StandardKeyCheck(keys)
    }

    private func key(_ node: NodeCode) throws(KeyChangeError) -> StandardKey {
        guard let key = new.entry(node, in: profile.system, .des, card: card)?.key else { throw .key(node, .noKey) }
        return key
    }

    private func factoryKey(_ node: NodeCode) throws(KeyChangeError) -> StandardKey {
        guard let key = factory.entry(node, in: Self.blank, .des, card: card)?.key else { throw .key(node, .noKey) }
        return key
    }

    /// The system key that the card has, by the version that it tells.
    private func systemKey(_ state: State) throws(KeyChangeError) -> StandardKey {
        let entry = new.entry(.system, in: profile.system, .des, card: card)
        if !state.isBlank, let entry, entry.version == state.versions[.system] { return entry.key }
        return try factoryKey(.system)
    }

    /// The new keys alone, as one collection for the profile's system.
    private func ownKeys(besides left: NodeCode? = nil) throws(KeyChangeError) -> StandardKeys {
        var keys = StandardKeys()
        for node in [.system] + profile.keyedNodes where node != left {
            guard keys.add(try key(node), of: node, in: profile.system) else { throw .unsupported(node) }
        }
        return keys
    }

    private func access(
        system: StandardKey, areas: [(NodeCode, StandardKey)], services: [(NodeCode, StandardKey)]
    ) throws(KeyChangeError) -> StandardAccess {
        guard
            let access = StandardAccess.des(
                system: system, areas: areas.map { StandardLayer($0, $1) },
                services: services.map { StandardLayer($0, $1) })
        else { throw .unsupported(services.first?.0 ?? .system) }
        return access
    }

    /// Opens a session.
    ///
    /// - Returns: `nil` if the card does not answer, which a lost answer may be.
    private func open(
        _ access: StandardAccess, _ system: SystemHandle, _ node: NodeCode
    ) throws(KeyChangeError) -> StandardSession? {
        let reading = StandardReading(
            session: session, system: system,
            keyring: StandardKeyring(StandardKeys(), retries: retries, failures: failures))
        switch try self.reading({ () throws(ReadingError) in try reading.attempt(access) }) {
        case .opened(let open): return open
        case .refused(let reason): throw .key(node, reason)
        case .failed(let end):
            guard let error = StandardKeyError(end, ServiceCode(rawValue: node.rawValue)) else { return nil }
            if case .silent = error { return nil }
            throw .standard(error)
        }
    }

    /// Ends a session.
    private func reset(_ system: SystemHandle) throws(KeyChangeError) {
        try reading { () throws(ReadingError) in try session.leaveAuthentication(of: system) }
        try settle()
    }

    /// Has the card lifted if nothing else ends its session.
    private func settle() throws(KeyChangeError) {
        guard session.staysAuthenticated else { return }
        try lift()
        session.authenticated = nil
    }

    /// Takes the card's power.
    private func cutPower() throws(KeyChangeError) {
        if try reading({ () throws(ReadingError) in try session.switchOff() }) {
            session.authenticated = nil
            return
        }
        try lift()
        session.authenticated = nil
    }

    private func reading<Value>(_ body: () throws(ReadingError) -> Value) throws(KeyChangeError) -> Value {
        do throws(ReadingError) {
            return try body()
        } catch {
            throw .reading(error)
        }
    }
}
