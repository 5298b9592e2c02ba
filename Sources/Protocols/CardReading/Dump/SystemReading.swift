// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa

/// Reads one system: its nodes, then the blocks of its open services, overlapped ones once.
final class SystemReading {
    private let session: CardSession
    private let system: SystemHandle
    private let wanted: [ServiceCode]?
    private let earlier: SystemDump?
    private let twin: SystemCode?
    private let scanner: CardScanner
    private let card: [SystemCode]
    private let progress: (ReadingProgress) -> Void
    /// Opens services that need keys; `nil` without keys.
    private let keyed: StandardReading?
    private(set) var scan: SystemScan
    private var isListed = false
    private var blocks: BlockReader?

    /// - Parameters:
    ///   - scanner: lists the nodes.
    ///   - card: the systems that the card lists.
    ///   - services: only these, without listing the nodes; `nil` for all.
    ///   - earlier: the result of an earlier reading, with all nodes.
    ///   - twin: a system that was already read and contains the same blocks, as 88B4 and 12FC of FeliCa Lite do.
    ///   - keyring: the owner's keys; `nil` to open no service with keys.
    init(
        session: CardSession, scanner: CardScanner, system: SystemHandle, card: [SystemCode], services: [ServiceCode]?,
        earlier: SystemDump?, twin: SystemCode? = nil, keyring: StandardKeyring? = nil,
        progress: @escaping (ReadingProgress) -> Void
    ) {
        self.session = session
        self.scanner = scanner
        self.system = system
        self.card = card
        wanted = services
        self.earlier = earlier
        self.twin = twin
        self.progress = progress
        scan = SystemScan(system: system)
        keyed = keyring.map { keyring in
            StandardReading(session: session, system: system, keyring: keyring) { count in
                progress(ReadingProgress(system: system.code, nodes: 0, blocks: count))
            }
        }
    }

    func run() throws(ReadingError) {
        if let earlier {
            isListed = true
            try read(
                earlier.services.filter { $0.state == .lost && !$0.code.requiresAuthentication }.map { service in
                    // A ring may have turned since: the blocks read then do not match those read now.
                    let have = service.code.kind == .cyclic ? [:] : service.blocks
                    return ServiceJob(request(service.code), have: have)
                })
            try readKeyed(
                earlier.services.filter { $0.opened == nil || $0.state != .read }.map(\.code),
                of: earlier.services.map(\.code))
            return
        }
        if let wanted {
            scan.nodes = wanted.map { ScannedNode(.service($0)) }
        } else {
            try scanner.nodes(of: system, on: card, into: &scan)
        }
        isListed = true
        guard twin == nil else { return }
        try read(readable.map { ServiceJob(request($0)) })
        try readKeyed(scan.services, of: scan.services)
    }

    /// Opens services with keys: one of each overlap group that has no open service.
    ///
    /// - Parameter all: all services of the system.
    private func readKeyed(_ services: [ServiceCode], of all: [ServiceCode]) throws(ReadingError) {
        guard let keyed else { return }
        let open = Set(
            all.filter { !$0.requiresAuthentication && !$0.requiresPIN && $0.kind != nil }.map(\.overlapGroup))
        var chosen: [UInt16: ServiceCode] = [:]
        for code in services where keyed.hasKey(code) && !open.contains(code.overlapGroup) {
            if chosen[code.overlapGroup]?.access != .readOnly { chosen[code.overlapGroup] = code }
        }
        let requests = services.filter { chosen[$0.overlapGroup] == $0 }.map { request($0) }
        try keyed.run(requests) { () throws(ReadingError) in
            if let earlier {
                return earlier.areas.map { ScannedNode(.area($0.start, end: $0.end), keyVersion: $0.keyVersion) }
            }
            guard wanted != nil else { return scan.nodes }
            var whole = SystemScan(system: system)
            try scanner.nodes(of: system, on: card, into: &whole)
            return whole.nodes
        }
    }

    private func read(_ jobs: [ServiceJob]) throws(ReadingError) {
        let nodes = earlier.map { $0.areas.count + $0.services.count } ?? scan.nodes.count
        let reader = BlockReader(session: session, system: system, jobs: jobs) { [progress, system] count in
            progress(ReadingProgress(system: system.code, nodes: nodes, blocks: count))
        }
        blocks = reader
        try reader.run()
    }

    // MARK: Reading

    /// One open service of each overlap group: a read-only one if there is one, else the last.
    private var readable: [ServiceCode] {
        var chosen: [UInt16: ServiceCode] = [:]
        for code in scan.services where !code.requiresAuthentication && !code.requiresPIN && code.kind != nil {
            if chosen[code.overlapGroup]?.access != .readOnly { chosen[code.overlapGroup] = code }
        }
        return scan.services.filter { chosen[$0.overlapGroup] == $0 }
    }

    private func request(_ code: ServiceCode) -> ServiceBlocks {
        if LiteLayout.applies(to: system.pmm), LiteLayout.services.contains(code) {
            return ServiceBlocks(code, .these(LiteLayout.readableBlocks(pmm: system.pmm)))
        }
        return ServiceBlocks(code, .all(expected: expected(code)))
    }

    private func expected(_ code: ServiceCode) -> Int? {
        KnownService.of(code, in: system.code)?.usualBlocks
    }

    // MARK: Results

    /// The system as it appears in the dump.
    var dump: SystemDump {
        if let earlier {
            var dump = earlier
            for index in dump.services.indices {
                if let job = job(dump.services[index].code) { dump.services[index].take(job) }
                if let keyed { dump.services[index].take(keyed) }
            }
            dump.issue = keyed?.issue ?? dump.issue
            return dump
        }
        var dump = SystemDump(systemCode: system.code, idm: system.idm, pmm: system.pmm)
        dump.issue = keyed?.issue
        let readable = readable
        for node in scan.nodes {
            switch node.kind {
            case .area(let start, let end):
                dump.areas.append(AreaDump(start: start, end: end, keyVersion: node.keyVersion))
            case .service(let code):
                dump.services.append(service(code, keyVersion: node.keyVersion, readable))
            }
        }
        return dump
    }

    private func job(_ code: ServiceCode) -> ServiceJob? {
        blocks?.jobs.first { $0.code == code }
    }

    private func service(_ code: ServiceCode, keyVersion: KeyVersion?, _ readable: [ServiceCode]) -> ServiceDump {
        var service = ServiceDump(code: code, keyVersion: keyVersion, state: .keyRequired)
        if let job = job(code) {
            service.take(job)
        } else if let keyed, keyed.ends[code] != nil {
            service.take(keyed)
        } else if let same = keyed?.opened(besides: code) {
            service.state = .skipped
            service.sameAs = SameBlocks(same)
        } else if code.requiresAuthentication || code.requiresPIN || code.kind == nil {
            service.state = code.kind == nil ? .skipped : .keyRequired
        } else if let twin {
            service.state = .skipped
            service.sameAs = SameBlocks(twin)
        } else if let same = readable.first(where: { $0.overlapGroup == code.overlapGroup && $0 != code }) {
            service.state = .skipped
            service.sameAs = SameBlocks(same)
        } else {
            service.state = .lost
        }
        return service
    }

    /// Returns the parts that were not read, for the dump's `missing`.
    func missing(_ reason: MissingPart.Reason) -> [MissingPart] {
        guard isListed else { return [MissingPart(system: system.code, reason: reason)] }
        let unlisted = scan.isSilent ? [MissingPart(system: system.code, reason: .cardSilent)] : []
        return unlisted
            + dump.services.filter { $0.state == .lost }.map {
                MissingPart(
                    system: system.code, service: $0.code,
                    fromBlock: UInt16(clamping: ServiceJob.leadingCount($0.blocks)), reason: reason)
            }
    }
}
