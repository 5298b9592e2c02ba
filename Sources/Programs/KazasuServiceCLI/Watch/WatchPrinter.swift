// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import KazasuCLI
import SharedReaders
import Synchronization
import KazasuTaps
import Server

/// The front of `watch`: standard output, and the metrics if they are wanted.
final class WatchPrinter: WatchFront {
    private let printer: EventPrinter
    private let outbox: Outbox?
    private let metrics: Metrics
    private let port: LoopbackPort?
    private let log: ServiceLog
    private let server = Mutex<RunningServer?>(nil)

    init(_ context: Context, _ options: Watch, _ outbox: Outbox?, _ metrics: Metrics, _ log: ServiceLog) {
        printer = EventPrinter(context.redaction, options.format, ringsBell: options.printing.bell)
        (self.outbox, self.metrics, self.log, port) = (outbox, metrics, log, options.metrics)
    }

    var showsReaders: Bool { printer.isText }

    var sharesReaders: Bool { false }

    func follow(_ plan: RunPlan) { printer.expect(readers: plan.readers.map(\.name)) }

    func announce() {}

    var failure: CommandError? { printer.error }

    func start(stop: @escaping @Sendable () -> Void) throws(CommandError) {
        if let port {
            let address = ListenAddress.internet(host: "127.0.0.1", port: port.port)
            let site = MetricsSite(metrics, outbox, language: Language.current)
            let running = try RunningServer([address], on: HTTPThread(), site: site, option: "--metrics")
            server.withLock { $0 = running }
        }
        // Without a sink, the events only go to standard output.
        printer.start { [log, isStored = outbox != nil] in
            Self.note($0, isStored: isStored, in: log)
        } failed: { [outbox] in
            if outbox == nil { stop() }
        }
    }

    private static func note(_ loss: LineOutput.Loss, isStored: Bool, in log: ServiceLog) {
        switch loss {
        case .begins:
            log.warning(
                isStored
                    ? tr(
                        "nobody reads standard output; events are in the outbox but no longer printed",
                        "標準出力が読まれていないため、イベントの表示を止めます（outbox には保存します）")
                    : tr(
                        "nobody reads standard output; new events are lost",
                        "標準出力が読まれていないため、新しいイベントは失われます"))
        case .ends(let count):
            log.warning(
                tr(
                    "standard output is read again; \(Words.count(count, "event")) not printed",
                    "標準出力への表示を再開しました（表示しなかったイベント: \(count) 件）"))
        }
    }

    func show(_ event: StoredEvent, _ tap: Tap?) { printer.print(event, tap) }

    func finish() {
        server.withLock { $0 }?.stop()
        printer.finish()
    }
}

/// A server and its thread.
struct RunningServer: Sendable {
    let server: HTTPServer
    private let thread: HTTPThread

    /// Begins to listen.
    ///
    /// - Parameter option: the option that chose the addresses, for messages.
    init(
        _ addresses: [ListenAddress], on thread: HTTPThread, _ limits: HTTPLimits = HTTPLimits(), site: any HTTPSite,
        option: String
    ) throws(CommandError) {
        self.thread = thread
        do throws(ListenError) {
            server = try Blocking.run { () async throws(ListenError) in
                try await HTTPServer.start(addresses, on: thread, limits, site: site)
            }
        } catch {
            throw CommandError(error, option: option)
        }
    }

    /// Closes everything.
    func stop() {
        Blocking.run { [server, thread] () async in
            await server.stop()
            await thread.stop()
        }
    }
}

extension CommandError {
    /// Why a server cannot listen.
    init(_ error: ListenError, option: String) {
        let code: Code =
            switch error.reason {
            case .busy: .listenBusy
            case .permission: .listenForbidden
            case .absent, .failed: .listenFailed
            case .notASocket: .listenNotASocket
            }
        self.init(code, values: ["\(error.address)", option, SystemMessage.text(error.errno)])
    }
}
