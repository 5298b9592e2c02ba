// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import KazasuTaps

/// `kazasu watch`
struct Watch: WatchingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: ServiceCommand.watch.abstract,
        discussion: tr(
            """
            Prints a line each time a card is placed on or removed from any reader, until it is \
            interrupted: text on a terminal, JSON (kazasu.tap/1) in a pipe. Readers may be connected and disconnected \
            meanwhile. With a sink (--exec, --webhook, --mqtt, --keyboard, --keep), events are stored in the outbox \
            first and kept there until the sink has them.

            Examples:
              kazasu watch --read history --bell
              kazasu watch --read balance | jq -r 'select(.type == "on") | .tag'
              kazasu watch --only staff.tsv --only-known --exec ./punch
              kazasu watch -r entrance=rcs380 --exec ./on-tap
              kazasu watch -r gate=acr122 --ask ./may-enter --quiet-reader
              kazasu watch --require-mac file:key --ask ./open-door   # copies stay outside
              kazasu watch --webhook https://example.com/taps --secret-from file:secret
              kazasu watch --keep                 # every card's history into the ledger
              kazasu watch --config /etc/kazasu/watch.yaml
            """,
            """
            どのリーダーでも、カードが置かれるか離れるたびに 1 行を、中断されるまで出力します。端末では読みやすい文字で、\
            パイプでは JSON（kazasu.tap/1）で出力します。途中でリーダーを抜き差ししてもかまいません。送り先（--exec、--webhook、\
            --mqtt、--keyboard、--keep）を指定すると、イベントはまず outbox に保存され、届くまで残ります。

            例:
              kazasu watch --read history --bell
              kazasu watch --read balance | jq -r 'select(.type == "on") | .tag'
              kazasu watch --only staff.tsv --only-known --exec ./punch
              kazasu watch -r entrance=rcs380 --exec ./on-tap
              kazasu watch -r gate=acr122 --ask ./may-enter --quiet-reader
              kazasu watch --require-mac file:key --ask ./open-door   # 複製では開かない
              kazasu watch --webhook https://example.com/taps --secret-from file:secret
              kazasu watch --keep                 # 置かれたカードの履歴を台帳に追加する
              kazasu watch --config /etc/kazasu/watch.yaml
            """))

    static let programAccess = CommandAccess.none(because: "it runs until stopped; taps.subscribe gives its events")

    @OptionGroup(title: tr("Most used", "よく使うオプション")) var basics: WatchBasics
    @OptionGroup(title: tr("Most used", "よく使うオプション")) var printing: WatchPrinting
    @OptionGroup(title: tr("Cards and places", "カードと場所")) var cards: WatchCards
    @OptionGroup(title: tr("Cards and places", "カードと場所")) var stationOptions: StationOptions
    @OptionGroup(title: tr("Programs, web servers, keyboards, the ledger", "プログラム・Web サーバー・キー入力・台帳"))
    var sinks: SinkOptions
    @OptionGroup(title: tr("Answers at the reader", "リーダーでの応答")) var answers: AnswerOptions
    @OptionGroup(title: tr("MQTT and Home Assistant", "MQTT と Home Assistant")) var mqtt: MQTTOptions
    @OptionGroup(title: tr("Outbox", "送信待ち（outbox）")) var outbox: OutboxOptions
    @OptionGroup(title: tr("PC/SC programs", "PC/SC プログラム")) var bridge: BridgeOptions
    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        reach: .never, name: .long,
        help: help(
            "Serve metrics for Prometheus at this address of the loopback interface.",
            "Prometheus 用の統計を、このループバックのアドレスで公開する。", value: "127.0.0.1:port"))
    var metrics: LoopbackPort?

    func execute(_ context: Context) throws {
        let settings = try WatchSettings<Watch>.current()
        let options = settings.options
        let needsOutbox = options.hasSinks || options.outbox.place.outbox != nil || settings.file != nil
        try WatchRun(context, settings, needsOutbox: needsOutbox) { _, outbox, metrics, log in
            WatchPrinter(context, options, outbox, metrics, log)
        }.run()
    }

    func checkTogether() throws {
        try checkWatching()
        try common.check("--format", printing.format?.rawValue)
    }

    var reading: TapReading { (basics.read ?? (basics.keep ? .history : .id)).value }

    var omitsKnownRecords: Bool { true }

    var fixedSettings: [FixedSetting] { [FixedSetting("metrics", metrics)] }

    /// How to print events.
    var format: EventFormat { printing.format ?? (common.json || !Output.isTerminal ? .json : .text) }
}

/// The options of `watch` that most people need.
struct WatchBasics: ParsableArguments {
    @Option(
        reach: .never, name: .joined("r"),
        help: help(
            "Which reader, with a name if wanted: ID or NAME=ID; repeatable. Default: KAZASU_READER, else every reader.",
            "リーダー: ID または 名前=ID（複数指定可）。省略時は KAZASU_READER、なければすべて。", value: "[name=]id"),
        completion: SchemeCompletion.readers)
    var reader: [String] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "What to read from each card: id (default), balance or history (default with --keep).",
            "カードから読むもの: id、balance、history。省略時は id（--keep では history）。"))
    var read: Reading?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Names for cards: a file with an IDm, UID or tag, a tab and a name a line; or YAML.",
            "カードの名前のファイル: 1 行に IDm・UID・tag のどれか、タブ、名前。YAML も可。", value: "file"),
        completion: .file())
    var only: String?

    @Flag(
        reach: .never, name: .long,
        help: help("Send only events of the cards in --only to the sinks.", "ファイルにないカードのイベントは送り先に送らない。"))
    var onlyKnown = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "Run this program for each card placed on a reader, without a shell; the event is its standard input. For doors: --ask. Repeatable.",
            "カードが置かれるたびにこのプログラムを実行する（シェルなし、イベントは標準入力）。ドアには --ask を使う。複数指定可。",
            value: "path"),
        completion: .file())
    var exec: [String] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "The same for each event: cards that come and go, readers, answers. Repeatable.",
            "--exec と同じ。ただしすべてのイベント（置かれた・離れた・リーダー・応答）で実行する。複数指定可。", value: "path"),
        completion: .file())
    var execAll: [String] = []

    @Option(
        reach: .never, name: .long,
        help: help("POST each event to this URL. Repeatable.", "イベントをこの URL に POST する。複数指定可。", value: "url"))
    var webhook: [String] = []

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Add every card's history to the ledger; see 'kazasu ledger'.", "カードの履歴を台帳に追加する（'kazasu ledger' を参照）。"))
    var keep = false

    @Option(
        reach: .never, name: .long,
        help: help("A YAML file with any of these options by their names.", "オプションを名前で書いた YAML ファイル。", value: "file"),
        completion: .file())
    var config: String?

    /// The values of `--read`.
    enum Reading: String, CaseIterable, ExpressibleByArgument {
        case id, balance, history

        var value: TapReading {
            switch self {
            case .id: .id
            case .balance: .balance
            case .history: .history
            }
        }
    }

    func validate() throws {
        _ = try NamedReader.parse(reader)
        for url in webhook where url.lowercased().wholeMatch(of: /https?:\/\/[^\/?#].*/) == nil {
            throw ValidationError(
                tr("--webhook takes an http or https URL", "--webhook には http または https の URL を指定してください"))
        }
        for (option, paths) in [("--exec", exec), ("--exec-all", execAll)] where paths.contains("") {
            throw ValidationError(tr("\(option): the path is empty", "\(option): パスが空です"))
        }
    }
}

/// How `watch` shows events.
struct WatchPrinting: ParsableArguments {
    @Flag(reach: .never, name: .long, help: help("Ring the terminal's bell for each card.", "カードごとに端末のベルを鳴らす。"))
    var bell = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "How to print events: text (default on a terminal) or json.", "イベントの表示: text（端末での既定）または json。"))
    var format: EventFormat?
}

/// How `watch` looks for cards, and what it calls them and itself.
struct WatchCards: ParsableArguments {
    @Flag(
        reach: .never, name: .long,
        help: help(
            "For phones: poll for transit cards first and never for any card, which would open the wallet.",
            "スマートフォン向け: 交通系を先に探し、ウォレットが開くワイルドカードでは探さない。"))
    var phones = false

    @Flag(
        reach: .never, name: .long,
        help: help("With --phones: poll for all FeliCa cards as well.", "--phones でも、あらゆる FeliCa カードを探す。"))
    var wildcard = false

    @Option(
        reach: .never, name: .long, parsing: .unconditional,
        help: help(
            "Ignore a card that returns within so many seconds. Default: none.",
            "この秒数以内に戻ったカードのイベントを出さない。省略時はなし。", value: "seconds"))
    var debounce: Double?

    @Option(
        reach: .never, name: .long,
        help: help("The name of this place. Default: the host name.", "拠点名（省略時はホスト名）。", value: "name"))
    var site: String?

    @Option(
        reach: .secret, name: .long,
        help: help(
            "Replace card numbers by HMAC-SHA256 with this key: file:PATH.", "カード番号を、この鍵の HMAC-SHA256 に置き換える: file:パス。",
            value: "source"))
    var idKey: SecretSource?

    @Option(
        reach: .secret, name: .long,
        help: help(
            "Only FeliCa Lite-S cards with this key (32 digits, or a master key of 48) get a tag: file:PATH.",
            "この鍵（16 進 32 桁、マスター鍵は 48 桁）を持つ FeliCa Lite-S だけに tag を付ける: file:パス。", value: "source"))
    var requireMac: SecretSource?

    func validate() throws {
        try SecretSource.validate(idKey, "--id-key")
        try SecretSource.validate(requireMac, "--require-mac")
        if let requireMac, requireMac.path == nil {
            throw ValidationError(tr("--require-mac takes file:PATH", "--require-mac には file:パス を指定してください"))
        }
        guard (0...86_400).contains(debounce ?? 0) else {
            throw ValidationError(tr("--debounce takes 0 to 86400 seconds", "--debounce は 0～86400 秒です"))
        }
    }
}

/// A command that watches readers: `watch` and `serve`.
protocol WatchingCommand: KazasuCommand {
    var basics: WatchBasics { get }
    var cards: WatchCards { get }
    var stationOptions: StationOptions { get }
    var sinks: SinkOptions { get }
    var answers: AnswerOptions { get }
    var mqtt: MQTTOptions { get }
    var outbox: OutboxOptions { get }
    var bridge: BridgeOptions { get }

    /// Checks options against each other. They may come from several places, so that the parser, which also parses those
    /// of one place, cannot do it.
    func checkTogether() throws

    /// What to read from each card.
    var reading: TapReading { get }

    /// Whether events have only what is new of a card's history.
    var omitsKnownRecords: Bool { get }

    /// The settings that take effect only at the next start.
    var fixedSettings: [FixedSetting] { get }
}

/// A setting that cannot change while the command runs.
struct FixedSetting: Equatable {
    var name: String
    private var value: String

    init(_ name: String, _ value: some Equatable) { (self.name, self.value) = (name, "\(value)") }
}

extension WatchingCommand {
    /// Checks the options that all of these commands have against each other.
    ///
    /// - Parameter usesLedger: whether a ledger is read even if nothing is kept.
    func checkWatching(usesLedger: Bool = false) throws {
        func needs(_ option: String, _ other: String) -> ValidationError {
            ValidationError(tr("\(option) needs \(other)", "\(option) には \(other) が必要です"))
        }
        if basics.keep, basics.read != nil, basics.read != .history { throw needs("--keep", "--read history") }
        if cards.requireMac != nil, basics.keep || basics.read != nil && basics.read != .id {
            throw ValidationError(
                tr(
                    "--require-mac reads only the card's number: leave out --read and --keep",
                    "--require-mac ではカードの番号だけを読みます。--read と --keep は外してください"))
        }
        if answers.ask == nil {
            if answers.askTimeout != nil { throw needs("--ask-timeout", "--ask") }
            if !answers.answer.isEmpty { throw needs("--answer", "--ask") }
        }
        if cards.wildcard, !cards.phones { throw needs("--wildcard", "--phones") }
        if basics.onlyKnown, basics.only == nil { throw needs("--only-known", "--only") }
        if outbox.confirm, mqtt.broker.mqtt == nil { throw needs("--confirm", "--mqtt") }
        try mqtt.checkTogether()
        guard sinks.place.ledger == nil || basics.keep || usesLedger else { throw KeepOptions.ledgerAlone }
    }

    /// The readers that the user named; the options were checked before.
    var readers: [NamedReader] { (try? NamedReader.parse(basics.reader)) ?? [] }

    /// The cards to look for.
    var query: CardQuery { cards.phones ? .phones(wildcard: cards.wildcard) : .any }

    /// Whether events go anywhere but to standard output.
    var hasSinks: Bool {
        !(basics.exec + basics.execAll + basics.webhook).isEmpty || sinks.keyboard != nil || mqtt.broker.mqtt != nil
            || basics.keep
    }

    func makeSinks(_ environment: SinkEnvironment) throws(CommandError) -> [SinkFactory] {
        var made: [SinkFactory] = []
        for path in basics.exec { made.append(try sinks.program(path, needsTag: cards.requireMac != nil)) }
        for path in basics.execAll { made.append(try sinks.program(path, isForAll: true)) }
        made += try WebhookForm.sinks(environment.words)
        let names = made.map { $0().name }
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw CommandError(.sinkTwice, values: [name, Self.configuration.commandName])
        }
        if let keyboard = sinks.keyboard { made.append(try SinkOptions.keyboard(keyboard)) }
        if let sink = try mqtt.sink(environment) { made.append(sink) }
        if basics.keep { made.append(try sinks.ledger(environment)) }
        return made
    }
}

/// A reader with the name that the user gave it.
struct NamedReader: Equatable {
    var name: String
    var id: String

    /// The words that are topics beside the readers'.
    private static let reserved = ["status", "health", "ack"]

    /// Parses the values of `-r`: an ID may have an equals sign after a colon, a name has no colon. A reader that is named by
    /// numbers of the kernel gets the ID that stays.
    static func parse(_ values: [String]) throws(ValidationError) -> [NamedReader] {
        var readers: [NamedReader] = []
        for value in values {
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let isNamed = parts.count == 2 && !parts[0].contains { ":/".contains($0) }
            let id = ReaderRegistry.lastingID(of: isNamed ? String(parts[1]) : value)
            let reader = NamedReader(name: isNamed ? String(parts[0]) : id, id: id)
            guard !reader.name.isEmpty, !reader.id.isEmpty else {
                throw ValidationError(tr("--reader takes ID or NAME=ID", "--reader には ID または 名前=ID を指定してください"))
            }
            guard !reserved.contains(reader.name) else {
                throw ValidationError(
                    tr("'\(reader.name)' cannot be the name of a reader", "'\(reader.name)' はリーダーの名前にできません"))
            }
            guard !readers.contains(where: { $0.name == reader.name || $0.id == reader.id }) else {
                throw ValidationError(tr("--reader names a reader twice", "--reader が重複しています"))
            }
            readers.append(reader)
        }
        return readers
    }
}

/// The value of `--metrics`: a port of the loopback interface, since nothing protects the answer.
struct LoopbackPort: ExpressibleByArgument, Equatable {
    static var example: LocalizedText? { LocalizedText("127.0.0.1:PORT", "127.0.0.1:PORT") }

    var port: UInt16

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, ["127.0.0.1", "localhost"].contains(parts[0]), let port = UInt16(parts[1]), port > 0
        else { return nil }
        self.port = port
    }
}
