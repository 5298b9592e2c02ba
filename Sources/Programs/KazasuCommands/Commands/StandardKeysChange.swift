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

    static let programAccess = CommandAccess.method(
        .card(
            "standard.keys", .none(because: "keys are never taken from the network"), needs: .write,
            required: ["keys", "newKeys"], schema: "standardKeys",
            LocalizedText(
                "Changes the DES keys of a FeliCa Standard card; each step is stored in a journal first.",
                "FeliCa Standard カードの DES 鍵を変更する。各手順をジャーナルに保存し、中断しても続けられる。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        reach: .local, name: .long,
        help: help(
            "System code; default: the first system of --new-keys that answers.",
            "システムコード。省略時は、--new-keys にあるうち最初に応答したもの。", value: "code"))
    var system: SystemCode?

    @OptionGroup var keyOptions: OwnerKeyOptions
    @OptionGroup var newKeyOptions: NewKeyOptions

    @OptionGroup var run: StandardRunOptions

    func validate() throws {
        try NewKeyOptions.require(keyOptions, newKeyOptions)
    }

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: run.journal != nil)
        guard let keyring = try keyOptions.keyring(context) else { throw CommandError.bug("no keys") }
        let new = try newKeyOptions.keys(context)
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let systems = system.map { [$0] } ?? new.systems
            let card = try session.find(systems: systems.isEmpty ? nil : systems)
            try CommandHost.current?.check(card.identity, numberFrom: "poll")
            defer { card.noteAuthentication(context) }
            let standard = try card.standard(keyring)
            let plan = try standard.keyPlan(new)
            let change = StandardRun(context, card, standard, keyring, new, .keys(plan))
            guard !run.dryRun else { return try change.answer(isDone: false) }
            if !run.yes { try change.confirm() }
            try change.rehearse()
            let file = try StandardJournal(
                creating: run.journal,
                StandardWork(standard.systemHandle.idm, .keys(standard.systemHandle.code, plan.changes)))
            try change.run(file, resuming: nil)
        }
    }
}

/// `kazasu standard resume`
struct StandardResume: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: tr("Continue an interrupted key change or issuance.", "中断した鍵の変更・発行を続ける。"),
        discussion: tr(
            """
            Takes the changes or the profile from the journal, and the same files of keys as before. It looks at the card first, proves the \
            keys that it has, and does only what is missing. Nothing is asked, since 'standard keys' or 'standard issue' did.

            Some cards tell only during the issuance that they have too few blocks. Then --profile names a smaller profile for the \
            same system, with everything that is on the card already; it is shown and asked for.

            Examples:
              kazasu standard resume --journal keys.jsonl --keys old.txt --new-keys new.txt
            """,
            """
            変更内容やプロファイルはジャーナルから読みます。鍵のファイルは前回と同じものを指定してください。先にカードの状態を調べ、現在の鍵を\
            確かめてから、残りだけを行います。'standard keys' か 'standard issue' で確認済みのため、改めて確認はしません。

            発行の途中で初めて、ブロックが足りないと分かるカードがあります。そのときは --profile に、同じシステムで、すでに登録したものを\
            すべて含む小さいプロファイルを指定してください。内容を表示して確認します。

            例:
              kazasu standard resume --journal keys.jsonl --keys old.txt --new-keys new.txt
            """))

    // A smaller profile is a person's decision.
    static let programAccess = CommandAccess.method(
        .card(
            "standard.resume", .none(because: "keys are never taken from the network"),
            required: ["keys", "newKeys", "journal"], schema: "standardKeys", or: "standardIssue",
            LocalizedText(
                "Goes on with an interrupted standard.keys or standard.issue, by its journal, and answers as that does.",
                "中断した standard.keys や standard.issue を、ジャーナルから続ける。応答はそのメソッドと同じ。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: OwnerKeyOptions
    @OptionGroup var newKeyOptions: NewKeyOptions

    @Option(
        required: "", reach: .local, name: .long,
        help: help("The journal of the key change or issuance.", "鍵の変更または発行のジャーナル。", value: "file"), completion: .file()
    )
    var journal: String

    @Option(
        reach: .never, name: .long,
        help: help(
            "A smaller profile in place of the journal's.", "ジャーナルのものに代える、より小さいプロファイル。", value: "file"),
        completion: .file())
    var profile: String?

    @Flag(
        reach: .never, name: [.short, .long],
        help: help("Do not ask before a smaller profile is used.", "小さいプロファイルの確認をしない。"))
    var yes = false

    func validate() throws {
        try NewKeyOptions.require(keyOptions, newKeyOptions)
        guard !yes || profile != nil else {
            throw ValidationError(tr("--yes requires --profile", "--yes は --profile と一緒に指定してください"))
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: true)
        let smaller = try profile.map { path throws(CommandError) in try StandardIssue.read(path) }
        guard let keyring = try keyOptions.keyring(context) else { throw CommandError.bug("no keys") }
        let new = try newKeyOptions.keys(context)
        let file = try StandardJournal(resuming: journal)
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let card = try session.find(systems: file.work.systems)
            defer { card.noteAuthentication(context) }
            guard card.identity.idm == file.work.idm else {
                throw CommandError(.keyChangeOtherCard)
            }
            let standard = try card.standard(keyring)
            let work: StandardRun.Work
            switch file.work.task {
            case .keys where smaller != nil:
                throw CommandError(.journalOfKeyChange, values: [Files.name(journal)])
            case .keys(_, let changes): work = .keys(try standard.keyPlan(new, resuming: changes))
            case .issue(let earlier, let known):
                let plan = smaller ?? earlier
                let (state, _) = try standard.issuePlan(plan, keys: new, resumes: true, from: earlier, check: known)
                work = .issue(plan, state, known)
            }
            var run = StandardRun(context, card, standard, keyring, new, work)
            run.smaller = smaller == nil ? nil : profile
            if smaller != nil, !yes { try run.confirm() }
            try run.rehearse()
            try run.run(file, resuming: file.work.taken)
        }
    }
}

/// The keys that a card gets.
struct NewKeyOptions: ParsableArguments {
    init() {}

    @Option(
        reach: .local, name: .long,
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

/// The journal of a key change or an issuance.
typealias StandardJournal = IssueJournal<StandardWork>

/// A key change or an issuance: the card and the new versions, or the profile and a check value of the keys.
struct StandardWork: IssueWork {
    static let kind = StepJournal.Kind(
        schema: "kazasu.standardJournal/1", begin: "standard keys", resume: "standard resume", name: "standard")

    /// What is done.
    enum Task {
        case keys(SystemCode, [StandardKeyChange])
        case issue(StandardProfile, StandardKeyCheck)
    }

    let idm: IDm
    let task: Task
    /// The steps that were taken before the journal was opened.
    let taken: Set<StandardStep>

    /// The systems by which the card answers.
    var systems: [SystemCode] {
        switch task {
        case .keys(let system, _): [system]
        // A card that is issued in part may be blank again.
        case .issue(let profile, _): [profile.system, StandardIssuer.blank]
        }
    }

    init(_ idm: IDm, _ task: Task) { (self.idm, self.task, taken) = (idm, task, []) }

    init(_ first: JSONCursor, steps lines: [JSONCursor]) throws(DocumentError) {
        idm = try first.required("idm").idm()
        taken = try JSONCursor.steps(lines) { word, line throws(DocumentError) in
            StandardStep(word, try line.optional("node")?.code())
        }
        guard let profile = try first.optional("profile") else {
            let changes = try first.required("keys").list { key throws(DocumentError) in
                StandardKeyChange(
                    node: try key.required("node").code(), from: try key.required("from").code(),
                    to: try key.required("to").code())
            }
            task = .keys(try first.required("system").code(), changes)
            return
        }
        let json = try first.required("keyCheck")
        let check = StandardKeyCheck(
            salt: try json.required("salt").bytes(count: 8), value: try json.required("value").bytes(count: 8))
        guard let check else { throw json.malformed(.object) }
        task = .issue(try StandardProfile(profile), check)
    }

    var members: [(String, JSONValue)] {
        let own: [(String, JSONValue)] =
            switch task {
            case .keys(let system, let changes):
                [("system", .string(system.description)), ("keys", Self.json(changes))]
            case .issue(let profile, let check):
                [
                    ("profile", profile.json),
                    (
                        "keyCheck",
                        ["salt": .string(check.salt.hexadecimal), "value": .string(check.value.hexadecimal)]
                    ),
                ]
            }
        return [("idm", .string(idm.bytes.hexadecimal))] + own
    }

    static func json(_ changes: [StandardKeyChange]) -> JSONValue {
        .array(
            changes.map { change in
                [
                    "node": .string(change.node.description), "from": .string(change.from.description),
                    "to": .string(change.to.description),
                ]
            })
    }

    static func members(of step: StandardStep) -> [(String, JSONValue)] {
        [("step", .string(step.word))] + (step.node.map { [("node", .string($0.description))] } ?? [])
    }
}
