// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import KazasuCLI
import ReaderCore
import SharedReaders
import Synchronization
import KazasuLedger
import KazasuTaps
import Server

/// The front of `serve`: the server, which passes on each event.
final class ServeFront: WatchFront {
    private let options: ServeOptions
    private let thread = HTTPThread()
    private let hub: TapHub
    private let site: ServeSite
    private let log: ServiceLog
    /// The ledger of requests.
    private let ledger: Ledger
    private let running = Mutex<RunningServer?>(nil)
    private let isAnnounced = OneShot<Void>()
    /// A reader that cannot be used at all ends the server before that; one that hangs keeps nobody from it.
    private static let patience = Duration.seconds(1)

    private final class Ledger: Sendable {
        let path = Mutex<String?>(nil)
    }

    init(
        _ context: Context, _ options: Serve, token: [UInt8]?, _ readers: SharedReaders, _ outbox: Outbox?,
        _ metrics: Metrics, _ log: ServiceLog
    ) {
        let ledger = Ledger()
        (self.options, self.log, self.ledger) = (options.server, log, ledger)
        let redaction = context.redaction
        var settings = ServeSite.Settings()
        settings.access = ServeAccess(
            hosts: options.server.host, origins: options.server.allowOrigin.map(\.text), token: token)
        settings.allowed = options.server.allowed
        if options.server.page == .kiosk { settings.page = { .kiosk } }
        settings.language = Language.current
        settings.log = { [log] line in log.debug(line) }
        // The data of the card, wherever it occurs.
        if redaction.isOn { settings.mask = { RedactionGate.shared.masked(redaction.apply($0)) } }
        let hub = TapHub(outbox, on: thread, language: Language.current, mask: settings.mask)
        self.hub = hub
        ReaderRegistry.answering = .milliseconds(700)
        let methods = CommandMethods(on: readers, redaction, isLocal: false) { ledger.path.withLock(\.self) }
        let origin = ServiceRequest.Origin.network(allowed: settings.allowed)
        let hasPage = settings.page != nil
        site = ServeSite(
            settings, methods: methods, hub: hub, metrics: metrics,
            document: {
                ServiceDescription(methods.methods, version: Program.version, language: Language.current)
                    .openAPI(ServeDocument.paths(Language.current, hasPage: hasPage))
            }
        ) { send in
            let session = RPCSession(
                version: Program.version, methods: methods, taps: hub, origin: origin, language: Language.current
            ) { send($0.compactText) }
            return WebSocketSession(
                receive: { await session.receive($0) }, close: { Task { await session.cancel() } })
        }
    }

    var showsReaders: Bool { false }

    var sharesReaders: Bool { true }

    func follow(_ plan: RunPlan) {
        ledger.path.withLock { $0 = plan.ledger }
        hub.watch(readers: plan.readers.map(\.name))
    }

    var failure: CommandError? { nil }

    func start(stop: @escaping @Sendable () -> Void) throws(CommandError) {
        var limits = HTTPLimits()
        limits.connections = options.connections
        limitFiles(options.connections)
        Blocking.run { [hub] () async in await hub.resume() }
        let server = try RunningServer(options.addresses, on: thread, limits, site: site, option: "--listen")
        running.withLock { $0 = server }
        Task.after(Self.patience) { [weak self] in self?.announce() }
    }

    func announce() {
        guard isAnnounced.give(()) else { return }
        for address in running.withLock({ $0 })?.server.addresses ?? [] {
            log.notice(tr("serving at \(address)", "\(address) で待ち受けています"))
        }
    }

    func show(_ event: StoredEvent, _ tap: Tap?) { hub.publish(event) }

    func finish() {
        Blocking.run { [hub] () async in await hub.finish() }
        running.withLock { $0 }?.stop()
    }

    /// Keeps open files below 1024 unless more connections are wanted: libnfc waits for serial ports with `select`, and the
    /// C library ends a process that does so with a larger number, as for a reader that comes after a thousand clients.
    private func limitFiles(_ connections: Int) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = connections <= 900 ? min(limit.rlim_cur, 1024) : min(limit.rlim_max, rlim_t(connections + 512))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
