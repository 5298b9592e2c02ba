// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu standard`
struct Standard: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "standard",
        abstract: tr(
            "Check and change the keys of FeliCa Standard cards, and issue them.",
            "FeliCa Standard カードの鍵を確かめる・変更する・発行する。"),
        discussion: tr(
            """
            Keys come from files and are never arguments; none is guessed. \(Documents.path("felica-keys.md")) explains files, \
            statuses and what a wrong key costs.

            Examples:
              kazasu standard info                      # the versions of all keys
              kazasu standard info --keys felica.txt    # which of your keys fit
              kazasu standard verify --keys felica.txt  # is this card genuine?
            """,
            """
            鍵はファイルから読み、引数には書けません。鍵の推測はしません。ファイルの形式、終了ステータス、鍵が違うときの動作は
            \(Documents.path("felica-keys.ja.md")) にあります。

            例:
              kazasu standard info                      # すべての鍵のバージョン
              kazasu standard info --keys felica.txt    # 手持ちの鍵が合うか
              kazasu standard verify --keys felica.txt  # 本物のカードか
            """),
        subcommands: [
            StandardInfo.self, StandardVerify.self, StandardKeysChange.self, StandardIssue.self,
            StandardResume.self,
        ])
}

/// `kazasu standard info`
struct StandardInfo: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: tr("List the key versions of systems, areas and services.", "システム・エリア・サービスの鍵バージョンを一覧する。"),
        discussion: tr(
            """
            Without --keys, no key is sent. With --keys, the keys are tried in as few sessions as possible, and each node shows fits, wrongKey, \
            keyVersion (the card has another version; not used), keyFailedBefore (not used again) or noKey. A - means \
            that no service settles it. Nothing is read or written.

            Examples:
              kazasu standard info
              kazasu standard info --keys felica.txt
              kazasu standard info --json | jq '.systems[].schemes'
            """,
            """
            --keys がなければ鍵は送りません。--keys を付けると、できるだけ少ない回数で鍵を試し、ノードごとに fits（一致）、
            wrongKey（不一致）、keyVersion（カードの鍵は別のバージョン。使いません）、keyFailedBefore（前回不一致。使いません）、
            noKey（鍵なし）を表示します。- は、どのサービスからも判断できなかったものです。読み書きはしません。

            例:
              kazasu standard info
              kazasu standard info --keys felica.txt
              kazasu standard info --json | jq '.systems[].schemes'
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "standard.info", .get("standard/info"), schema: "standardInfo",
            LocalizedText(
                "The key versions of a FeliCa Standard card, and which of the given keys fit.",
                "FeliCa Standard の鍵のバージョンと、渡された鍵のうち合うもの。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: OwnerKeyOptions

    func execute(_ context: Context) throws {
        let keyring = try keyOptions.keyring(context)
        let session = try ReaderSession(readerOptions, context)
        let (identity, information) = try closing(session) { session in
            let card = try session.find(.feliCa)
            let progress = ProgressLine(context)
            defer {
                progress.end()
                card.noteAuthentication(context)
            }
            let standard = try card.standard(keyring ?? StandardKeyring(StandardKeys()))
            return (card.identity, try standard.information(progress: progress.show))
        }
        let view = StandardView(systems: information.systems, hasKeys: keyring != nil, redaction: context.redaction)
        try context.print(
            "kazasu.standardInfo/1", card: context.redaction.apply(identity).json,
            JSONObject([("systems", .array(view.json))]), else: view.text)
        if let error = information.error { throw CommandError(error, keepingWhatWasRead: true) }
    }
}

/// `kazasu standard verify`
struct StandardVerify: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: tr("Check whether a card has your keys.", "カードが手持ちの鍵を持つか確かめる。"),
        discussion: tr(
            """
            Card and reader prove to each other that they have the keys: those of every service in the files, with DES also of the \
            system and the areas around it. A copy of the card's number and a wrong key both end with status 77. Keys that a card did not \
            confirm are not sent to it again; --retry sends them once more. Nothing is read or written.

            Examples:
              kazasu standard verify --keys felica.txt
              kazasu standard verify --keys felica.txt --system FE00 --json | jq .genuine
            """,
            """
            ファイルにある全サービスの鍵（DES ではシステムと上位エリアの鍵も）を持つことを、カードとリーダーが互いに示します。
            番号だけの複製も、鍵の誤りも、ステータス 77 で終わります。確認できなかった鍵は、同じカードには送りません
            （--retry を付けるともう一度送ります）。読み書きはしません。

            例:
              kazasu standard verify --keys felica.txt
              kazasu standard verify --keys felica.txt --system FE00 --json | jq .genuine
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "standard.verify", .none(because: "keys are never taken from the network"), required: ["keys"],
            schema: "standard",
            LocalizedText(
                "Whether a FeliCa Standard card has the keys; fails with notGenuine for a copy or other keys.",
                "FeliCa Standard がこれらの鍵を持っているかどうか。複製や別の鍵なら notGenuine で失敗する。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        reach: .network, name: .long,
        help: help(
            "System code; default: the first system of the files that answers.", "システムコード。省略時は、ファイルにあるうち最初に応答したもの。",
            value: "code"))
    var system: SystemCode?

    @OptionGroup var keyOptions: OwnerKeyOptions

    func validate() throws {
        guard keyOptions.files.keys.isEmpty else { return }
        let keys = Caller.current.option("keys")
        throw ValidationError(tr("\(keys) is required", "\(keys) を指定してください"))
    }

    func execute(_ context: Context) throws {
        guard let keyring = try keyOptions.keyring(context) else { throw CommandError.bug("no keys") }
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { session in
            let systems = system.map { [$0] } ?? keyring.keys.systems
            let card = try session.find(systems: systems.isEmpty ? nil : systems)
            defer { card.noteAuthentication(context) }
            return try card.standard(keyring).verify()
        }
        let issue = context.redaction.isOn ? result.issue?.masked : result.issue
        let failures = result.failures.sorted { $0.key < $1.key }
        var services = result.opened.map { ($0, JSONValue.bool(true), JSONValue.null) }
        services += failures.map { ($0, .bool(false), .string(CommandError($1).reason)) }
        try context.print(
            "kazasu.standard/1", card: context.redaction.apply(result.card).json,
            JSONObject([
                ("systemCode", .string(result.system.description)), ("genuine", .bool(result.isGenuine)),
                ("issueId", .text(issue?.idText)), ("issueParameter", .text(issue?.parameterText)),
                (
                    "services",
                    .array(
                        services.sorted { $0.0 < $1.0 }.map { code, isConfirmed, reason in
                            ["code": .string(code.description), "confirmed": isConfirmed, "reason": reason]
                        })
                ),
            ]),
            else: result.isGenuine ? tr("genuine\n", "本物です\n") : tr("not genuine\n", "本物と確認できません\n"))
        for (_, error) in failures { context.note(error.words) }
        guard !result.isGenuine else { return }
        throw CommandError(.keysNotGenuine)
    }
}
