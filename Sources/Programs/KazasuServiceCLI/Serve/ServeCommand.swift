// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import KazasuTaps
import Server

/// `kazasu serve`
struct Serve: WatchingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: ServiceCommand.serve.abstract,
        discussion: tr(
            """
            Readers, cards and taps for web pages and programs over HTTP, only on this computer unless you choose \
            otherwise, until it is interrupted. One process owns the readers; everybody else asks it. It watches all \
            readers as 'watch' does, with the same settings and sinks. Open the address in a browser for the page \
            that shows each card.

            Examples:
              kazasu serve
              curl http://127.0.0.1:7878/v1/balance
              curl -N http://127.0.0.1:7878/v1/taps
              kazasu serve -r entrance=rcs380 --read balance --page none
              kazasu serve --listen unix:/run/kazasu/serve.sock
              kazasu serve --listen 0.0.0.0:7878 --token-from file:token --host kiosk.lan
              kazasu serve --config /etc/kazasu/serve.yaml
            """,
            """
            リーダー・カード・タップを、Web ページやプログラムから HTTP で使えるようにします（終了するまで）。特に指定しなければ、\
            使えるのはこのコンピューターからだけです。リーダーを開くのは 1 つのプロセスだけで、ほかのプログラムはそこに問い合わせます。\
            watch と同じ設定と送り先で、すべてのリーダーを監視します。ブラウザーでアドレスを開くと、カードを表示するページになります。

            例:
              kazasu serve
              curl http://127.0.0.1:7878/v1/balance
              curl -N http://127.0.0.1:7878/v1/taps
              kazasu serve -r entrance=rcs380 --read balance --page none
              kazasu serve --listen unix:/run/kazasu/serve.sock
              kazasu serve --listen 0.0.0.0:7878 --token-from file:token --host kiosk.lan
              kazasu serve --config /etc/kazasu/serve.yaml
            """))

    static let programAccess = CommandAccess.none(because: "it runs until stopped, with these methods")

    @OptionGroup(title: tr("Server", "サーバー")) var server: ServeOptions
    @OptionGroup(title: tr("Most used", "よく使うオプション")) var basics: WatchBasics
    @OptionGroup(title: tr("Cards and places", "カードと場所")) var cards: WatchCards
    @OptionGroup(title: tr("Cards and places", "カードと場所")) var stationOptions: StationOptions
    @OptionGroup(title: tr("Programs, web servers, keyboards, the ledger", "プログラム・Web サーバー・キー入力・台帳"))
    var sinks: SinkOptions
    @OptionGroup(title: tr("Answers at the reader", "リーダーでの応答")) var answers: AnswerOptions
    @OptionGroup(title: tr("MQTT and Home Assistant", "MQTT と Home Assistant")) var mqtt: MQTTOptions
    @OptionGroup(title: tr("Outbox", "送信待ち（outbox）")) var outbox: OutboxOptions
    @OptionGroup(title: tr("PC/SC programs", "PC/SC プログラム")) var bridge: BridgeOptions
    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    func execute(_ context: Context) throws {
        let settings = try WatchSettings<Serve>.current()
        let token = try settings.options.server.tokenFrom.map { source throws(CommandError) in
            try source.key(tr("the token", "トークン"))
        }
        try WatchRun(context, settings, needsOutbox: true) { readers, outbox, metrics, log in
            ServeFront(context, settings.options, token: token, readers, outbox, metrics, log)
        }.run()
    }

    func checkTogether() throws {
        try checkWatching(usesLedger: server.allowed.contains(.ledger))
        guard server.tokenFrom == nil, let open = server.addresses.first(where: { !$0.isLocal }) else { return }
        throw ValidationError(
            tr(
                "\(open) can be reached from other computers: that needs --token-from",
                "\(open) はほかのコンピューターから使えるため、--token-from が必要です"))
    }

    var reading: TapReading {
        (basics.read ?? (basics.keep || server.page == .kiosk ? .history : .id)).value
    }

    /// The page, and programs that ask for a stream, show a card from its event alone.
    var omitsKnownRecords: Bool { false }

    var fixedSettings: [FixedSetting] {
        [
            FixedSetting("listen", server.addresses), FixedSetting("token-from", server.tokenFrom),
            FixedSetting("host", server.host), FixedSetting("allow-origin", server.allowOrigin.map(\.text)),
            FixedSetting("allow", server.allowed.map(\.rawValue).sorted()), FixedSetting("page", server.page),
            FixedSetting("connections", server.connections),
        ]
    }
}

/// Where `serve` listens, and who may use it for what.
struct ServeOptions: ParsableArguments {
    @Option(
        reach: .never, name: .long,
        help: help(
            "Where to listen: IP:PORT or unix:PATH; repeatable. Default: 127.0.0.1:7878.",
            "待ち受けるアドレス: IP:ポート または unix:パス（複数指定可）。省略時は 127.0.0.1:7878。", value: "address"))
    var listen: [ListenAddress] = []

    @Option(
        reach: .secret, name: .long,
        help: help(
            "The token that clients must send: env:NAME, file:PATH or fd:NUMBER. Needed for anything but loopback.",
            "クライアントが送るトークン: env:変数名、file:パス、fd:番号。ループバック以外では必須。", value: "source"))
    var tokenFrom: SecretSource?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Another name of this server, as behind a proxy; repeatable.", "サーバーの別名（プロキシの背後など）。複数指定可。", value: "name"))
    var host: [String] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "Let pages of this origin use the server, as in https://shop.example; repeatable.",
            "このオリジンのページに利用を許可する（例: https://shop.example）。複数指定可。", value: "origin"))
    var allowOrigin: [WebOrigin] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "Allow raw commands, writing tags, the ledger, readers' lights, or residence cards: raw, write, ledger, feedback, ids; with commas or repeated.",
            "生コマンド（raw）、タグへの書き込み（write）、台帳（ledger）、リーダーのランプ（feedback）、在留カード（ids）を許可する。カンマ区切り、または複数指定。",
            value: "permissions"))
    var allow: [PermissionList] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "The page at /: kiosk (default; reads the history of each card) or none.",
            "/ に表示するページ: kiosk（既定。カードごとに履歴を読む）または none。"))
    var page = Page.kiosk

    @Option(reach: .never, name: .long, help: help("How many connections may be open.", "同時接続数の上限。", value: "number"))
    var connections = 256

    /// The values of `--page`.
    enum Page: String, CaseIterable, ExpressibleByArgument {
        case kiosk, none
    }

    func validate() throws {
        try SecretSource.validate(tokenFrom, "--token-from")
        guard (1...100_000).contains(connections) else {
            throw ValidationError(tr("--connections takes 1 to 100000", "--connections は 1～100000 です"))
        }
        for name in host where name.isEmpty || name.contains(where: { "/@ ".contains($0) }) {
            throw ValidationError(tr("--host takes a name without a scheme", "--host には名前だけを指定してください"))
        }
        for address in listen where listen.count(where: { $0 == address && $0.isFixed }) > 1 {
            throw ValidationError(tr("--listen names an address twice", "--listen が重複しています"))
        }
    }

    /// What clients may do.
    var allowed: Set<ServiceMethod.Permission> { allow.reduce(into: []) { $0.formUnion($1.permissions) } }

    /// Where to listen: at the sockets of systemd, if it has opened some.
    var addresses: [ListenAddress] {
        let inherited = ListenAddress.inherited(SystemEnvironment.all)
        if !inherited.isEmpty { return inherited }
        return listen.isEmpty ? [.internet(host: "127.0.0.1", port: 7878)] : listen
    }
}

extension ListenAddress: ExpressibleByArgument {
    /// Reads the value of `--listen`.
    public init?(argument: String) { self.init(argument) }
}

/// A value of `--allow`: `ledger,write`.
struct PermissionList: ExpressibleByArgument, Equatable {
    static var argumentKind: ArgumentKind { .list }

    var permissions: Set<ServiceMethod.Permission> = []

    init?(argument: String) {
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let permission = ServiceMethod.Permission(rawValue: String(part)) else { return nil }
            permissions.insert(permission)
        }
    }

    static var allValueStrings: [String] { ServiceMethod.Permission.allCases.map(\.rawValue) }
    static var defaultCompletionKind: CompletionKind { ListCompletion.of { allValueStrings } }
}

/// The value of `--allow-origin`: a scheme, a host and perhaps a port.
struct WebOrigin: ExpressibleByArgument, Equatable {
    static var example: LocalizedText? { LocalizedText("https://shop.example", "https://shop.example") }

    var text: String

    init?(argument: String) {
        let text = argument.lowercased()
        guard text.wholeMatch(of: /https?:\/\/(\[[0-9a-f:]+\]|[a-z0-9._\-]+)(:[0-9]{1,5})?/) != nil else { return nil }
        self.text = text
    }
}
