// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import Dispatch
import Glibc
import Kazasu
import KazasuCLI
import KazasuService
import Synchronization

/// One run of `watch`: from its settings to its end, with what happens meanwhile.
final class WatchRun: Sendable {
    private let redaction: Redaction?
    private let log: ServiceLog
    private let metrics = Metrics()
    private let manager = ServiceManager(SystemEnvironment.all)
    private let outbox: Outbox?
    private let watcher: Watcher
    private let printer: EventPrinter
    private let settings: Mutex<WatchSettings>
    private let cancellation: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let start: Start
    /// As it was at the start.
    private let metricsPort: LoopbackPort?

    init(_ context: Context, _ settings: WatchSettings) throws {
        let log = ServiceLog(verbosity: context.verbosity)
        let needsOutbox =
            !settings.options.sinks.isEmpty || settings.options.outbox.place.outbox != nil || settings.file != nil
        let outbox = try needsOutbox ? Self.open(settings.options.outbox.place.place(), log) : nil
        let printer = EventPrinter(context.redaction.isOn ? context.redaction : nil)
        let token = context.cancellation
        redaction = context.redaction.isOn ? context.redaction : nil
        self.log = log
        self.outbox = outbox
        self.printer = printer
        self.settings = Mutex(settings)
        metricsPort = settings.options.metrics
        cancellation = { handler in _ = token.onCancel(handler) }
        let (manager, metrics) = (manager, metrics)
        let start = Start {
            manager.ready(Self.status(metrics))
            log.info(tr("watching; press Ctrl-C to stop", "監視しています。Ctrl-C で終了します"))
        }
        self.start = start
        watcher = Watcher(
            outbox: outbox, metrics: metrics, emit: { printer.print($0) },
            tell: { notice in
                // A reader that no driver knows ends the run before that.
                if case .reader = notice { start.announce() }
                log.note(notice)
                switch notice {
                case .reader: manager.status(Self.status(metrics))
                case .notStored: manager.status(tr("events cannot be stored", "イベントを保存できません"))
                case .sink, .storedAgain, .ending, .ended: break
                }
            })
    }

    private static func status(_ metrics: Metrics) -> String {
        let count = metrics.readersReady
        return tr("\(count) reader\(count == 1 ? "" : "s") ready", "リーダー \(count) 台が使えます")
    }

    private static func open(_ place: (path: String, isChosen: Bool), _ log: ServiceLog) throws(CommandError) -> Outbox
    {
        do throws(OutboxError) {
            return try Outbox.opened(place.path, makesFolders: !place.isChosen) { name in
                log.error(
                    tr(
                        "\(place.path) is damaged; it is now \(name), and a new one is used",
                        "\(place.path) が壊れているため \(name) に移し、新しいファイルを使います"))
            }
        } catch {
            throw CommandError(error)
        }
    }

    /// Runs until it is stopped, which is not a failure, or until nobody reads the events any more.
    func run() throws {
        Interrupt.hold()
        let plan = try plan(for: settings.withLock { $0 })
        let server = try metricsServer()
        cancellation { [watcher] in watcher.stop() }
        Interrupt.onRepeat { [watcher] in watcher.leave() }
        Interrupt.onHangup { [weak self] in self?.reload() }
        // Without a sink, the events are for standard output alone.
        printer.start { [watcher, outbox] in if outbox == nil { watcher.stop() } }
        let helpers = startHelpers()
        let (done, failure) = (DispatchSemaphore(value: 0), Failure())
        Task {
            do { try await self.watcher.run(plan) } catch { failure.set(error) }
            done.signal()
        }
        if plan.readers == nil, SystemEnvironment.all["KAZASU_READER", default: ""].isEmpty {
            start.announce()
            noteUnusableReaders()
        }
        done.wait()
        manager.stopping()
        for helper in helpers { helper.cancel() }
        server?.stop()
        printer.finish()
        outbox?.close()
        if let error = failure.error as? KazasuError { throw CommandError(error) }
        if let error = failure.error as? OutboxError { throw CommandError(error) }
        if let error = failure.error { throw error }
        if let error = printer.error, !Interrupt.token.isCancelled { throw error }
    }

    /// The plan that follows from settings.
    private func plan(for settings: WatchSettings) throws(CommandError) -> Watcher.Plan {
        let options = settings.options
        let readers: [NamedReader]
        do { readers = try NamedReader.parse(options.reader) } catch { readers = [] }
        var journal = TapJournal.Settings(site: options.site ?? Self.hostName)
        for reader in readers { journal.names[reader.id] = reader.name }
        journal.key = try options.idKey?.key(tr("the key of --id-key", "--id-key の鍵")).asIdentityKey
        journal.debounce = .seconds(options.debounce)
        journal.language = Language.current
        journal.reason = { CommandError($0).reason }
        var sinks: [any Sink] = []
        if let outbox {
            sinks = try options.sinks.sinks(
                SinkEnvironment(
                    site: journal.site, readers: readers.map(\.name), readsBalances: options.reading != .id,
                    key: journal.key,
                    words: settings.words, outbox: outbox, metrics: metrics, log: log, isRedacted: redaction != nil))
        }
        for (index, sink) in sinks.enumerated() where sinks[..<index].contains(where: { $0.name == sink.name }) {
            throw CommandError(
                .usage, "usage", tr("\(sink.name) is there twice", "\(sink.name) が重複しています"),
                hint: "kazasu watch --help")
        }
        var plan = Watcher.Plan(
            readers: readers.isEmpty ? nil : readers.map(\.id), query: options.query, reading: options.reading,
            journal: journal, sinks: sinks, retention: options.outbox.retention)
        if options.reading == .history { plan.stations = try options.stationOptions.names() }
        return plan
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? "localhost" : text
    }

    /// Reads the settings again; settings that are wrong change nothing.
    private func reload() {
        Task {
            manager.reloading()
            reading: do {
                let new = try WatchSettings.current()
                watcher.change(to: try plan(for: new))
                settings.withLock { $0 = new }
                log.info(tr("settings were read again", "設定を読み直しました"))
                let fixed = try changes(of: new.options)
                guard !fixed.isEmpty else { break reading }
                log.warning(
                    tr(
                        "\(fixed.joined(separator: " and ")) cannot change while it runs; restart it for that",
                        "\(fixed.joined(separator: " と ")) の変更は再起動後に有効になります"))
            } catch {
                let failure = CommandError(error, parsing: Watch.self, [])
                log.error(
                    tr("the old settings stay: ", "設定を変更せずに続けます: ") + failure.message
                        + (failure.hint.map { tr("; hint: ", "。ヒント: ") + $0 } ?? ""))
            }
            manager.ready(Self.status(metrics))
        }
    }

    /// The options that differ from those at the start and that need a restart.
    private func changes(of new: Watch) throws(CommandError) -> [String] {
        var names: [String] = []
        if let outbox, try new.outbox.place.path() != outbox.path { names.append("outbox") }
        if new.metrics != metricsPort { names.append("metrics") }
        return names
    }

    /// Serves the metrics, if they are wanted.
    private func metricsServer() throws(CommandError) -> MetricsServer? {
        guard let port = metricsPort?.port else { return nil }
        let result = Mutex<Result<MetricsServer, MetricsServer.PortError>?>(nil)
        let done = DispatchSemaphore(value: 0)
        Task { [metrics, outbox] in
            let made: Result<MetricsServer, MetricsServer.PortError>
            do throws(MetricsServer.PortError) {
                made = .success(
                    try await MetricsServer(port: port) {
                        metrics.text(try? outbox?.status(), now: EventClock.system.now().wall)
                    })
            } catch {
                made = .failure(error)
            }
            result.withLock { $0 = made }
            done.signal()
        }
        done.wait()
        do throws(MetricsServer.PortError) {
            return try result.withLock { $0 }?.get()
        } catch {
            let reason = SystemMessage.text(error.errno)
            throw CommandError(
                .noReader, error.errno == EADDRINUSE ? "busy" : "absent",
                tr(
                    "metrics cannot be served at port \(port): \(reason)",
                    "ポート \(port) で統計を公開できません: \(reason)"),
                hint: tr("choose another port with --metrics", "--metrics で別のポートを指定してください"))
        }
    }

    /// Says that no reader can be used yet, if that is so, and why.
    private func noteUnusableReaders() {
        let readers = ReaderObstacles.now()
        guard !readers.hasReady else { return }
        log.info(
            readers.isEmpty
                ? tr("no reader is connected yet; waiting for one", "リーダーが接続されていません。接続を待ちます")
                : tr("no reader can be used yet; waiting for one", "使えるリーダーがまだありません。使えるようになるのを待ちます"))
        for sentence in readers.sentences { log.warning(sentence) }
    }

    /// The watchdog.
    private func startHelpers() -> [Task<Void, Never>] {
        var tasks: [Task<Void, Never>] = []
        if let limit = manager.watchdog {
            tasks.append(
                Task { [manager, metrics] in
                    while !Task.isCancelled {
                        // A reader is heard of every five seconds, or later while it reads a card.
                        if metrics.isAlive(within: max(limit, .seconds(15))) { manager.feed() }
                        try? await Task.sleep(for: limit / 2)
                    }
                })
        }
        return tasks
    }

    /// Says once that it watches.
    private final class Start: Sendable {
        private let body: Mutex<(@Sendable () -> Void)?>

        init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

        func announce() {
            let body = body.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
        }
    }

    /// The error that ended the watcher.
    private final class Failure: Sendable {
        private let value = Mutex<(any Error)?>(nil)
        var error: (any Error)? { value.withLock { $0 } }
        func set(_ error: any Error) { value.withLock { $0 = error } }
    }
}

extension [UInt8] {
    fileprivate var asIdentityKey: IdentityKey { IdentityKey(self) }
}

/// Prints events on standard output, on a thread of its own: a reader of the pipe that is slow holds up nothing else.
private final class EventPrinter: Sendable {
    private let redaction: Redaction?
    private let lines: AsyncStream<String>
    private let line: AsyncStream<String>.Continuation
    private let done = DispatchSemaphore(value: 0)
    private let failure = Mutex<CommandError?>(nil)

    init(_ redaction: Redaction?) {
        self.redaction = redaction
        (lines, line) = AsyncStream.makeStream(of: String.self)
    }

    /// Why standard output could not be written.
    var error: CommandError? { failure.withLock { $0 } }

    func print(_ event: OutboxEvent) {
        // Before the event is printed in any form, and before a message speaks of it.
        RedactionGate.shared.learn(json: Array(event.line.utf8))
        line.yield(event.line)
    }

    /// - Parameter failed: called when standard output cannot be written any more.
    func start(failed: @escaping @Sendable () -> Void) {
        Task.detached { [lines, redaction, done] in
            for await line in lines {
                guard self.error == nil else { continue }
                do throws(CommandError) {
                    try Output.write(Array((Self.masked(line, redaction) + "\n").utf8))
                } catch {
                    self.failure.withLock { $0 = error }
                    failed()
                }
            }
            done.signal()
        }
    }

    private static func masked(_ line: String, _ redaction: Redaction?) -> String {
        guard let redaction, let event = try? JSONValue(parsing: Array(line.utf8)) else { return line }
        return redaction.apply(event).compactText
    }

    /// Waits until everything is printed.
    func finish() {
        line.finish()
        done.wait()
    }
}
