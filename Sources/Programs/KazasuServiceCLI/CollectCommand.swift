// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import Synchronization
import Collect
import KazasuTaps
import MQTT

/// `kazasu collect`
struct CollectCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: ServiceCommand.collect.abstract,
        discussion: tr(
            """
            Subscribes to the events of every site, stores each once in the table events, and acknowledges what is \
            stored. Prints a line of JSON for each gap and each site that has become silent. Runs until it is \
            interrupted.

            Examples:
              kazasu collect --mqtt mqtt://broker --to sqlite:events.sqlite
              kazasu collect --mqtt mqtt://broker --to postgresql://db/taps --shared center
            """,
            """
            すべての拠点のイベントを購読し、events テーブルに 1 回ずつ保存して確認応答を返します。\
            欠番と、連絡が途絶えた拠点を JSON で 1 行ずつ出力します。中断されるまで動きます。

            例:
              kazasu collect --mqtt mqtt://broker --to sqlite:events.sqlite
              kazasu collect --mqtt mqtt://broker --to postgresql://db/taps --shared center
            """))

    static let programAccess = CommandAccess.none(because: "it runs until stopped, for watch at other sites")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var broker: BrokerOptions

    @Option(
        required: "", reach: .never, name: .long,
        help: help(
            "Where to store: sqlite:FILE or postgresql://… (the password comes from PGPASSWORD or ~/.pgpass).",
            "保存先: sqlite:ファイル または postgresql://…（パスワードは PGPASSWORD か ~/.pgpass から）。", value: "database"))
    var to: String

    @Option(
        reach: .never, name: .long,
        help: help(
            "Share the events with the other collectors of this group.", "同じグループの collect とイベントを分担する。",
            value: "group"))
    var shared: String?

    @Option(
        reach: .never, name: .long,
        help: help(
            "The name under which the broker keeps events for this collector. Default: the host's name.",
            "ブローカーがこの collect 宛てのイベントを保持するときの名前。省略時はホスト名。", value: "name"))
    var name: String?

    @Option(
        reach: .never, name: .long,
        help: help(
            "How long missing events are asked for before they are reported and given up.",
            "欠番を再送要求する時間。過ぎると報告して先へ進む。", value: "seconds"))
    var gapAfter = 60.0

    @Option(
        reach: .never, name: .long,
        help: help(
            "How long nothing may be heard from a site.", "拠点から連絡がなくてもよい時間。", value: "seconds"))
    var silentAfter = 180.0

    func validate() throws {
        try broker.checkTogether()
        if broker.mqtt == nil {
            throw ValidationError(tr("collect needs --mqtt", "collect には --mqtt が必要です"))
        }
        if let shared, shared.isEmpty || MQTTTopics.name(shared) != shared {
            throw ValidationError(
                tr("--shared takes letters, digits, _ and -", "--shared には英数字、_、- だけを使ってください"))
        }
        for seconds in [gapAfter, silentAfter] where !(1...604_800).contains(seconds) {
            throw ValidationError(
                tr(
                    "--gap-after and --silent-after take 1 to 604800 seconds",
                    "--gap-after と --silent-after は 1～604800 秒です"))
        }
        do throws(Collector.Destination.AddressError) {
            _ = try Collector.Destination(to)
        } catch {
            let text =
                switch error {
                case .password:
                    tr(
                        "--to takes no password; use PGPASSWORD or ~/.pgpass",
                        "--to にパスワードは書けません。PGPASSWORD か ~/.pgpass を使ってください")
                case .unknown:
                    tr("--to takes sqlite:FILE or postgresql://…", "--to には sqlite:ファイル または postgresql://… を指定してください")
                }
            throw ValidationError(text)
        }
    }

    func execute(_ context: Context) throws {
        guard let broker = try broker.broker(), let destination = try? Collector.Destination(to) else {
            throw CommandError(.collectNeedsMQTT)
        }
        var settings = Collector.Settings(broker: broker, name: name ?? HostName.current)
        settings.prefix = self.broker.mqttPrefix
        settings.shared = shared
        settings.gapLimit = .milliseconds(Int(gapAfter * 1000))
        settings.silenceLimit = .milliseconds(Int(silentAfter * 1000))
        let run = CollectRun(context)
        let collector: Collector
        do throws(EventStoreError) {
            collector = try Collector(settings, to: destination, tell: run.tell, report: run.report)
        } catch {
            throw CommandError(error, to)
        }
        // Runs until it is stopped, so that is not a failure.
        Interrupt.hold()
        context.note(tr("collecting; press Ctrl-C to stop", "収集しています。Ctrl-C で終了します"))
        try run.run(collector, context.cancellation, to)
    }
}

/// One run: prints what the collector reports, until a signal.
private final class CollectRun: Sendable {
    private let redaction: Redaction
    private let verbosity: Int
    private let output = LineOutput()
    private let failure = Mutex<CommandError?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ context: Context) {
        redaction = context.redaction
        verbosity = context.verbosity
    }

    func run(_ collector: Collector, _ token: CancellationToken, _ place: String) throws(CommandError) {
        output.whenFailed(fail)
        output.whenLost { loss in
            guard loss == .begins else { return }
            LineOutput.messages.write(
                "kazasu: "
                    + tr(
                        "nobody reads standard output; lines are dropped until somebody does",
                        "標準出力が読まれていないため、読まれるまで行を破棄します") + "\n")
        }
        let done = Latch()
        let work = Task(priority: .medium) {
            do throws(EventStoreError) {
                try await collector.run()
            } catch {
                if !Task.isCancelled { fail(CommandError(error, place)) }
            }
            done.open()
        }
        task.withLock { $0 = work }
        token.onCancel { work.cancel() }
        done.wait()
        output.finish()
        LineOutput.messages.finish()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func fail(_ error: CommandError) {
        failure.withLock { $0 = $0 ?? error }
        task.withLock { $0 }?.cancel()
    }

    func report(_ report: CollectReport) {
        let line = redaction.apply(report.json(at: .now)).compactText + "\n"
        output.write(VisibleText.lines(line, keepingColors: Color.isOnOutput))
    }

    func tell(_ notice: Collector.Notice) {
        switch notice {
        case .broker(.connected) where verbosity < 0: return
        case .broker(let notice): LineOutput.messages.write("kazasu: \(VisibleText.line(notice.words))\n")
        case .database(let error, let count):
            let reason = VisibleText.line(error.words)
            LineOutput.messages.write(
                count == 0
                    ? tr(
                        "kazasu: waiting for the database: \(reason)\n", "kazasu: データベースを待っています: \(reason)\n")
                    : tr(
                        "kazasu: \(Words.count(count, "event")) \(count == 1 ? "waits" : "wait") for the database; the broker keeps what is not stored: \(reason)\n",
                        "kazasu: \(count) 件のイベントが保存待ちです（未保存のものはブローカーに残ります）: \(reason)\n"))
        case .notImproved(let improvement, let error):
            guard verbosity >= 0 else { return }
            let reason = VisibleText.line(error.words)
            let text =
                switch improvement {
                case .index:
                    tr(
                        "an index of the table events is missing and cannot be made: ",
                        "events テーブルの索引がなく、作成もできません: ")
                case .jsonb:
                    tr(
                        "the column body stays json and cannot be made jsonb: ",
                        "body 列を json から jsonb に変更できません: ")
                }
            LineOutput.messages.write("kazasu: \(text)\(reason)\n")
        }
    }
}

extension CommandError {
    init(_ error: EventStoreError, _ place: String) {
        if case .foreignJournal = error {
            self = .foreignJournal(error)
            return
        }
        self.init(error == .foreign ? .collectForeign : .collectUnusable, values: [place, error.words])
    }
}
