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

    init(_ context: Context, _ settings: WatchSettings) throws {
        let log = ServiceLog(verbosity: context.verbosity)
        let needsOutbox =
            !settings.options.sinks.isEmpty || settings.options.outbox.place.outbox != nil || settings.file != nil
        let outbox = try needsOutbox ? Self.open(settings.options.outbox.place.path(), log) : nil
        let printer = EventPrinter(context.redaction.isOn ? context.redaction : nil)
        let token = context.cancellation
        redaction = context.redaction.isOn ? context.redaction : nil
        self.log = log
        self.outbox = outbox
        self.printer = printer
        self.settings = Mutex(settings)
        cancellation = { handler in _ = token.onCancel(handler) }
        let (manager, metrics) = (manager, metrics)
        watcher = Watcher(
            outbox: outbox, metrics: metrics, emit: { printer.print($0) },
            tell: { notice in
                log.note(notice)
                switch notice {
                case .reader: manager.status(Self.status(metrics))
                case .notStored: manager.status(tr("events cannot be stored", "イベントを保存できません"))
                case .sink, .storedAgain: break
                }
            })
    }

    private static func status(_ metrics: Metrics) -> String {
        let count = metrics.readersReady
        return tr("\(count) reader\(count == 1 ? "" : "s") ready", "リーダー \(count) 台が使えます")
    }

    /// A damaged outbox is set aside: what is in it may be saved by hand, and readers must not wait for that.
    private static func open(_ path: String, _ log: ServiceLog) throws(CommandError) -> Outbox {
        do throws(OutboxError) {
            return try Outbox(path, isWatcher: true)
        } catch .damaged {
            guard let name = Outbox.setAside(path) else { throw CommandError(OutboxError.damaged(path: path)) }
            log.error(
                tr(
                    "\(path) is damaged; it is now \(name), and a new one is used",
                    "\(path) が壊れているため \(name) に移し、新しいファイルを使います"))
            do throws(OutboxError) {
                return try Outbox(path, isWatcher: true)
            } catch {
                throw CommandError(error)
            }
        } catch {
            throw CommandError(error)
        }
    }

    /// Runs until it is stopped, which is not a failure, or until nobody reads the events any more.
    func run() throws {
        Interrupt.hold()
        let plan = try plan(for: settings.withLock { $0 })
        cancellation { [watcher] in watcher.stop() }
        Interrupt.onHangup { [weak self] in self?.reload() }
        // Without a sink, the events are for standard output alone.
        printer.start { [watcher, outbox] in if outbox == nil { watcher.stop() } }
        let helpers = startHelpers()
        let (done, failure) = (DispatchSemaphore(value: 0), Failure())
        Task {
            do { try await self.watcher.run(plan) } catch { failure.set(error) }
            done.signal()
        }
        manager.ready(Self.status(metrics))
        log.info(tr("watching; press Ctrl-C to stop", "監視しています。Ctrl-C で終了します"))
        done.wait()
        manager.stopping()
        for helper in helpers { helper.cancel() }
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
        return Watcher.Plan(
            readers: readers.isEmpty ? nil : readers.map(\.id), query: options.query, reading: options.reading,
            journal: journal, sinks: sinks, retention: options.outbox.retention)
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
            do {
                let new = try WatchSettings.current()
                watcher.change(to: try plan(for: new))
                settings.withLock { $0 = new }
                log.info(tr("settings were read again", "設定を読み直しました"))
            } catch {
                let message = (error as? CommandError)?.message ?? Watch.message(for: error)
                log.error(tr("the old settings stay: ", "設定を変更せずに続けます: ") + message)
            }
            manager.ready(Self.status(metrics))
        }
    }

    /// The watchdog and the metrics.
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
        if let port = settings.withLock({ $0.options.metrics?.port }) {
            tasks.append(
                Task { [metrics, outbox, log] in
                    do {
                        let server = try await MetricsServer(port: port) {
                            metrics.text(try? outbox?.status(), now: EventClock.system.now().wall)
                        }
                        try await server.run()
                    } catch {
                        guard !Task.isCancelled else { return }
                        log.error(
                            tr("metrics cannot be served at port \(port)", "ポート \(port) で統計を公開できません"))
                    }
                })
        }
        return tasks
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

    func print(_ event: OutboxEvent) { line.yield(event.line) }

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
