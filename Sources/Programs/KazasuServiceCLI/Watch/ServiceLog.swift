// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import KazasuCLI
import Logging
import KazasuTaps
import SharedReaders
import Synchronization

/// The log of `watch` and `serve`, on standard error: with the priorities that journald reads where it does, for people elsewhere.
struct ServiceLog: Sendable {
    let logger: Logger
    /// The readers of which it was said that they have no lights.
    private let darkReaders = SaidOnce()

    /// - Parameters:
    ///   - verbosity: -1 for warnings only, 1 for everything.
    ///   - isJournal: whether standard error goes to journald.
    init(verbosity: Int, isJournal: Bool = Self.isJournal(SystemEnvironment.all["JOURNAL_STREAM"])) {
        var logger = Logger(label: "kazasu") { _ in StandardErrorLog(isJournal: isJournal) }
        logger.logLevel = verbosity < 0 ? .warning : verbosity > 0 ? .debug : .info
        self.logger = logger
    }

    /// Whether standard error is the stream that the service manager named: device and inode, as in systemd.exec(5).
    /// Programs that a service starts inherit the variable, whatever their own standard error is.
    private static func isJournal(_ stream: String?) -> Bool {
        var status = stat()
        guard let stream, fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    func debug(_ text: String) { logger.debug("\(text)") }
    func info(_ text: String) { logger.info("\(text)") }
    /// What a user needs even with `-q`, such as the port that the system chose.
    func notice(_ text: String) { logger.warning("\(text)") }
    func warning(_ text: String) { logger.warning("\(text)") }
    func error(_ text: String) { logger.error("\(text)") }

    /// Logs why an answer was not shown; what is always so, once.
    func note(_ failure: ReaderLights.Failure, at reader: String) {
        switch failure {
        case .noLights:
            guard darkReaders.isNew(reader) else { return }
            warning(
                tr(
                    "reader \(reader) has no lights that can be set; see --answer",
                    "リーダー \(reader) には制御できるランプがありません（--answer を参照）"))
        case .reader(let error):
            warning(
                tr("reader \(reader) did not show an answer: ", "リーダー \(reader) で応答を示せませんでした: ")
                    + CommandError(error).message)
        case .led(let path, let number):
            warning(
                tr("the light \(path) cannot be set: ", "ランプ \(path) を設定できません: ") + SystemMessage.text(number))
        case .line(let failure):
            let line = GPIOText.line(failure.line)
            warning(tr("\(line) cannot be set: ", "\(line) を設定できません: ") + GPIOText.reason(failure))
        }
    }

    private func notConnected(_ name: String) {
        info(tr("reader \(name) is not connected; waiting for it", "リーダー \(name) は接続されていません。接続を待ちます"))
    }

    /// Logs why lights would stay on.
    func note(_ failure: LightFailure) {
        warning(
            tr("lights stay on if this program is killed: ", "強制終了されるとランプが点灯したままになります: ")
                + SystemMessage.text(failure.number))
    }

    /// Logs what happened.
    ///
    /// - Parameter readersAreShown: whether the user sees the states of readers among the events.
    func note(_ notice: Watcher.Notice, readersAreShown: Bool) {
        switch notice {
        case .reader(_, .ready, _) where readersAreShown, .reader(_, .gone, _) where readersAreShown: break
        case .reader(let name, .ready, _): info(tr("reader \(name) is ready", "リーダー \(name) が使えます"))
        case .reader(let name, .error, let error?) where error.isReaderGone: notConnected(name)
        case .reader(let name, .gone, _): notConnected(name)
        case .reader(let name, .error, let error):
            let failure = error.map { CommandError($0) }
            warning(
                tr("reader \(name): ", "リーダー \(name): ") + (failure?.message ?? tr("error", "エラー"))
                    + (failure?.hint.map { tr("; hint: ", "。ヒント: ") + $0 } ?? ""))
        case .beeps(let name):
            warning(
                tr(
                    "reader \(name) may beep by itself: --quiet-reader cannot change that",
                    "リーダー \(name) は自分で音を鳴らすことがあります（--quiet-reader では止められません）"))
        case .notStored(let error, let count):
            self.error(
                CommandError(error).message
                    + (count == 0
                        ? tr("; new events wait in memory", "。新しいイベントはメモリーに保持します")
                        : tr("; \(Words.count(count, "event")) in memory", "。\(count) 件をメモリーに保持しています")))
        case .storedAgain: info(tr("events are stored again", "イベントの保存を再開しました"))
        case .asker(let reason?):
            let why = DeliveryWords.text(reason)
            warning(tr("the asker of --ask does not decide (\(why))", "--ask の応答が得られません（\(why)）"))
        case .asker(nil): info(tr("the asker of --ask decides again", "--ask の応答が再び得られるようになりました"))
        case .sink(.failing(let sink, let reason)):
            let why = DeliveryWords.text(reason)
            warning(tr("delivery to \(sink) fails (\(why)); retrying", "\(sink) に届きません（\(why)）。再試行します"))
        case .sink(.recovered(let sink)): info(tr("\(sink) accepts events again", "\(sink) への配信を再開しました"))
        case .sink(.dead(let sink, let id, let reason)):
            let why = DeliveryWords.text(reason)
            let dead = Caller.current.command("outbox dead")
            self.error(
                tr(
                    "event \(id) was not delivered to \(sink) (\(why)); \(dead) lists it",
                    "イベント \(id) を \(sink) に配信できませんでした（\(why)）。\(dead) で確認できます"))
        case .sink(.outbox(let error)): self.error(CommandError(error).message)
        case .ending(let pending, let sinks):
            let names = sinks.joined(separator: tr(", ", "、"))
            info(
                tr(
                    "\(Words.count(pending, "event")) not delivered to \(names) yet; press Ctrl-C again to leave them for the next start",
                    "\(names) に未配信のイベントが \(pending) 件あります。もう一度 Ctrl-C を押すと、次回の起動まで残して終了します"))
        case .ended(let pending):
            info(
                tr(
                    "\(Words.count(pending, "event")) left for the next start",
                    "\(pending) 件のイベントは次回の起動時に配信します"))
        }
    }
}

/// Writes each message as one line.
private struct StandardErrorLog: LogHandler {
    let isJournal: Bool
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.info

    init(isJournal: Bool) { self.isJournal = isJournal }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let text = VisibleText.line("\(event.message)")
        LineOutput.messages.write(isJournal ? "<\(Self.priority(event.level))>\(text)\n" : "kazasu: \(text)\n")
    }

    /// The priority of syslog(3).
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        default: 7
        }
    }
}

/// What was said once, and need not be said again.
private final class SaidOnce: Sendable {
    private let said = Mutex<Set<String>>([])

    func isNew(_ what: String) -> Bool { said.withLock { $0.insert(what).inserted } }
}
