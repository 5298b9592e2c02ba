// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardReading
import Kazasu
import KazasuCLI
import KazasuService
import NFCTransport

/// `kazasu watch`
struct Watch: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: ServiceCommand.watch.abstract,
        discussion: tr(
            """
            Prints one JSON object a line (kazasu.tap/1) for each card that is put on a reader or taken off, on every \
            reader, until it is interrupted. Readers may be connected and disconnected meanwhile. With a sink, events \
            are stored in the outbox first and kept there until the sink has them.

            Examples:
              kazasu watch
              kazasu watch --read balance | jq -r 'select(.type == "on") | .tag'
              kazasu watch -r entrance=rcs380 --exec ./on-tap
              kazasu watch --webhook https://example.com/taps --secret-from file:secret
              kazasu watch --keep                 # every card's history into the ledger
              kazasu watch --config /etc/kazasu/watch.yaml
            """,
            """
            どのリーダーでも、カードが置かれるか離れるたびに JSON（kazasu.tap/1）を 1 行、中断されるまで出力します。\
            途中でリーダーを抜き差ししてもかまいません。送り先を指定すると、イベントはまず outbox に保存され、届くまで残ります。

            例:
              kazasu watch
              kazasu watch --read balance | jq -r 'select(.type == "on") | .tag'
              kazasu watch -r entrance=rcs380 --exec ./on-tap
              kazasu watch --webhook https://example.com/taps --secret-from file:secret
              kazasu watch --keep                 # 置かれたカードの履歴を台帳に追加する
              kazasu watch --config /etc/kazasu/watch.yaml
            """))

    @OptionGroup var common: CommonOptions

    @Option(
        name: [.short, .long],
        help: help(
            "Which reader, with a name if wanted: ID or NAME=ID; repeatable. Default: KAZASU_READER, else every reader.",
            "リーダー: ID または 名前=ID（複数指定可）。省略時は KAZASU_READER、なければすべて。", value: "[name=]id"),
        completion: SchemeCompletion.readers)
    var reader: [String] = []

    @Option(
        name: .long,
        help: help(
            "What to read from each card: id (default), balance or history (default with --keep).",
            "カードから読むもの: id、balance、history。省略時は id（--keep では history）。"))
    var read: Reading?

    @Flag(
        name: .long,
        help: help(
            "For phones: poll for transit cards first and never for any card, which would open the wallet.",
            "スマートフォン向け: 交通系を先に探し、ウォレットが開くワイルドカードでは探さない。"))
    var phones = false

    @Flag(
        name: .long,
        help: help("With --phones: poll for any FeliCa card, too.", "--phones でも、あらゆる FeliCa カードを探す。"))
    var wildcard = false

    @Option(
        name: .long, parsing: .unconditional,
        help: help(
            "No events for a card that is back within so many seconds.", "この秒数以内に戻ったカードのイベントを出さない。",
            value: "seconds"))
    var debounce = 0.0

    @Option(name: .long, help: help("The name of this place. Default: the host name.", "拠点名（省略時はホスト名）。", value: "name"))
    var site: String?

    @Option(
        name: .long,
        help: help(
            "Replace card numbers by HMAC-SHA256 with this key: file:PATH.", "カード番号を、この鍵の HMAC-SHA256 に置き換える: file:パス。",
            value: "source"))
    var idKey: SecretSource?

    @Option(
        name: .long,
        help: help("A YAML file with any of these options by their names.", "オプションを名前で書いた YAML ファイル。", value: "file"),
        completion: .file())
    var config: String?

    @OptionGroup var stationOptions: StationOptions

    @OptionGroup(title: tr("Sinks", "送り先")) var sinks: SinkOptions
    @OptionGroup(title: tr("Outbox", "送信待ち（outbox）")) var outbox: OutboxOptions

    @Option(
        name: .long,
        help: help(
            "Serve metrics for Prometheus at this address of the loopback interface.",
            "Prometheus 用の統計を、このループバックのアドレスで公開する。", value: "127.0.0.1:port"))
    var metrics: LoopbackPort?

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
        try SecretSource.validate(idKey, "--id-key")
        guard (0...86_400).contains(debounce) else {
            throw ValidationError(tr("--debounce takes 0 to 86400 seconds", "--debounce は 0～86400 秒です"))
        }
        _ = try NamedReader.parse(reader)
    }

    func execute(_ context: Context) throws {
        let settings = try WatchSettings.current()
        try WatchRun(context, settings).run()
    }
}

extension Watch {
    /// Checks options against each other. They may come from several places, so that the parser, which also parses those
    /// of one place, cannot do it.
    func checkTogether() throws {
        func needs(_ option: String, _ other: String) -> ValidationError {
            ValidationError(tr("\(option) needs \(other)", "\(option) には \(other) が必要です"))
        }
        if sinks.keep, read != nil, read != .history { throw needs("--keep", "--read history") }
        if wildcard, !phones { throw needs("--wildcard", "--phones") }
        if outbox.confirm, sinks.mqtt.broker.mqtt == nil { throw needs("--confirm", "--mqtt") }
        try sinks.mqtt.checkTogether()
        guard sinks.place.ledger == nil || sinks.keep else { throw KeepOptions.ledgerAlone }
    }

    /// What to read from each card.
    var reading: TapReading { (read ?? (sinks.keep ? .history : .id)).value }

    /// The cards to look for.
    var query: CardQuery { phones ? .phones(wildcard: wildcard) : .any }
}

/// A reader with the name that the user gave it.
struct NamedReader: Equatable {
    var name: String
    var id: String

    /// The words that are topics beside the readers'.
    private static let reserved = ["status", "health", "ack"]

    /// Parses the values of `-r`: an ID may have an equals sign after a colon, a name has no colon.
    static func parse(_ values: [String]) throws(ValidationError) -> [NamedReader] {
        var readers: [NamedReader] = []
        for value in values {
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let isNamed = parts.count == 2 && !parts[0].contains { ":/".contains($0) }
            let reader = NamedReader(
                name: isNamed ? String(parts[0]) : value, id: isNamed ? String(parts[1]) : value)
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
    var port: UInt16

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, ["127.0.0.1", "localhost"].contains(parts[0]), let port = UInt16(parts[1]), port > 0
        else { return nil }
        self.port = port
    }
}
