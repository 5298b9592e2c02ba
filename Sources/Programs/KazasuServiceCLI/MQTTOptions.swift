// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import CardCiphers
import Kazasu
import KazasuCLI
import KazasuTaps
import MQTT

/// How to reach a broker, for `watch` and `collect`.
struct BrokerOptions: ParsableArguments {
    @Option(
        reach: .never, name: .long,
        help: help(
            "The MQTT broker: mqtt[s]://[user@]host[:port].", "MQTT ブローカー: mqtt[s]://[ユーザー@]ホスト[:ポート]。",
            value: "url"))
    var mqtt: String?

    @Option(
        reach: .secret, name: .long,
        help: help(
            "Where to read the broker's password: env:NAME, file:PATH or fd:NUMBER.",
            "ブローカーのパスワードの入力元: env:変数名、file:パス、fd:番号。", value: "source"))
    var mqttPasswordFrom: SecretSource?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Trust the certificate authorities in this file, not those of the system.",
            "システムの代わりに、このファイルの認証局を信頼する。", value: "file"), completion: .file())
    var mqttCa: String?

    @Option(
        reach: .never, name: .long, help: help("The client's certificate.", "クライアント証明書。", value: "file"),
        completion: .file())
    var mqttCert: String?

    @Option(
        reach: .never, name: .long,
        help: help("The client's private key, without a passphrase.", "クライアントの秘密鍵（パスフレーズなし）。", value: "file"),
        completion: .file())
    var mqttKey: String?

    @Option(
        reach: .never, name: .long,
        help: help("The version of MQTT: 5 or 3.1.1.", "MQTT のバージョン: 5 または 3.1.1。", value: "version"))
    var mqttVersion = MQTTBroker.Version.v5

    @Option(reach: .never, name: .long, help: help("What all topics begin with.", "すべてのトピックの先頭。", value: "topic"))
    var mqttPrefix = "kazasu"

    func validate() throws {
        try SecretSource.validate(mqttPasswordFrom, "--mqtt-password-from")
        if let mqtt { _ = try Self.address(mqtt) }
        guard MQTTTopics.isPrefix(mqttPrefix) else {
            throw ValidationError(
                tr("--mqtt-prefix cannot be part of a topic", "--mqtt-prefix はトピックに使えない文字列です"))
        }
    }

    /// Checks options against each other, which may come from several places.
    func checkTogether() throws {
        guard (mqttCert == nil) != (mqttKey == nil) else { return }
        throw ValidationError(
            tr("--mqtt-cert and --mqtt-key belong together", "--mqtt-cert と --mqtt-key は一緒に指定してください"))
    }

    private static func address(_ text: String) throws(ValidationError) -> MQTTBroker {
        do throws(MQTTBroker.AddressError) {
            return try MQTTBroker(address: text)
        } catch {
            let text =
                switch error {
                case .password:
                    tr(
                        "--mqtt takes no password; use --mqtt-password-from",
                        "--mqtt にパスワードは書けません。--mqtt-password-from を使ってください")
                case .scheme, .host, .port, .path:
                    tr(
                        "--mqtt takes mqtt://host or mqtts://host, with user@ and :port if needed",
                        "--mqtt には mqtt://ホスト または mqtts://ホスト を指定してください（ユーザー@ と :ポート も可）")
                }
            throw ValidationError(text)
        }
    }

    /// The broker; `nil` without `--mqtt`.
    func broker() throws(CommandError) -> MQTTBroker? {
        guard let mqtt, var broker = try? MQTTBroker(address: mqtt) else { return nil }
        broker.version = mqttVersion
        if let source = mqttPasswordFrom {
            broker.password = MQTTBroker.Password(
                try source.read(tr("the broker's password", "ブローカーのパスワード"), reason: "noKey", isKept: true))
        }
        let files = [mqttCa, mqttCert, mqttKey].compactMap { $0 }
        guard broker.tls != nil || files.isEmpty else {
            throw CommandError(.mqttNeedsTLS, values: [Caller.commandLine.optionList(of: "kazasu watch")])
        }
        // libmosquitto would only say that something is invalid.
        for file in files { _ = try Files.read(file) }
        if broker.tls != nil {
            broker.tls = MQTTBroker.TLS(authorities: mqttCa, certificate: mqttCert, key: mqttKey)
        }
        return broker
    }
}

/// The MQTT sink of `watch`.
struct MQTTOptions: ParsableArguments {
    @OptionGroup var broker: BrokerOptions

    @Option(
        reach: .never, name: .long, defaultAsFlag: "homeassistant",
        help: help(
            "Announce the readers to Home Assistant, below this discovery prefix.",
            "リーダーを Home Assistant に知らせる（値は検出用の接頭辞）。", value: "prefix"))
    var homeAssistant: String?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Ignore taps that reach Home Assistant later than this, so that a stale tap cannot unlock a door.",
            "Home Assistant に届いた時点でこれより古いタッチは無視させる（遅れて解錠しないため）。", value: "seconds"))
    var haMaxAge = 10.0

    func validate() throws {
        if let homeAssistant, !MQTTTopics.isPrefix(homeAssistant) {
            throw ValidationError(
                tr("--home-assistant cannot be part of a topic", "--home-assistant はトピックに使えない文字列です"))
        }
        guard (0...86_400).contains(haMaxAge) else {
            throw ValidationError(tr("--ha-max-age takes 0 to 86400 seconds", "--ha-max-age は 0～86400 秒です"))
        }
    }

    /// Checks options against each other, which may come from several places.
    func checkTogether() throws {
        try broker.checkTogether()
        guard homeAssistant == nil || broker.mqtt != nil else {
            throw ValidationError(tr("--home-assistant needs --mqtt", "--home-assistant には --mqtt が必要です"))
        }
    }

    /// Makes the sink; `nil` without `--mqtt`.
    func sink(_ environment: SinkEnvironment) throws(CommandError) -> SinkFactory? {
        guard let broker = try broker.broker() else { return nil }
        try Self.check(environment.readers)
        var settings = MQTTSink.Settings(broker: broker, site: environment.site)
        settings.prefix = self.broker.mqttPrefix
        settings.homeAssistant = homeAssistant.map { prefix in
            var settings = HomeAssistant.Settings(version: Program.version)
            settings.prefix = prefix
            settings.maxAge = .milliseconds(Int(haMaxAge * 1000))
            settings.hasBalances = environment.readsBalances
            return settings
        }
        let (log, metrics) = (environment.log, environment.metrics)
        let root = MQTTTopics(prefix: settings.prefix, site: settings.site).root
        let tell: @Sendable (MQTTNotice) -> Void = { notice in
            switch notice {
            case .connected:
                metrics.mqtt(isConnected: true)
                log.info(
                    tr(
                        "connected to the broker; topics begin with \(root)", "ブローカーに接続しました（トピックは \(root) 以下）"))
            case .disconnected:
                metrics.mqtt(isConnected: false)
                log.warning(notice.words)
            case .notStored: log.error(notice.words)
            case .notSubscribed, .notAllowed, .sharedName, .malformedAcknowledgement: log.warning(notice.words)
            }
        }
        return { [settings, outbox = environment.outbox] in MQTTSink(settings, outbox: outbox, tell: tell) }
    }

    /// Refuses names that topics cannot tell apart.
    private static func check(_ readers: [String]) throws(CommandError) {
        var names: [String: String] = [:]
        for reader in readers {
            let name = MQTTTopics.name(reader)
            let other = names.updateValue(reader, forKey: name)
            guard MQTTTopics.reserved.contains(name) || other != nil else { continue }
            guard let other else { throw CommandError(.mqttReservedName, values: [name]) }
            throw CommandError(.mqttSameName, values: [other, reader, name])
        }
    }
}

extension MQTTBroker.Version: ExpressibleByArgument {}

extension MQTTNotice {
    /// One sentence for the log.
    var words: String {
        switch self {
        case .connected: tr("connected to the broker", "ブローカーに接続しました")
        case .disconnected(let fault):
            tr("no connection to the broker: \(fault.words); retrying", "ブローカーに接続できません（\(fault.words)）。再試行します")
        case .notSubscribed(let code):
            tr("the broker refused a subscription (\(code))", "ブローカーが購読を拒否しました（\(code)）")
        case .notAllowed(let user?, let topics):
            tr(
                "the broker does not let user \(user) publish below \(topics); change its access rules or --site",
                "ブローカーはユーザー \(user) に \(topics) 以下への送信を許可していません。ブローカーのアクセス規則か --site を見直してください")
        case .notAllowed(nil, let topics):
            tr(
                "the broker does not let anonymous users publish below \(topics); log in with mqtt://USER@HOST",
                "ブローカーは匿名ユーザーに \(topics) 以下への送信を許可していません。mqtt://ユーザー@ホスト でログインしてください")
        case .sharedName(let site):
            tr(
                "the broker ends each connection soon after it began; another watcher may have the site's name \(site)",
                "ブローカーが接続のたびにすぐ切断します。同じサイト名 \(site) を使う watch がほかにないか確認してください")
        case .malformedAcknowledgement(let bytes):
            tr("a malformed acknowledgement of \(bytes) bytes was ignored", "不正な確認応答（\(bytes) バイト）を無視しました")
        case .notStored(let error): CommandError(error).message
        }
    }
}

extension MQTTFault {
    /// The reason, as part of a sentence.
    var words: String {
        switch self {
        case .unreachable(let error):
            error == 0 ? tr("no response", "応答がありません") : SystemMessage.text(error)
        case .unresolved: tr("the host is unknown", "ホスト名が見つかりません")
        case .certificate:
            tr(
                "its certificate cannot be verified; --mqtt-ca FILE names the authority, and the host must be in it",
                "証明書を検証できません（署名した認証局は --mqtt-ca ファイル で指定します。証明書のホスト名も確認してください）")
        case .tls(let text): text.isEmpty ? tr("TLS failed", "TLS に失敗しました") : text
        // CONNACK, sections 3.2.2.2 of MQTT 5 and 3.2.2.3 of 3.1.1.
        case .refused(0x86), .refused(0x87), .refused(4), .refused(5):
            tr("it refuses the user name or the password", "ユーザー名またはパスワードが拒否されました")
        case .refused(0x84), .refused(1):
            tr(
                "it does not support this version of MQTT; try --mqtt-version",
                "この MQTT バージョンに対応していません。--mqtt-version を試してください")
        case .refused(0x88), .refused(3): tr("it is not available now", "ブローカーは現在利用できません")
        case .refused(let code): tr("the login was refused (\(code))", "ログインが拒否されました（\(code)）")
        case .ended(0x8E):
            tr(
                "another client of this name took over; is the site's name unique?",
                "同じ名前のクライアントに置き換わりました（サイト名は重複していませんか）")
        // MOSQ_ERR_CONN_LOST
        case .ended(7): tr("the broker ended it", "ブローカーが切断しました")
        case .ended(0x8B): tr("the broker shuts down", "ブローカーが停止します")
        case .ended(let code): tr("the connection ended (\(code))", "接続が切れました（\(code)）")
        case .timeout: tr("no answer in time", "時間内に応答がありません")
        case .settings(let code): tr("TLS files or settings cannot be used (\(code))", "TLS のファイルまたは設定が使えません（\(code)）")
        }
    }
}
