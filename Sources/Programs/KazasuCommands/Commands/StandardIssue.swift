// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu standard issue`
struct StandardIssue: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue",
        abstract: tr("Make a blank FeliCa Standard card into a system.", "未発行の FeliCa Standard カードにシステムを作る。"),
        discussion: tr(
            """
            Registers the areas and services of the profile on a blank card (system FFFF), sets the system's key, writes the data and \
            proves every key. The profile is a JSON file without any key (kazasu.standardProfile/1, see \
            \(Documents.path("felica-keys.md"))). --keys has the seller's keys of system FFFF (nodes FFFF and 0000), \
            --new-keys those that the card gets. Everything is checked and rehearsed on a virtual card first.

            An issued card cannot be reset. Each step is on the disk (--journal) before it is taken; after an interruption, \
            'kazasu standard resume' goes on with the same files. Issue one card of a batch first. Only simulated cards were \
            tried so far.

            Examples:
              kazasu standard issue --profile gym.json --keys seller.txt --new-keys gym.txt
            """,
            """
            未発行のカード（システム FFFF）にプロファイルのエリアとサービスを登録し、システムの鍵を設定してデータを書き、すべての鍵を\
            確かめます。プロファイルは鍵を含まない JSON ファイルです（kazasu.standardProfile/1、\
            \(Documents.path("felica-keys.ja.md")) を参照）。--keys には販売元から受け取ったシステム FFFF の鍵（ノード FFFF と 0000）、\
            --new-keys にはカードに入れる鍵を指定します。先にすべてを検査し、仮想カードで予行します。

            発行したカードは元に戻せません。各手順は実行前に --journal のファイルへ保存し、中断しても同じファイルを指定して \
            'kazasu standard resume' で続けられます。まとめて発行する前に 1 枚で試してください。\
            これまでに試したのは仮想カードだけです。

            例:
              kazasu standard issue --profile gym.json --keys seller.txt --new-keys gym.txt
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "standard.issue", .none(because: "keys are never taken from the network"), needs: .write,
            required: ["profile", "keys", "newKeys"], schema: "standardIssue",
            LocalizedText(
                "Makes a blank FeliCa Standard card into a system by a profile; each step is stored in a journal first.",
                "未発行の FeliCa Standard カードに、プロファイルのシステムを作る。各手順をジャーナルに保存し、中断しても続けられる。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        required: "", reach: .local, name: .long,
        help: help("The profile: a JSON file.", "プロファイル（JSON ファイル）。", value: "file"), completion: .file())
    var profile: String

    @OptionGroup var keyOptions: OwnerKeyOptions
    @OptionGroup var newKeyOptions: NewKeyOptions

    @OptionGroup var run: StandardRunOptions

    func validate() throws {
        try NewKeyOptions.require(keyOptions, newKeyOptions)
    }

    /// The longest profile, in bytes.
    private static let longestProfile = 1 << 19

    /// Reads a profile.
    static func read(_ path: String) throws(CommandError) -> StandardProfile {
        let bytes = try Files.read(path, limit: longestProfile)
        do throws(DocumentError) {
            return try StandardProfile(parsing: bytes)
        } catch {
            throw CommandError(error, path: path)
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: run.journal != nil)
        let profile = try Self.read(profile)
        guard let keyring = try keyOptions.keyring(context) else { throw CommandError.bug("no keys") }
        let new = try newKeyOptions.keys(context)
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let card = try session.find(systems: [.any])
            try CommandHost.current?.check(card.identity, numberFrom: "poll")
            defer { card.noteAuthentication(context) }
            let standard = try card.standard(keyring)
            let (state, check) = try standard.issuePlan(profile, keys: new)
            let issuance = StandardRun(context, card, standard, keyring, new, .issue(profile, state, check))
            if run.dryRun {
                try issuance.rehearse()
                return try issuance.answer(isDone: false)
            }
            if !run.yes { try issuance.confirm() }
            try issuance.rehearse()
            let file = try StandardJournal(
                creating: run.journal, StandardWork(state.system.idm, .issue(profile, check)))
            try issuance.run(file, resuming: nil)
        }
    }
}

/// How `issue` and `keys` are carried out.
struct StandardRunOptions: ParsableArguments {
    init() {}

    @Flag(reach: .local, name: .long, help: help("Show what would change, and write nothing.", "変更内容を表示し、何も書き込まない。"))
    var dryRun = false

    @Option(
        reach: .local, name: .long,
        help: help(
            "A new file for the journal. Default: $XDG_STATE_HOME/kazasu/standard-TIME.jsonl.",
            "ジャーナルの新しいファイル。省略時は $XDG_STATE_HOME/kazasu/standard-TIME.jsonl。", value: "file"),
        completion: .file())
    var journal: String?

    @Flag(
        reach: .local, name: [.short, .long],
        help: help(
            "Do not ask before writing.", "書き込みの確認をしない。",
            programs: LocalizedText(
                "Write to any card, without a number in confirm.", "confirm の番号がなくても、置かれているカードに書き込む。")))
    var yes = false

    func validate() throws {
        if dryRun, journal != nil {
            throw ValidationError(tr("--dry-run writes no --journal", "--dry-run と --journal は同時に指定できません"))
        }
    }
}

/// What `issue`, `keys` and `resume` share: the question, the rehearsal, the work with its journal, and the answer.
struct StandardRun {
    /// What is done to the card.
    enum Work {
        case keys(KeyChanger.Plan)
        case issue(StandardProfile, StandardIssuer.State, StandardKeyCheck)
    }

    private let context: Context
    private let card: Card
    private let standard: StandardCard
    private let keyring: StandardKeyring
    private let new: StandardKeys
    private let work: Work
    /// The file of a smaller profile than the journal's.
    var smaller: String?

    init(
        _ context: Context, _ card: Card, _ standard: StandardCard, _ keyring: StandardKeyring, _ new: StandardKeys,
        _ work: Work
    ) {
        (self.context, self.card, self.standard) = (context, card, standard)
        (self.keyring, self.new, self.work) = (keyring, new, work)
    }

    func confirm() throws(CommandError) {
        guard CommandHost.current == nil else {
            let fact =
                switch work {
                case .keys: tr("the card's keys are changed", "カードの鍵を変更します")
                case .issue: tr("the card is issued, permanently", "カードを発行します。元には戻せません")
                }
            return try Confirmation.overwrite(fact, isGiven: false, numberFrom: "poll")
        }
        let lines = lines.map { "  \($0)\n" }
        switch work {
        case .keys:
            try Confirmation.issue(
                lines, tr("The keys are changed like this.", "鍵をこのように変更します。"),
                no: tr("type yes to change the keys", "変更するには yes と入力してください"))
        case .issue:
            try Confirmation.issue(
                lines, tr("The card is issued like this, permanently.", "カードをこのように発行します。元には戻せません。"),
                no: tr("type yes to issue the card", "発行するには yes と入力してください"))
        }
    }

    /// Does it to a virtual twin first.
    func rehearse() throws {
        let isRight: Bool
        do throws(KeyChangeError) {
            isRight =
                switch work {
                case .keys(let plan):
                    try StandardTwin.rehearse(plan, on: standard.systemHandle, keys: keyring.keys, new: new)
                case .issue(let profile, let state, _):
                    try StandardTwin.rehearse(profile, on: state, keys: keyring.keys, new: new)
                }
        } catch {
            throw CommandError(error)
        }
        guard isRight else { throw CommandError.bug("the rehearsal ended with another card") }
    }

    /// Does it with each step in the journal; an error names the command that goes on.
    ///
    /// - Parameter steps: those of an interrupted run; `nil` for a new one.
    func run(_ journal: StandardJournal, resuming steps: Set<StandardStep>?) throws {
        context.note(tr("journal: \(journal.path)", "ジャーナル: \(journal.path)"))
        let lift = { () throws(KazasuError) in
            // A program is told by the error, and goes on with the journal.
            guard CommandHost.current == nil else { throw .keyChange(.keptPower) }
            context.note(tr("lift the card off the reader and put it back", "カードをリーダーから離し、もう一度置いてください"))
            try standard.waitForReturn()
        }
        let take = { (step: StandardStep) throws(KazasuError) in
            let name = [step.word, step.node?.description].compactMap { $0 }.joined(separator: " ")
            context.detail(tr("step: \(name)", "手順: \(name)"))
            try journal.take(step)
        }
        let (keys, newKeys) = (Caller.current.option("keys"), Caller.current.option("new-keys"))
        try journal.going { () throws(KazasuError) in
            switch work {
            case .keys(let plan): try standard.changeKeys(new, plan, lift: lift, journal: take)
            case .issue(let profile, _, _):
                try standard.issue(profile, keys: new, resuming: steps, lift: lift, journal: take)
            }
        } hint: { command in
            let command = command + (smaller.map { " --profile \(ShellWord.quoted($0))" } ?? "")
            return tr(
                "go on with the same \(keys) and \(newKeys): \(command)",
                "同じ \(keys) と \(newKeys) で続けてください: \(command)")
        }
        try answer(isDone: true)
    }

    func answer(isDone: Bool) throws {
        guard context.json else {
            guard isDone else { return try context.print(lines.map { $0 + "\n" }.joined()) }
            switch work {
            case .keys: context.note(tr("changed; the card proved its new keys", "変更しました。カードの新しい鍵も確認済みです"))
            case .issue: context.note(tr("issued; the card proved its keys", "発行しました。カードの鍵も確認済みです"))
            }
            return
        }
        let card = context.redaction.apply(card.identity).json
        switch work {
        case .keys(let plan):
            try context.print([
                "schema": "kazasu.standardKeys/1", "card": card,
                "systemCode": .string(standard.systemHandle.code.description), "changed": .bool(isDone),
                "keys": StandardWork.json(plan.changes),
            ])
        case .issue(let profile, let state, _):
            try context.print([
                "schema": "kazasu.standardIssue/1", "card": card, "systemCode": .string(profile.system.description),
                "issued": .bool(isDone), "blocks": .int(profile.blocks),
                "freeBlocks": state.free.map { .int($0) } ?? .null,
                "nodes": .array(
                    nodes(profile).map { node in
                        [
                            "code": .string(node.code.description), "kind": .string(node.isArea ? "area" : "service"),
                            "end": .text(node.end?.description), "blocks": .int(Int(node.blocks)),
                            "keyVersion": .text(node.version?.description), "data": .int(node.data),
                        ]
                    }),
            ])
        }
    }

    private struct Node {
        let code: NodeCode
        var end: AreaCode?
        let blocks: UInt16
        /// `nil` for a service without a key.
        let version: KeyVersion?
        /// The number of blocks that are written.
        var data = 0

        var isArea: Bool { end != nil }
    }

    private func nodes(_ profile: StandardProfile) -> [Node] {
        profile.areas.map { Node(code: $0.code.node, end: $0.end, blocks: $0.blocks, version: $0.keyVersion) }
            + profile.services.flatMap { service in
                service.codes.map { code in
                    Node(
                        code: code.node, blocks: service.blocks,
                        version: code.requiresAuthentication ? service.keyVersion : nil,
                        data: code == service.writable ? service.data.count : 0)
                }
            }
    }

    private var lines: [String] {
        switch work {
        case .keys(let plan):
            return plan.changes.map { change in
                let node = change.node == .system ? tr("the system", "システム") : change.node.description
                return tr(
                    "the key of \(node): version \(change.from) becomes \(change.to)",
                    "\(node) の鍵: バージョン \(change.from) → \(change.to)")
            }
        case .issue(let profile, let state, _):
            var lines = [
                tr(
                    "system \(profile.system), \(profile.blocks) blocks",
                    "システム \(profile.system)、\(profile.blocks) ブロック")
                    + (state.free.map { tr(" of \($0)", "（空き \($0)）") } ?? "")
            ]
            for node in nodes(profile) {
                let version = node.version.map { tr("key version \($0)", "鍵バージョン \($0)") } ?? tr("no key", "鍵なし")
                if let end = node.end {
                    lines.append(tr("area \(node.code)-\(end), \(version)", "エリア \(node.code)-\(end)、\(version)"))
                } else {
                    let count = "\(node.blocks) block\(node.blocks == 1 ? "" : "s")"
                    let data = node.data > 0 ? tr(", \(node.data) written", "、\(node.data) 個に書き込み") : ""
                    lines.append(
                        tr(
                            "service \(node.code), \(count), \(version)\(data)",
                            "サービス \(node.code)、\(node.blocks) ブロック、\(version)\(data)"))
                }
            }
            return lines
        }
    }
}
