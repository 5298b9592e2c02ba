// SPDX-License-Identifier: Apache-2.0

package import CardCrypto
package import CardModel
internal import FeliCa
internal import ReaderCore

/// Reads services of one system that need keys, over sessions of mutual authentication.
///
/// Key versions are asked first. A card that does not confirm a list of keys gets nothing more of it; services listed together
/// are then tried in halves. A lost answer opens a new session, in which reading goes on.
package final class StandardReading {
    /// How the reading of a service ended.
    package enum End: Sendable {
        /// Keys of this kind opened it.
        case opened(StandardScheme)
        /// No keys opened it.
        case failed(KeyFailure)
        /// The card does not answer the authentication.
        case silent
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
    private let session: CardSession
    private let system: SystemHandle
    private let keyring: StandardKeyring
    private let progress: (Int) -> Void
    /// Whether the card tells AES and DES versions apart.
    private var answersV2 = false
    /// Whether the card may have left mode 0.
    private var isEngaged = false

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
        let services = requests.map(\.code)
        guard !services.isEmpty else { return }
        guard let versions = try versions(of: [.system] + services.map(\.node)) else {
            for service in services { ends[service] = .unsupported }
            return
        }
        let card = session.target.idm
        var all = versions
        var areas: [AreaRange] = []
        if services.contains(where: {
            StandardPlan.needsAreas($0, in: system, keyring.keys, card: card, versions)
        }) {
            let found = try nodes()
            areas = found.compactMap { node in
                guard case .area(let start, let end) = node.kind else { return nil }
                return AreaRange(start: start, end: end)
            }
            try addVersions(of: areas.map(\.start.node), found, to: &all)
        }
        do throws(CryptoError) {
            var plan = StandardPlan(system: system, keys: keyring.keys, card: card, areas: areas, versions: all)
            try plan.add(services)
            for (service, failure) in plan.failures { ends[service] = .failed(failure) }
            read(plan, requests)
        } catch {
            for service in services where ends[service] == nil { ends[service] = .noCipher(error) }
        }
        if let interruption { throw interruption }
    }

    /// Why reading ended early.
    private var interruption: ReadingError?

    private func read(_ plan: StandardPlan, _ requests: [ServiceBlocks]) {
        var waiting = Array(plan.groups.reversed())
        while let group = waiting.popLast(), interruption == nil {
            let isKnown = !keyring.retries && keyring.failures.contains(group.access, of: system)
            do throws(ReadingError) {
                let opening: Opening = try isKnown ? .wrongKey : open(group.access)
                switch opening {
                case .session(let open):
                    keyring.failures.remove(group.access, of: system)
                    try read(requests.filter { group.services.contains($0.code) }, open)
                case .wrongKey:
                    if !isKnown { keyring.failures.insert(group.access, of: system) }
                    let parts = try? plan.parts(of: group)
                    if let parts, !parts.isEmpty {
                        waiting += parts.reversed()
                    } else {
                        for service in group.services {
                            ends[service] = .failed(KeyFailure(isKnown ? .keyFailedBefore : .wrongKey, service.node))
                        }
                    }
                case .failed(let end): for service in group.services { ends[service] = end }
                }
            } catch {
                interruption = error
            }
        }
        // The card would answer no Polling of this system.
        if interruption == nil {
            do throws(ReadingError) { try leave() } catch { interruption = error }
        }
    }

    // MARK: Key versions

    /// Asks for the key versions of nodes.
    ///
    /// - Returns: `nil` if no known cipher opens the system.
    private func versions(of nodes: [NodeCode]) throws(ReadingError) -> StandardVersions? {
        guard session.target.pmm.mayAnswer(RequestServiceV2.code) else { return try olderVersions(of: nodes) }
        var versions = StandardVersions(aes: [:], des: [:])
        // LEN, code, IDm, status flags, kind of keys and count; two versions for each node.
        let most = max(1, min(32, (session.reader.information.longestFeliCaAnswer - 14) / 4))
        for batch in nodes.batches(of: most) {
            let reply = try session.ask(system) { felica throws(FeliCaError) in
                try felica.requestServiceV2(Array(batch))
            }
            guard case .value(let answer) = reply else { return try olderVersions(of: nodes) }
            answersV2 = true
            let isDES112 = answer.encryption == .des112 || answer.encryption == .aesAndDES112
            versions.aes = Self.merged(versions.aes, batch, answer.aes)
            versions.des = isDES112 ? nil : Self.merged(versions.des, batch, answer.des)
        }
        return versions.aes == nil && versions.des == nil ? nil : versions
    }

    private static func merged(
        _ known: [NodeCode: KeyVersion]?, _ nodes: some Sequence<NodeCode>, _ versions: [KeyVersion?]?
    ) -> [NodeCode: KeyVersion]? {
        guard var known, let versions else { return nil }
        for (node, version) in zip(nodes, versions) { known[node] = version }
        return known
    }

    /// Adds the versions of the areas' keys: of a card with AES they are asked for, of others the list of nodes has them.
    private func addVersions(
        of areas: [NodeCode], _ nodes: [ScannedNode], to versions: inout StandardVersions
    ) throws(ReadingError) {
        if answersV2 {
            guard let more = try self.versions(of: areas)?.des else { return }
            versions.des?.merge(more) { $1 }
        } else {
            for node in nodes { if let version = node.keyVersion { versions.des?[node.code] = version } }
        }
    }

    /// The versions of a card without AES.
    private func olderVersions(of nodes: [NodeCode]) throws(ReadingError) -> StandardVersions {
        let found = try KeyVersionFinder(session: session, system: system).versions(of: nodes)
        return StandardVersions(aes: nil, des: found)
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
    private func leave() throws(ReadingError) {
        guard isEngaged else { return }
        isEngaged = false
        if system.pmm.mayAnswer(.resetMode) {
            let felica = FeliCaSystem(
                channel: SessionChannel(session: session, isPatient: false), idm: system.idm, pmm: system.pmm)
            if (try? felica.resetMode()) != nil { return }
        }
        guard (try? session.reader.cyclePower()) == true else { return }
        guard try session.isPresent(system) else { throw .cardLost }
    }

    private func read(_ requests: [ServiceBlocks], _ open: StandardSession) throws(ReadingError) {
        issue = open.issue
        for request in requests { ends[request.code] = .opened(open.access.scheme) }
        let carrier = StandardCarrier(self, session, open)
        let before = jobs.values.reduce(0) { $0 + $1.have.count }
        let reader = BlockReader(
            session: session, system: system, jobs: requests.map { ServiceJob($0) }, carrier: carrier
        ) { [progress] in progress(before + $0) }
        defer { for job in reader.jobs { jobs[job.code] = job } }
        try reader.run()
    }
}

/// Reads blocks over an open session, and opens it again when an answer is lost.
private final class StandardCarrier: BlockCarrier {
    let limits: CardLimits
    private let reading: StandardReading
    private let access: StandardAccess
    private var open: StandardSession?

    private static let tries = 3

    init(_ reading: StandardReading, _ session: CardSession, _ open: StandardSession) {
        (self.reading, self.access, self.open) = (reading, open.access, open)
        let most = open.access.scheme.blocksPerRead(answeredIn: session.reader.information.longestFeliCaAnswer)
        limits = CardLimits(atMost: most, like: session.limits)
    }

    func read(_ services: [ServiceCode], _ list: BlockList) throws(ReadingError) -> CardReply<[Block]> {
        let elements = list.elements.map { element in
            var element = element
            element.serviceIndex = access.nodes.firstIndex(of: services[element.serviceIndex].node) ?? 0
            return element
        }
        var damaged = 0
        var silent = 0
        while true {
            guard var current = open else {
                // What opened it before opens it again, unless the card left.
                guard case .session(let again) = try reading.open(access) else { throw .cardLost }
                open = again
                continue
            }
            do throws(StandardError) {
                let blocks = try current.read(BlockList(elements))
                open = current
                return .value(blocks)
            } catch {
                open = nil
                switch error {
                case .command(.status(let flags)):
                    open = current
                    return .refused(flags)
                case .silence:
                    silent += 1
                    if silent == Self.tries { return .silent }
                case .exhausted: continue
                default:
                    damaged += 1
                    if let failure = StandardReading.final(error, damaged) { throw failure }
                }
            }
        }
    }
}

/// The frames of a session, counted like all others.
private struct SessionChannel: CardChannel {
    let session: CardSession
    /// Whether the card gets twice the time of its PMm, and at least 10 ms more.
    let isPatient: Bool

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try session.exchange(frame, timeout: isPatient ? timeout + max(timeout, .milliseconds(10)) : timeout)
    }
}

extension CardSession {
    /// The result of reading services that need keys.
    package struct StandardResult {
        package var services: [ServiceDump]
        package var absent: [ServiceCode: [UInt16: RefusalReason]] = [:]
        package var refusals: [ServiceCode: RefusalReason] = [:]
        package var ends: [ServiceCode: StandardReading.End] = [:]
        package var issue: SystemIssue?
        package var interruption: ReadingError?
    }

    /// Reads blocks of services that need keys. Nothing is sent if there is no key for one of them.
    package func read(
        _ requests: [ServiceBlocks], of system: SystemHandle, keys keyring: StandardKeyring
    ) -> StandardResult {
        let reading = StandardReading(session: self, system: system, keyring: keyring)
        var result = StandardResult(services: [])
        if let without = requests.map(\.code).first(where: { !reading.hasKey($0) }) {
            result.services = requests.map { ServiceDump(code: $0.code, state: .keyRequired) }
            result.ends[without] = .failed(KeyFailure(.noKey, without.node))
            return result
        }
        do throws(ReadingError) {
            try reading.run(requests) { () throws(ReadingError) in
                var scan = SystemScan(system: system)
                try CardScanner(session: self).nodes(of: system, on: [system.code], into: &scan)
                return scan.nodes
            }
        } catch {
            result.interruption = error
        }
        (result.ends, result.issue) = (reading.ends, reading.issue)
        for request in requests {
            var service = ServiceDump(code: request.code, state: .lost)
            service.take(reading)
            result.services.append(service)
            if let job = reading.jobs[request.code] {
                if !job.absent.isEmpty { result.absent[request.code] = job.absent }
                result.refusals[request.code] = job.refusal
            }
        }
        return result
    }
}

extension ServiceDump {
    /// Records how the reading of this service with keys ended; unchanged if it was not tried.
    mutating func take(_ reading: StandardReading) {
        switch reading.ends[code] {
        case .opened(let scheme)?:
            opened = scheme
            if let job = reading.jobs[code] { take(job) }
        case .failed(let failure)? where failure.reason == .noKey: state = .keyRequired
        case .failed(let failure)?:
            state = .refused(status: nil)
            keyRefusal = failure.reason
        case .silent?: state = .refused(status: nil)
        case .otherCard?, .unsupported?, .noCipher?: state = .keyRequired
        case nil: break
        }
    }
}
