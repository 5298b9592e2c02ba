// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu standard keys`
struct StandardKeysChange: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: tr("Change DES keys of a FeliCa Standard card.", "FeliCa Standard カードの DES の鍵を変更する。"),
        discussion: tr(
            """
            Changes the keys that --new-keys has otherwise than --keys: services first, then areas from the innermost, the \
            system last. Each new key needs its own VERSION. The change is listed and asked for, rehearsed on a virtual card, and \
            the old keys are proved before the first one. Each new key is proved in its own session before the next is changed.

            Each step is on the disk (--journal) before it is taken. After an interruption, every key is the old or the new one, \
            and 'kazasu standard resume' goes on. Keep both files until then. Try one card of a batch first. AES keys and the key of \
            area 0000 cannot be changed: no public source says how.

            Examples:
              kazasu standard keys --keys old.txt --new-keys new.txt --dry-run
              kazasu standard keys --keys old.txt --new-keys new.txt --journal card1.jsonl
            """,
            """
            --new-keys の鍵のうち --keys と違うものを、サービス、内側のエリア、システムの順に変更します。新しい鍵にはそれぞれ新しい \
            VERSION が必要です。変更を一覧して確認し、仮想カードで予行し、元の鍵をすべて確かめてから始めます。新しい鍵は 1 つ変えるごとに、\
            別のセッションで確かめます。

            各手順は実行前に --journal のファイルへ保存します。中断しても、どの鍵も新旧のどちらかで、'kazasu standard resume' で続けられます。\
            終わるまで両方のファイルを残してください。まとめて変更する前に 1 枚で試してください。AES の鍵とエリア 0000 の鍵は変更できません \
            （方法が公開されていません）。

            例:
              kazasu standard keys --keys old.txt --new-keys new.txt --dry-run
              kazasu standard keys --keys old.txt --new-keys new.txt --journal card1.jsonl
            """))

    static let programAccess = CommandAccess.none(
        because: "a mistake can lose a card, so a person agrees to each at the terminal")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        reach: .never, name: .long,
        help: help(
            "System code; default: the first system of --new-keys that answers.",
            "システムコード。省略時は、--new-keys にあるうち最初に応答したもの。", value: "code"))
    var system: SystemCode?

    @OptionGroup var keyOptions: OwnerKeyOptions
    @OptionGroup var newKeyOptions: NewKeyOptions

    @Flag(reach: .never, name: .long, help: help("Show what would change, and write nothing.", "変更内容を表示し、何も書き込まない。"))
    var dryRun = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "A new file for the journal. Default: $XDG_STATE_HOME/kazasu/standard-TIME.jsonl.",
            "ジャーナルの新しいファイル。省略時は $XDG_STATE_HOME/kazasu/standard-TIME.jsonl。", value: "file"),
        completion: .file())
    var journal: String?

    @Flag(reach: .never, name: [.short, .long], help: help("Do not ask before writing.", "書き込みの確認をしない。"))
    var yes = false

    func validate() throws {
        try NewKeyOptions.require(keyOptions, newKeyOptions)
        if dryRun, journal != nil {
            throw ValidationError(tr("--dry-run writes no --journal", "--dry-run と --journal は同時に指定できません"))
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: journal != nil)
        guard let keyring = try keyOptions.keyring(context) else { throw CommandError.bug("no keys") }
        let new = try newKeyOptions.keys(context)
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let systems = system.map { [$0] } ?? new.systems
            let card = try session.find(systems: systems.isEmpty ? nil : systems)
            defer { card.noteAuthentication(context) }
            let standard = try card.standard(keyring)
            let plan = try standard.keyPlan(new)
            let change = KeyChangeRun(context, card, standard, keyring, new, plan)
            guard !dryRun else { return try change.answer(isDone: false) }
            if !yes { try change.confirm() }
            try change.rehearse()
            let file = try StandardJournal(
                creating: journal ?? StepJournal.usualPath(StandardJournal.kind), plan.changes, standard)
            try change.run(file, resumes: false)
        }
    }
}

/// `kazasu standard resume`
struct StandardResume: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: tr("Continue an interrupted key change.", "中断した鍵の変更を続ける。"),
        discussion: tr(
            """
            Takes what is to change from the journal, and the same files of keys as before. It looks at the card first, proves the \
            keys that it has, and changes only what is missing. Nothing is asked, since 'standard keys' did.

            Examples:
              kazasu standard resume --journal keys.jsonl --keys old.txt --new-keys new.txt
            """,
            """
            変更内容はジャーナルから読みます。鍵のファイルは前回と同じものを指定してください。先にカードの状態を調べ、現在の鍵を確かめてから、\
            残りだけを変更します。'standard keys' で確認済みのため、改めて確認はしません。

            例:
              kazasu standard resume --journal keys.jsonl --keys old.txt --new-keys new.txt
            """))

    static let programAccess = CommandAccess.none(because: "it goes on with what only standard keys begins")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: OwnerKeyOptions
    @OptionGroup var newKeyOptions: NewKeyOptions

    @Option(
        required: "", reach: .never, name: .long,
        help: help("The journal of the key change.", "鍵の変更のジャーナル。", value: "file"), completion: .file())
    var journal: String

    func validate() throws { try NewKeyOptions.require(keyOptions, newKeyOptions) }

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: true)
        guard let keyring = try keyOptions.keyring(context) else { throw CommandError.bug("no keys") }
        let new = try newKeyOptions.keys(context)
        let file = try StandardJournal(resuming: journal)
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let card = try session.find(systems: [file.system])
            defer { card.noteAuthentication(context) }
            guard card.identity.idm == file.idm else {
                throw CommandError(.keyChangeOtherCard)
            }
            let standard = try card.standard(keyring)
            let plan = try standard.keyPlan(new, resuming: file.changes)
            let change = KeyChangeRun(context, card, standard, keyring, new, plan)
            try change.rehearse()
            try change.run(file, resumes: true)
        }
    }
}

/// The keys that a card gets.
struct NewKeyOptions: ParsableArguments {
    init() {}

    @Option(
        reach: .never, name: .long,
        help: help(
            "A file with the keys that the card gets, in the form of --keys, each with a new VERSION. Can be repeated.",
            "カードに入れる新しい鍵のファイル。形式は --keys と同じで、新しい VERSION が必要。繰り返せる。", value: "file"),
        completion: .file())
    var newKeys: [String] = []

    func keys(_ context: Context) throws(CommandError) -> StandardKeys {
        try StandardKeyOptions.read(newKeys, context)
    }

    static func require(_ old: OwnerKeyOptions, _ new: NewKeyOptions) throws(ValidationError) {
        for (name, isGiven) in [("keys", !old.files.keys.isEmpty), ("new-keys", !new.newKeys.isEmpty)] where !isGiven {
            let option = Caller.current.option(name)
            throw ValidationError(tr("\(option) is required", "\(option) を指定してください"))
        }
    }
}

/// What `keys` and `resume` share.
struct KeyChangeRun {
    private let context: Context
    private let card: Card
    private let standard: StandardCard
    private let keyring: StandardKeyring
    private let new: StandardKeys
    private let plan: KeyChanger.Plan

    init(
        _ context: Context, _ card: Card, _ standard: StandardCard, _ keyring: StandardKeyring, _ new: StandardKeys,
        _ plan: KeyChanger.Plan
    ) {
        (self.context, self.card, self.standard) = (context, card, standard)
        (self.keyring, self.new, self.plan) = (keyring, new, plan)
    }

    func confirm() throws(CommandError) {
        try Confirmation.issue(
            lines.map { "  \($0)\n" }, tr("The keys are changed like this.", "鍵をこのように変更します。"),
            no: tr("type yes to change the keys", "変更するには yes と入力してください"))
    }

    /// Changes the keys of a virtual twin first.
    func rehearse() throws {
        let isRight: Bool
        do throws(KeyChangeError) {
            isRight = try StandardTwin.rehearse(plan, on: standard.systemHandle, keys: keyring.keys, new: new)
        } catch {
            throw CommandError(error)
        }
        guard isRight else { throw CommandError.bug("the rehearsal of the key change ended with other keys") }
    }

    /// Changes the keys with each step in the journal; an error names the command that goes on.
    func run(_ journal: StandardJournal, resumes: Bool) throws {
        context.note(tr("journal: \(journal.path)", "ジャーナル: \(journal.path)"))
        var failure: CommandError?
        do throws(KazasuError) {
            try standard.changeKeys(new, plan) { () throws(KazasuError) in
                context.note(tr("lift the card off the reader and put it back", "カードをリーダーから離し、もう一度置いてください"))
                try standard.waitForReturn()
            } journal: { step throws(KazasuError) in
                do throws(CommandError) {
                    try journal.record(step)
                } catch {
                    failure = error
                    throw .cancelled
                }
            }
        } catch {
            let (keys, newKeys) = (Caller.current.option("keys"), Caller.current.option("new-keys"))
            throw StandardJournal.kind.ended(by: failure ?? CommandError(error), journal.path) { command in
                tr(
                    "go on with the same \(keys) and \(newKeys): \(command)",
                    "同じ \(keys) と \(newKeys) で続けてください: \(command)")
            }
        }
        try answer(isDone: true)
    }

    func answer(isDone: Bool) throws {
        if context.json {
            try context.print([
                "schema": "kazasu.standardKeys/1", "card": context.redaction.apply(card.identity).json,
                "systemCode": .string(standard.systemHandle.code.description), "changed": .bool(isDone),
                "keys": .array(
                    plan.changes.map { change in
                        [
                            "node": .string(change.node.description), "from": .string(change.from.description),
                            "to": .string(change.to.description),
                        ]
                    }),
            ])
        } else if isDone {
            context.note(tr("changed; the card proved its new keys", "変更しました。カードの新しい鍵も確認済みです"))
        } else {
            try context.print(lines.map { $0 + "\n" }.joined())
        }
    }

    private var lines: [String] {
        plan.changes.map { change in
            let node = change.node == .system ? tr("the system", "システム") : change.node.description
            return tr(
                "the key of \(node): version \(change.from) becomes \(change.to)",
                "\(node) の鍵: バージョン \(change.from) → \(change.to)")
        }
    }
}

/// The journal of a key change: the card, the system and the new versions, then the steps. It contains no key.
final class StandardJournal {
    static let kind = StepJournal.Kind(
        schema: "kazasu.standardJournal/1", begin: "standard keys", resume: "standard resume", name: "standard")

    let idm: IDm
    let system: SystemCode
    let changes: [StandardKeyChange]
    private let steps: StepJournal

    var path: String { steps.path }

    /// Makes a journal. Another one is never overwritten, unless no step was taken with it.
    init(creating path: String, _ changes: [StandardKeyChange], _ card: StandardCard) throws(CommandError) {
        (idm, system, self.changes) = (card.systemHandle.idm, card.systemHandle.code, changes)
        steps = try StepJournal(
            creating: path, Self.kind,
            [
                ("idm", .string(idm.bytes.hexadecimal)), ("system", .string(system.description)),
                (
                    "keys",
                    .array(
                        changes.map { change in
                            [
                                "node": .string(change.node.description), "from": .string(change.from.description),
                                "to": .string(change.to.description),
                            ]
                        })
                ),
            ])
    }

    /// Opens the journal of a change that was interrupted.
    init(resuming path: String) throws(CommandError) {
        var known: (idm: IDm, system: SystemCode, changes: [StandardKeyChange])?
        steps = try StepJournal(resuming: path, Self.kind) { first, _ throws(DocumentError) in
            let changes = try first.required("keys").list { key throws(DocumentError) in
                StandardKeyChange(
                    node: try key.required("node").code(), from: try key.required("from").code(),
                    to: try key.required("to").code())
            }
            known = (try first.required("idm").idm(), try first.required("system").code(), changes)
        }
        guard let known else { throw CommandError.bug("a journal without a first line") }
        (idm, system, changes) = known
    }

    /// Stores a step, and returns when it is on the disk.
    func record(_ step: StandardStep) throws(CommandError) {
        switch step {
        case .key(let node): try steps.record([("step", "key"), ("node", .string(node.description))])
        case .keyProved(let node): try steps.record([("step", "keyProved"), ("node", .string(node.description))])
        case .done: try steps.record([("step", "done")])
        @unknown default: throw CommandError.bug("step of a key change")
        }
    }
}
