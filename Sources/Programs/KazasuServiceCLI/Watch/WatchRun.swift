// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Dispatch
import Glibc
import Kazasu
import KazasuCLI
import ReaderCore
import SharedReaders
import KazasuTaps

/// What shows the events of a run, beside the sinks.
protocol WatchFront: Sendable {
    /// Whether the user sees the states of readers among the events.
    var showsReaders: Bool { get }

    /// Whether programs use the readers beside the run.
    var sharesReaders: Bool { get }

    /// Takes what is wanted from now on: before the start, and at each change.
    func follow(_ plan: RunPlan)

    /// The readers can be used, or may be later: says what else there is.
    func announce()

    /// Begins, before the first event.
    ///
    /// - Parameter stop: ends the run, as when nobody is left to see anything.
    func start(stop: @escaping @Sendable () -> Void) throws(CommandError)

    /// Shows an event that is stored. Called for one event after another.
    func show(_ event: StoredEvent, _ tap: Tap?)

    /// Ends; every event was shown.
    func finish()

    /// Why it could not go on.
    var failure: CommandError? { get }
}

/// One run of `watch` or `serve`: from its settings to its end, with what happens meanwhile.
final class WatchRun<Options: WatchingCommand>: Sendable {
    private let log: ServiceLog
    private let metrics = Metrics()
    private let manager = ServiceManager(SystemEnvironment.all)
    private let outbox: Outbox?
    private let planner: WatchPlanner
    private let watcher: Watcher
    private let front: any WatchFront
    private let parts: RunParts
    /// What is wanted at the start.
    private let plan: RunPlan
    private let watchesAll: Bool
    private let cancellation: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Says once that it watches.
    private let announce: @Sendable () -> Void
    /// Settings at start that need a restart to change.
    private let fixedSettings: [FixedSetting]
    /// Reads the settings, which may block, one time after another: the newest come last.
    private let reloading = DispatchQueue(label: "settings")

    /// - Parameter makeFront: gets what lives as long as the run.
    init(
        _ context: Context, _ settings: WatchSettings<Options>, needsOutbox: Bool,
        makeFront: (SharedReaders, Outbox?, Metrics, ServiceLog) throws -> any WatchFront
    ) throws {
        Interrupt.hold()
        defer { LineOutput.messages.finish() }
        let log = ServiceLog(verbosity: context.verbosity)
        let place = try needsOutbox ? settings.options.outbox.place.place() : nil
        let outbox = place.map { Outbox(unopened: $0.path, isWatcher: true, makesFolders: !$0.isChosen) }
        let readers = settings.options.readers
        let token = context.cancellation
        self.log = log
        self.outbox = outbox
        fixedSettings = settings.options.fixedSettings
        cancellation = { handler in _ = token.onCancel(handler) }
        let (manager, metrics) = (manager, metrics)
        let shared = SharedReaders.forCommands()
        let front = try makeFront(shared, outbox, metrics, log)
        self.front = front
        let isAnnounced = OneShot<Void>()
        let announce: @Sendable () -> Void = {
            guard isAnnounced.give(()) else { return }
            manager.ready(Self.status(metrics))
            log.info(Self.watching(readers))
            front.announce()
        }
        self.announce = announce
        planner = WatchPlanner(
            outbox: outbox, metrics: metrics, log: log, isRedacted: context.redaction.isOn, shared: shared,
            sharesReaders: front.sharesReaders)
        let (plan, watch) = try planner.plan(for: settings)
        self.plan = plan
        // Settings that are wrong leave no outbox.
        if let outbox { try Self.open(outbox, log) }
        watchesAll = readers.isEmpty && SystemEnvironment.all["KAZASU_READER", default: ""].isEmpty
        watcher = Watcher(
            watch, outbox: outbox, metrics: metrics, emit: { event, tap in front.show(event, tap) },
            tell: { notice in
                // A reader that no driver knows ends the run before that.
                if case .reader = notice { announce() }
                log.note(notice, readersAreShown: front.showsReaders)
                switch notice {
                case .reader: manager.status(Self.status(metrics))
                case .notStored: manager.status(tr("events cannot be stored", "イベントを保存できません"))
                case .beeps, .asker, .sink, .storedAgain, .ending, .ended: break
                }
            })
        parts = RunParts(
            shared, watcher: watcher, front: front, lines: planner.lines, verbosity: context.verbosity,
            tell: { failure in log.note(failure) })
    }

    /// What is watched.
    private static func watching(_ readers: [NamedReader]) -> String {
        let readers = readers.map { $0.name == $0.id ? $0.id : tr("\($0.name) (\($0.id))", "\($0.name)（\($0.id)）") }
        let all = SystemEnvironment.all["KAZASU_READER"].flatMap { $0.isEmpty ? nil : $0 }
        let names = readers.isEmpty ? all ?? tr("every reader", "すべてのリーダー") : readers.joined(separator: tr(", ", "、"))
        return tr("watching \(names); press Ctrl-C to stop", LineBreaker.joined(names, "を監視しています。Ctrl-C で終了します"))
    }

    private static func status(_ metrics: Metrics) -> String {
        let count = metrics.readersReady
        return tr("\(count) reader\(count == 1 ? "" : "s") ready", "リーダー \(count) 台が使えます")
    }

    private static func open(_ outbox: Outbox, _ log: ServiceLog) throws(CommandError) {
        let failure = Blocking.run { () async -> OutboxError? in
            do throws(OutboxError) {
                try await outbox.open { name in
                    log.error(
                        tr(
                            "\(outbox.path) is damaged; it is now \(name), and a new one is used",
                            "\(outbox.path) が壊れているため \(name) に移し、新しいファイルを使います"))
                }
                for (old, new) in try await outbox.moveSeries(ReaderRegistry.numbered.map { ($0.number, $0.id) }) {
                    log.info(
                        tr(
                            "reader \(old) is named \(new) from now on; its events are numbered on",
                            "リーダー \(old) の名前は今後 \(new) です。イベント番号は引き続き使います"))
                }
            } catch {
                return error
            }
            return nil
        }
        if let failure { throw CommandError(failure) }
    }

    /// Runs until it is stopped, which is not a failure, or until nobody reads the events any more.
    func run() throws {
        defer { LineOutput.messages.finish() }
        cancellation { [watcher] in watcher.stop() }
        Interrupt.onRepeat { [watcher] in watcher.leave() }
        Interrupt.onHangup { [weak self] in self?.reload() }
        parts.apply(plan)
        // A PC/SC program may keep a card, and with it the reader, as long as it likes.
        cancellation { [parts] in parts.bridges.cancel() }
        try front.start { [watcher] in watcher.stop() }
        let watchdog = startWatchdog()
        if watchesAll {
            announce()
            noteUnusableReaders()
        }
        let failure = Blocking.run { [watcher] () async -> (any Error)? in
            do { try await watcher.run() } catch { return error }
            return nil
        }
        manager.stopping()
        watchdog?.cancel()
        parts.bridges.stop()
        front.finish()
        Blocking.run { [parts] () async in await parts.readers.close() }
        parts.endLights()
        if let outbox { Blocking.run { () async in await outbox.close() } }
        switch failure {
        case let error as KazasuError: throw CommandError(error)
        case let error as OutboxError: throw CommandError(error)
        case let error?: throw error
        case nil: if let error = front.failure, !Interrupt.token.isCancelled { throw error }
        }
    }

    /// Reads the settings again; settings that are wrong change nothing.
    private func reload() {
        reloading.async { [self] in
            manager.reloading()
            reading: do {
                let new = try WatchSettings<Options>.current()
                parts.apply(try planner.plan(for: new).plan)
                log.info(tr("settings were read again", "設定を読み直しました"))
                let fixed = try changes(of: new.options)
                guard !fixed.isEmpty else { break reading }
                log.warning(
                    tr(
                        "\(fixed.joined(separator: " and ")) cannot change while it runs; restart it for that",
                        "\(fixed.joined(separator: " と ")) の変更は再起動後に有効になります"))
            } catch {
                let failure = CommandError(error, parsing: Options.self, [])
                log.error(
                    tr("the old settings stay: ", "設定を変更せずに続けます: ") + failure.message
                        + (failure.hint.map { tr("; hint: ", "。ヒント: ") + $0 } ?? ""))
            }
            manager.ready(Self.status(metrics))
        }
    }

    /// The options that differ from those at the start and that need a restart.
    private func changes(of new: Options) throws(CommandError) -> [String] {
        var names: [String] = []
        if let outbox, try new.outbox.place.path() != outbox.path { names.append("outbox") }
        for (old, new) in zip(fixedSettings, new.fixedSettings) where old != new { names.append(old.name) }
        return names
    }

    /// Reports unusable readers with reasons, and whether any is ready.
    private func noteUnusableReaders() {
        let readers = ReaderObstacles.now()
        if readers.isEmpty {
            log.info(tr("no reader is connected yet; waiting for one", "リーダーが接続されていません。接続を待ちます"))
        } else if !readers.hasReady {
            log.info(tr("no reader can be used yet; waiting for one", "使えるリーダーがまだありません。使えるようになるのを待ちます"))
        }
        for sentence in readers.sentences { log.warning(sentence) }
    }

    /// Feeds the watchdog of the service manager, if it has one.
    private func startWatchdog() -> Task<Void, Never>? {
        guard let limit = manager.watchdog else { return nil }
        return Task(priority: .medium) { [manager, metrics] in
            while !Task.isCancelled {
                // A reader is heard of every five seconds, or later while it reads a card.
                if metrics.isAlive(within: max(limit, .seconds(15))) { manager.feed() }
                try? await Task.sleep(for: limit / 2)
            }
        }
    }
}
