// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import KazasuTaps

/// `kazasu outbox`
struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: ServiceCommand.outbox.abstract,
        discussion: tr(
            """
            'watch' keeps each event until its sinks have it. All of this works while it runs.

            Examples:
              kazasu outbox status                 # what waits for each sink, and why
              kazasu outbox dead                   # events that could not be delivered
              kazasu outbox resend                 # try those again
              kazasu outbox drop --sink exec:/old --pending
            """,
            """
            watch は、届くまでイベントを残しておきます。どの操作も watch の実行中に使えます。

            例:
              kazasu outbox status                 # 送り先ごとの未配信と理由
              kazasu outbox dead                   # 配信できなかったイベント
              kazasu outbox resend                 # それらをもう一度送る
              kazasu outbox drop --sink exec:/old --pending
            """),
        subcommands: [OutboxStatus.self, OutboxDead.self, OutboxResend.self, OutboxDrop.self])
}

extension OutboxPath {
    /// Opens the outbox, which must be there.
    fileprivate func open() throws(CommandError) -> Outbox {
        let path = try path()
        guard access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR else {
            let watch = Caller.current.command("watch")
            throw CommandError(.outboxNone, values: [Files.name(path), watch])
        }
        try FilesInUse.shared.keeps(path)
        do throws(OutboxError) {
            return try Outbox(path, isWatcher: false)
        } catch {
            throw CommandError(error)
        }
    }

    /// Opens the outbox for one piece of work.
    ///
    /// - Parameter sink: the sink that the user named, which the outbox must know.
    fileprivate func use<Value: Sendable>(
        sink: String? = nil, _ body: @escaping @Sendable (Outbox) async throws(OutboxError) -> Value
    ) throws(CommandError) -> Value {
        let outbox = try open()
        let result: (value: Value?, sinks: [String])
        do throws(OutboxError) {
            result = try Blocking.run { () async throws(OutboxError) in
                do throws(OutboxError) {
                    let sinks = sink == nil ? [] : try await outbox.sinks()
                    let value = sink.map(sinks.contains) ?? true ? try await body(outbox) : nil
                    await outbox.close()
                    return (value, sinks)
                } catch {
                    await outbox.close()
                    throw error
                }
            }
        } catch {
            throw CommandError(error)
        }
        if let value = result.value { return value }
        let sinks = result.sinks
        throw CommandError(
            sinks.isEmpty ? .outboxNoSinks : .outboxNoSuchSink,
            values: [sink ?? "", sinks.joined(separator: tr(", ", "、"))])
    }
}

/// Completion of the names of sinks, which makes no outbox.
private enum OutboxCompletion {
    static let sinks = CompletionKind.custom { words, _, _ in
        var place = OutboxPath()
        place.outbox = zip(words, words.dropFirst()).first { $0.0 == "--outbox" }?.1
        return (try? place.use { outbox throws(OutboxError) in try await outbox.sinks() }) ?? []
    }
}

/// `kazasu outbox status`
struct OutboxStatus: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: tr("Show stored events, and the pending ones of each sink.", "保存されているイベントと、送り先ごとの未配信を表示する。"),
        discussion: tr(
            """
            One line for each sink that has not taken every event: SINK PENDING DEAD, then the age of the oldest \
            pending event, and why the last attempt failed.

            Examples:
              kazasu outbox status
              kazasu outbox status --json | jq '.sinks[] | select(.pending > 100)'
            """,
            """
            未配信のある送り先ごとに 1 行で、送り先・未配信数・配信不能数・最も古いものの経過時間・最後の失敗の理由を表示します。

            例:
              kazasu outbox status
              kazasu outbox status --json | jq '.sinks[] | select(.pending > 100)'
            """))

    static let programAccess = CommandAccess.none(
        because: "the outbox is that of watch, which reports it in its metrics")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: CommonOptions.title) var place: OutboxPath

    func execute(_ context: Context) throws {
        let status = try place.use { outbox async throws(OutboxError) in try await outbox.status() }
        if context.json { return try context.print(Self.json(status)) }
        let now = EventClock.system.now().wall
        let rows = status.sinks.map { sink in
            [
                sink.sink, "\(sink.pending)", "\(sink.dead)",
                sink.oldest.map { Self.age(max(0, now - $0.milliseconds) / 1000) } ?? "-",
                sink.error.map(DeliveryWords.text) ?? "-",
            ]
        }
        let head = [
            tr("SINK", "送り先"), tr("PENDING", "未配信"), tr("DEAD", "配信不能"), tr("OLDEST", "最古"), tr("ERROR", "理由"),
        ]
        let unconfirmed =
            status.needsConfirmation
            ? tr(", \(status.unconfirmed) not acknowledged by the consumer", "（うち受信側の受領待ち \(status.unconfirmed) 件）")
            : ""
        context.note(
            tr(
                "\(Words.count(status.events, "event")) stored\(unconfirmed), \(status.size >> 10) KiB",
                "保存中のイベント \(status.events) 件\(unconfirmed)、\(status.size >> 10) KiB"))
        if !rows.isEmpty { try context.print(Columns.text([head] + rows, rightAligned: [1, 2])) }
    }

    private static func age(_ seconds: Int) -> String {
        switch seconds {
        case ..<120: tr("\(seconds)s", "\(seconds) 秒前")
        case ..<7200: tr("\(seconds / 60)m", "\(seconds / 60) 分前")
        default: tr("\(seconds / 3600)h", "\(seconds / 3600) 時間前")
        }
    }

    private static func json(_ status: Outbox.Status) -> JSONValue {
        [
            "schema": "kazasu.outboxStatus/1", "events": .int(status.events), "unconfirmed": .int(status.unconfirmed),
            "bytes": .int(status.size),
            "sinks": .array(
                status.sinks.map { sink in
                    [
                        "sink": .string(sink.sink), "pending": .int(sink.pending), "dead": .int(sink.dead),
                        "oldest": .text(sink.oldest?.text()),
                        "attempts": .int(sink.attempts),
                        "error": .text(sink.error),
                    ]
                }),
            "readers": .array(
                status.readers.sorted { $0.key < $1.key }.map {
                    ["reader": .string($0.key), "seq": .int($0.value)]
                }),
        ]
    }
}

/// Which deliveries a command is about.
struct DeliverySelection: ParsableArguments {
    @Option(
        reach: .never, name: .long,
        help: help("Only this sink, as 'outbox status' shows it.", "この送り先だけ（outbox status の表記）。", value: "sink"),
        completion: OutboxCompletion.sinks)
    var sink: String?

    @Argument(reach: .never, help: help("Only these events.", "これらのイベントだけ。", value: "id"))
    var ids: [String] = []
}

/// `kazasu outbox dead`
struct OutboxDead: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: tr("List the events that could not be delivered.", "配信できなかったイベントの一覧を表示する。"),
        discussion: tr(
            """
            One line each, under a heading. With --json, also the events themselves.

            Examples:
              kazasu outbox dead
              kazasu outbox dead --json | jq '.letters[].event'
            """,
            """
            見出しの下に 1 件 1 行で表示します。--json ではイベントそのものも出力します。

            例:
              kazasu outbox dead
              kazasu outbox dead --json | jq '.letters[].event'
            """))

    static let programAccess = CommandAccess.none(
        because: "somebody decides at the terminal what becomes of a delivery that failed for good")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: CommonOptions.title) var place: OutboxPath

    @Option(
        reach: .never, name: .long,
        help: help("Only this sink, as 'outbox status' shows it.", "この送り先だけ（outbox status の表記）。", value: "sink"),
        completion: OutboxCompletion.sinks)
    var sink: String?

    func execute(_ context: Context) throws {
        let letters = try place.use(sink: sink) { outbox async throws(OutboxError) in
            try await outbox.deadLetters(of: sink)
        }
        if context.json {
            return try context.print([
                "schema": "kazasu.outboxDead/1",
                "letters": .array(
                    letters.map { letter in
                        [
                            "sink": .string(letter.sink), "attempts": .int(letter.attempts),
                            "error": .text(letter.error),
                            "event": letter.event?.json ?? nil,
                        ]
                    }),
            ])
        }
        guard !letters.isEmpty else {
            return context.note(tr("no undeliverable events", "配信不能のイベントはありません"))
        }
        let head = [
            tr("ID", "ID"), tr("TIME", "時刻"), tr("READER", "リーダー"), tr("TYPE", "種類"), tr("TAG", "カードの番号"),
            tr("SINK", "送り先"), tr("REASON", "理由"),
        ]
        let rows = letters.map { letter in
            let event = letter.event
            return [
                letter.id, event?.moment.text ?? "-", event?.reader ?? "-", event?.kind.word ?? "-",
                event?.card?.tag.map(context.redaction.apply) ?? "-", letter.sink,
                letter.error.map(DeliveryWords.text) ?? "-",
            ]
        }
        try context.print(Columns.text([head] + rows, rightAligned: [1, 2]))
    }
}

/// `kazasu outbox resend`
struct OutboxResend: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: tr("Queue undeliverable events again.", "配信できなかったイベントをもう一度送る。"),
        discussion: tr(
            """
            They go out in their old order, before newer events of the same reader, the next time 'watch' delivers.

            Examples:
              kazasu outbox resend
              kazasu outbox resend --sink webhook:example.com/taps
            """,
            """
            次に watch が配信するとき、同じリーダーの新しいイベントより先に、元の順序で送ります。

            例:
              kazasu outbox resend
              kazasu outbox resend --sink webhook:example.com/taps
            """))

    static let programAccess = CommandAccess.none(
        because: "somebody decides at the terminal what becomes of a delivery that failed for good")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: CommonOptions.title) var place: OutboxPath
    @OptionGroup var selection: DeliverySelection

    func execute(_ context: Context) throws {
        let chosen = Outbox.Selection(sink: selection.sink, ids: selection.ids)
        let count = try place.use(sink: selection.sink) { outbox async throws(OutboxError) in
            try await outbox.resend(chosen)
        }
        try context.report("resent", count, tr("queued again: \(count)", "再送待ち: \(count) 件"))
    }
}

/// `kazasu outbox drop`
struct OutboxDrop: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: tr(
            "Discard undeliverable events, or everything that waits for a sink.", "配信不能のイベント、または送り先の未配信を破棄する。"),
        discussion: tr(
            """
            Asks first, unless --yes is given. --pending also discards what still waits, as for a sink that is no \
            longer used, and what no consumer has acknowledged (watch --confirm).

            Examples:
              kazasu outbox drop --yes
              kazasu outbox drop --sink exec:/usr/local/bin/old --pending
            """,
            """
            --yes がなければ確認します。--pending を付けると、もう使わない送り先などの未配信と、受信側の受領待ち\
            （watch --confirm）も破棄します。

            例:
              kazasu outbox drop --yes
              kazasu outbox drop --sink exec:/usr/local/bin/old --pending
            """))

    static let programAccess = CommandAccess.none(
        because: "somebody decides at the terminal what becomes of a delivery that failed for good")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: CommonOptions.title) var place: OutboxPath
    @OptionGroup var selection: DeliverySelection

    @Flag(reach: .never, name: .long, help: help("Pending events as well.", "未配信のイベントも対象にする。"))
    var pending = false

    @Flag(reach: .never, name: .long, help: help("Do not ask.", "確認しない。"))
    var yes = false

    func execute(_ context: Context) throws {
        if !yes { try Confirmation.ask(tr("Discard these deliveries?", "これらの配信を破棄しますか？")) }
        let chosen = Outbox.Selection(sink: selection.sink, ids: selection.ids, includesPending: pending)
        let count = try place.use(sink: selection.sink) { outbox async throws(OutboxError) in
            try await outbox.drop(chosen)
        }
        try context.report("dropped", count, tr("discarded: \(count)", "破棄: \(count) 件"))
    }
}

extension Context {
    /// Prints how many deliveries a command changed.
    fileprivate func report(_ action: String, _ count: Int, _ text: String) throws(CommandError) {
        guard json else { return note(text) }
        try print(["schema": "kazasu.outboxChange/1", "action": .string(action), "count": .int(count)])
    }
}
