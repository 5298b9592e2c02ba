// SPDX-License-Identifier: Apache-2.0

package import CardCrypto
package import CardModel
internal import FeliCa
internal import ReaderCore

/// Opens services of one system that need keys, over sessions of mutual authentication, and reads them.
///
/// Key versions are asked first. A card that does not confirm a list of keys gets nothing more of it. Which of them is
/// wrong is then found with one more failure for each wrong key: the keys of the system and the areas are proved by
/// themselves, then those of the services one by one. A lost answer opens a new session, in which reading goes on.
package final class StandardReading {
    /// How the reading of a service ended.
    package enum End: Sendable {
        /// Keys of this kind opened it.
        case opened(StandardScheme)
        /// No keys opened it.
        case failed(KeyFailure)
        /// The card does not answer the authentication.
        case silent
        /// The card has no such service.
        case absent
        /// The card is not a FeliCa Standard.
        case otherCard
        /// The system has only keys of a kind that nobody knows how to use (DES with 112 bits).
        case unsupported
        /// AES is not available.
        case noCipher(CryptoError)
    }

    /// The end of each service that was tried.
    package private(set) var ends: [ServiceCode: End] = [:]
    /// What the system told; `nil` before the first session.
    package private(set) var issue: SystemIssue?
    private(set) var jobs: [ServiceCode: ServiceJob] = [:]
    /// Paths from the root area whose keys, and the system's, the card confirmed.
    private(set) var provedPaths: Set<[NodeCode]> = []
    /// Paths whose innermost area has a wrong key; of the root area alone, it or the system has.
    private(set) var wrongPaths: [[NodeCode]: KeyRefusal] = [:]
    private let session: CardSession
    private let system: SystemHandle
    private let keyring: StandardKeyring
    private let progress: (Int) -> Void
    /// Whether the card may have left mode 0.
    private var isEngaged = false
    /// Whether the card accepts an area in place of a service, as far as is known.
    private var provesAreas = true

    init(
        session: CardSession, system: SystemHandle, keyring: StandardKeyring,
        progress: @escaping (Int) -> Void = { _ in }
    ) {
        (self.session, self.system, self.keyring, self.progress) = (session, system, keyring, progress)
    }

    /// Whether a service needs a key, and there is one for it.
    func hasKey(_ service: ServiceCode) -> Bool {
        service.requiresAuthentication && !service.requiresPIN && service.kind != nil
            && keyring.keys.hasKey(of: service.node, in: system.code, card: session.target.idm)
    }

    /// The service that keys opened in place of one that opens the same blocks.
    func opened(besides service: ServiceCode) -> ServiceCode? {
        guard service.requiresAuthentication else { return nil }
        return ends.keys.sorted().first { other in
            guard other != service, other.overlapGroup == service.overlapGroup, case .opened? = ends[other] else {
                return false
            }
            return true
        }
    }

    /// Reads services, and leaves the card in mode 0 again.
    ///
    /// - Parameters:
    ///   - requests: services that need a key.
    ///   - nodes: lists the system's nodes, which is asked for only if a service needs the keys of its areas.
    func run(
        _ requests: [ServiceBlocks], nodes: () throws(ReadingError) -> [ScannedNode]
    ) throws(ReadingError) {
        try open(requests.map(\.code), nodes: nodes) { services, session throws(ReadingError) in
            try read(requests.filter { services.contains($0.code) }, session)
        }
    }

    /// Opens services without reading them, and leaves the card in mode 0 again; the parameters are those of ``run(_:nodes:)``.
    func prove(
        _ services: [ServiceCode], nodes: () throws(ReadingError) -> [ScannedNode]
    ) throws(ReadingError) {
        try open(services, nodes: nodes) { _, _ in }
    }

    /// Opens a service to read and write it, and leaves the card in mode 0 again; `body` is not called if keys do not open it.
    func use(
        _ service: ServiceCode, nodes: () throws(ReadingError) -> [ScannedNode], body: (StandardCarrier) -> Void
    ) throws(ReadingError) {
        try open([service], nodes: nodes) { _, open in body(StandardCarrier(self, session, open)) }
    }

    private typealias Use = ([ServiceCode], StandardSession) throws(ReadingError) -> Void

    private func open(
        _ services: [ServiceCode], nodes: () throws(ReadingError) -> [ScannedNode], _ use: Use
    ) throws(ReadingError) {
        guard !services.isEmpty else { return }
        guard system.isStandard else {
            for service in services { ends[service] = .otherCard }
            return
        }
        let finder = StandardVersionFinder(session, system)
        var versions = try finder.versions(of: [.system] + services.map(\.node))
        guard versions.versions(.aes) != nil || versions.versions(.des) != nil else {
            for service in services { ends[service] = .unsupported }
            return
        }
        let card = session.target.idm
        var areas: [AreaRange] = []
        if services.contains(where: {
            StandardPlan.needsAreas($0, in: system, keyring.keys, card: card, versions)
        }) {
            let found = try nodes()
            areas = found.compactMap { node in
                guard case .area(let start, let end) = node.kind else { return nil }
                return AreaRange(start: start, end: end)
            }
            try finder.add(found.filter { if case .area = $0.kind { true } else { false } }, to: &versions)
        }
        var plan = StandardPlan(system: system, keys: keyring.keys, card: card, areas: areas, versions: versions)
        do throws(CryptoError) {
            try plan.add(services.filter { !versions.lacks($0.node) })
        } catch {
            for service in services { ends[service] = .noCipher(error) }
            return
        }
        for service in services where versions.lacks(service.node) { ends[service] = .absent }
        for (service, failure) in plan.failures { ends[service] = .failed(failure) }
        for (place, group) in plan.groups.enumerated() {
            try open(group, isLast: place == plan.groups.count - 1, plan, use)
        }
        // The card would answer no Polling of this system.
        try leave()
    }

    // MARK: Lists of keys

    private func open(_ group: StandardPlan.Group, isLast: Bool, _ plan: StandardPlan, _ use: Use) throws(ReadingError)
    {
        if let (area, reason) = wrongArea(of: group) { return end(group, .failed(KeyFailure(reason, area))) }
        switch try attempt(group.access, isDerived: group.isDerived) {
        case .opened(let session):
            end(group, .opened(group.access.scheme))
            try use(group.services, session)
        case .failed(let failure): end(group, failure)
        case .refused(let reason):
            let hasMore = group.services.count > 1
            guard !group.isDerived, hasMore || !isLast else {
                return end(group, .failed(KeyFailure(reason, group.services[0].node)))
            }
            try proveAreas(group.access.areas, plan)
            if let (area, reason) = wrongArea(of: group) { return end(group, .failed(KeyFailure(reason, area))) }
            guard hasMore else { return end(group, .failed(KeyFailure(reason, group.services[0].node))) }
            try openOneByOne(group, reason, plan, use)
        }
    }

    /// Opens the services of a list that the card did not confirm.
    private func openOneByOne(
        _ group: StandardPlan.Group, _ reason: KeyRefusal, _ plan: StandardPlan, _ use: Use
    ) throws(ReadingError) {
        var isFound = false
        for service in group.services {
            // All other keys fit.
            guard isFound || service != group.services.last else {
                ends[service] = .failed(KeyFailure(reason, service.node))
                return
            }
            let access: StandardAccess?
            do throws(CryptoError) {
                access = try plan.access(to: service, of: group)
            } catch {
                ends[service] = .noCipher(error)
                continue
            }
            guard let access else { continue }
            switch try attempt(access) {
            case .opened(let session):
                ends[service] = .opened(access.scheme)
                try use([service], session)
            case .refused(let reason):
                isFound = true
                ends[service] = .failed(KeyFailure(reason, service.node))
            case .failed(let failure):
                isFound = true
                ends[service] = failure
            }
        }
    }

    /// Proves the keys of the system and of a path of areas, each area in place of a service, until one does not fit.
    private func proveAreas(_ path: [NodeCode], _ plan: StandardPlan) throws(ReadingError) {
        for count in path.indices.map({ $0 + 1 }) where !keyring.retries {
            let areas = Array(path.prefix(count))
            guard let access = plan.access(to: areas), keyring.failures.contains(access, of: system) else { continue }
            wrongPaths[areas] = .keyFailedBefore
            return
        }
        for count in path.indices.map({ $0 + 1 }) where provesAreas {
            let areas = Array(path.prefix(count))
            guard !provedPaths.contains(areas), let access = plan.access(to: areas) else { continue }
            switch try attempt(access) {
            case .opened: continue
            case .refused(let reason):
                wrongPaths[areas] = reason
                return
            // Cards may accept no such list.
            case .failed: provesAreas = false
            }
        }
    }

    /// The area around the services of a list whose key does not fit.
    private func wrongArea(of group: StandardPlan.Group) -> (area: NodeCode, reason: KeyRefusal)? {
        guard !group.isDerived,
            let wrong = wrongPaths.first(where: { group.access.areas.starts(with: $0.key) }), let area = wrong.key.last
        else { return nil }
        return (area, wrong.value)
    }

    private func end(_ group: StandardPlan.Group, _ end: End) {
        for service in group.services { ends[service] = end }
    }

    enum Attempt {
        case opened(StandardSession)
        case refused(KeyRefusal)
        case failed(End)
    }

    /// Opens a session unless the card is known not to confirm the keys.
    ///
    /// - Parameter isDerived: whether they prove nothing about the keys of areas.
    func attempt(_ access: StandardAccess, isDerived: Bool = false) throws(ReadingError) -> Attempt {
        guard keyring.retries || !keyring.failures.contains(access, of: system) else {
            return .refused(.keyFailedBefore)
        }
        switch try open(access) {
        case .session(let open):
            keyring.failures.remove(access, of: system)
            issue = open.issue
            if !isDerived {
                for count in access.areas.indices { provedPaths.insert(Array(access.areas[...count])) }
            }
            return .opened(open)
        case .wrongKey:
            keyring.failures.insert(access, of: system)
            return .refused(.wrongKey)
        case .failed(let end): return .failed(end)
        }
    }

    // MARK: Sessions

    enum Opening {
        case session(StandardSession)
        case wrongKey
        case failed(End)
    }

    /// Opens a session; a damaged or missing answer is tried again.
    func open(_ access: StandardAccess) throws(ReadingError) -> Opening {
        var damaged = 0
        var silent = 0
        while true {
            let felica = FeliCaSystem(
                channel: SessionChannel(session: session, isPatient: silent > 0), idm: system.idm, pmm: system.pmm)
            isEngaged = true
            do throws(StandardError) {
                return .session(try StandardSession(access, on: felica))
            } catch {
                switch error {
                case .wrongKey: return .wrongKey
                case .noAuthentication: return .failed(.otherCard)
                case .crypto(let error): return .failed(.noCipher(error))
                case .silence:
                    silent += 1
                    guard silent == 2 else { continue }
                    try leave()
                    guard try session.isPresent(system) else { throw .cardLost }
                    return .failed(.silent)
                default:
                    damaged += 1
                    if let failure = Self.final(error, damaged) { throw failure }
                }
            }
        }
    }

    /// The error that ends reading; `nil` if it is worth another try.
    static func final(_ error: StandardError, _ count: Int) -> ReadingError? {
        switch error {
        case .command(.transport(let failure)):
            guard failure.isTransient else { return CardSession.readingError(failure) }
            return count < 4 ? nil : .radio(failure)
        case .command(let error): return count < 4 ? nil : .badAnswer(error)
        case .forged(let code): return count < 4 ? nil : .badAnswer(.malformed(code, .echo))
        default: return count < 4 ? nil : .cardSilent
        }
    }

    /// Brings the card back to mode 0, if it may have left it.
    func leave() throws(ReadingError) {
        guard isEngaged else { return }
        isEngaged = false
        try session.leaveAuthentication(of: system)
    }

    private func read(_ requests: [ServiceBlocks], _ open: StandardSession) throws(ReadingError) {
        let carrier = StandardCarrier(self, session, open)
        let before = jobs.values.reduce(0) { $0 + $1.have.count }
        let reader = BlockReader(
            session: session, system: system, jobs: requests.map { ServiceJob($0) }, carrier: carrier
        ) { [progress] in progress(before + $0) }
        defer { for job in reader.jobs { jobs[job.code] = job } }
        try reader.run()
    }
}
