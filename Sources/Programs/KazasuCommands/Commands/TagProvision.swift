// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu tag provision`
struct TagProvisionCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "provision",
        abstract: tr(
            "Set up an NTAG 424 DNA or DESFire with your keys.", "NTAG 424 DNA・DESFire に自分の鍵と内容を設定する。"),
        discussion: tr(
            """
            Writes what --plan says and the keys of --new-keys, in an order that loses no tag: contents, keys 1 to 4, \
            settings, key 0. It is rehearsed on a virtual tag, and all keys in use are proved before the first step. Each new \
            key is proved at once, everything is read back in the end, and the URL is verified.

            Each step is on the disk (--journal) before it is sent. After an interruption, every key is the old or the new \
            one, and 'kazasu tag resume' goes on. Keep the files of keys: a tag whose key 0 is lost stays as it is. A wrong \
            key is sent once, since the tag counts and locks a key for good after 1000. What cannot be undone needs \
            --permanent. Set up one tag of a batch first, where nobody can listen.

            In the URL, the tag fills in {picc}, or {uid} and {ctr}; {file:TEXT}, enciphered; {mac}, over all from {^} on.

            The plan of a DESFire lists applications with files, and "ndef" for phones. An application that others made is             not changed. A key of 32 digits for picc is AES with a version, and Triple DES without.

            Examples:
              kazasu tag provision --plan plan.json --new-keys tag.keys --dry-run
              kazasu tag provision --plan plan.json --new-keys tag.keys --journal t1.jsonl
              kazasu tag provision --plan plan.json --new-keys tag.keys --diversify uid
            """,
            """
            --plan の内容と --new-keys の鍵を、タグを失わない順に書き込みます（内容、鍵 1～4、設定、鍵 0 の順）。先に仮想のタグで予行し、\
            使う鍵をすべて確かめてから始めます。新しい鍵は変えるたびに確かめ、最後に全体を読み返して、URL を検証します。

            各手順は実行前に --journal のファイルへ保存します。中断しても、どの鍵も新旧のどちらかで、'kazasu tag resume' で続けられます。\
            鍵のファイルは必ず残してください。鍵 0 をなくしたタグは変更できなくなります。誤った鍵は 1 回しか送りません。タグは失敗を数え、\
            1000 回で鍵を永久にロックするためです。元に戻せない設定には --permanent が必要です。まとめて設定する前に、盗聴されない場所で 1 枚試してください。

            URL には、タグが {picc}（または {uid} と {ctr}）、暗号化した {file:文字列}、{^} 以降に対する {mac} を埋め込みます。

            DESFire の設定内容は、アプリケーションとファイル、スマートフォン用の "ndef" です。他者が作ったアプリケーションは変更しません。\
            picc の 32 桁の鍵は、バージョンがあれば AES、なければトリプル DES です。

            例:
              kazasu tag provision --plan plan.json --new-keys tag.keys --dry-run
              kazasu tag provision --plan plan.json --new-keys tag.keys --journal t1.jsonl
              kazasu tag provision --plan plan.json --new-keys tag.keys --diversify uid
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "tag.provision", .none(because: "keys are never taken from the network"), needs: .write,
            required: ["plan"], schema: "tagProvision",
            LocalizedText(
                "Sets up an NTAG 424 DNA or DESFire by a plan; each step is stored in a journal first.",
                "NTAG 424 DNA・DESFire に鍵と内容を設定する。各手順をジャーナルに保存し、中断しても続けられる。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        required: "", reach: .local, name: .long,
        help: help(
            "What the tag gets: a document kazasu.tagPlan/1, without keys.", "設定する内容（kazasu.tagPlan/1 の文書。鍵は含まない）。",
            value: "file"), completion: .file())
    var plan: String

    @OptionGroup var setup: TagSetupOptions

    @Option(
        reach: .local, name: .long,
        help: help(
            "A file with the keys that the tag gets, in the form of --keys; the other keys stay.",
            "タグに入れる鍵のファイル。形式は --keys と同じ。ここにない鍵はそのまま。", value: "file"), completion: .file())
    var newKeys: String?

    @Flag(
        reach: .local, name: .long,
        help: help("Prove the keys, show the steps, and write nothing.", "鍵を確かめて手順を表示し、何も書き込まない。"))
    var dryRun = false

    @Option(reach: .local, name: .long, help: TagSetupRun.journalHelp, completion: .file())
    var journal: String?

    @Flag(
        reach: .local, name: .long,
        help: help(
            "Do what can never be undone: readOnly, lrp, randomUID, settings that nobody may change.",
            "元に戻せない設定も行う: readOnly、lrp、randomUID、変更権のない設定。"))
    var permanent = false

    @Flag(reach: .local, name: [.short, .long], help: TagSetupRun.yesHelp)
    var yes = false

    func validate() throws {
        if dryRun, journal != nil {
            throw TagSetupRun.noJournal
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: journal != nil)
        let document = try Files.read(plan, limit: 1 << 16)
        if DESFireSetupRun.isPlan(document) {
            return try DESFireSetupRun.provision(
                context, setup, readerOptions, document, self.plan, newKeys: newKeys
            ).begin(journal: journal, dryRun: dryRun, permanent: permanent, yes: yes)
        }
        let plan: TagPlan
        do throws(DocumentError) {
            plan = try TagPlan(document)
        } catch {
            throw CommandError(error, path: self.plan)
        }
        let old = try TagSetupOptions.read(setup.keys, context)
        let new = try TagSetupOptions.read(newKeys, context) ?? TagKeys()
        let run = TagSetupRun(context, setup, readerOptions, plan, old: old, new: new)
        try run.begin(journal: journal, dryRun: dryRun, permanent: permanent, yes: yes)
    }
}

/// `kazasu tag reset`
struct TagReset: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: tr(
            "Give an NTAG 424 DNA or DESFire the factory's keys back.", "NTAG 424 DNA・DESFire を出荷時の鍵と設定に戻す。"),
        discussion: tr(
            """
            Empties the message and gives all keys, which then are zeros, and the settings of the factory back. It needs the \
            tag's keys; what is permanent stays and is named. Each step is on the disk (--journal) before it is sent, and \
            'kazasu tag resume' goes on after an interruption.

            On a DESFire, the applications whose key 0 is in --keys are deleted; their room comes back with --format.

            Examples:
              kazasu tag reset --keys tag.keys --dry-run
              kazasu tag reset --keys tag.keys --journal t1.jsonl
            """,
            """
            メッセージを消し、すべての鍵（ゼロになります）と設定を出荷時に戻します。タグの鍵が必要です。元に戻せない設定は残り、名前を表示します。\
            各手順は実行前に --journal のファイルへ保存するので、中断しても 'kazasu tag resume' で続けられます。

            DESFire では、鍵 0 が --keys にあるアプリケーションを削除します。その領域は --format で空きに戻ります。

            例:
              kazasu tag reset --keys tag.keys --dry-run
              kazasu tag reset --keys tag.keys --journal t1.jsonl
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "tag.reset", .none(because: "keys are never taken from the network"), needs: .write,
            required: ["keys"], schema: "tagProvision",
            LocalizedText(
                "Gives an NTAG 424 DNA or DESFire the factory's keys and settings back, and empties it.",
                "NTAG 424 DNA・DESFire の鍵と設定を出荷時に戻し、内容を消す。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var setup: TagSetupOptions

    @Flag(
        reach: .local, name: .long,
        help: help(
            "Format a DESFire, which deletes all applications, including those of others.",
            "DESFire をフォーマットする（ほかの鍵のものも含め、アプリケーションをすべて消す）。"))
    var format = false

    @Flag(
        reach: .local, name: .long,
        help: help("Prove the keys, show the steps, and write nothing.", "鍵を確かめて手順を表示し、何も書き込まない。"))
    var dryRun = false

    @Option(reach: .local, name: .long, help: TagSetupRun.journalHelp, completion: .file())
    var journal: String?

    @Flag(reach: .local, name: [.short, .long], help: TagSetupRun.yesHelp)
    var yes = false

    func validate() throws {
        guard setup.keys != nil else {
            let option = Caller.current.option("keys")
            throw ValidationError(tr("\(option) is required", "\(option) を指定してください"))
        }
        if dryRun, journal != nil {
            throw TagSetupRun.noJournal
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: journal != nil)
        guard let path = setup.keys else { return }
        switch try TagSetupOptions.readEither(path, context) {
        case .desfire(let keys):
            try DESFireSetupRun.reset(context, setup, readerOptions, keys, formats: format)
                .begin(journal: journal, dryRun: dryRun, permanent: false, yes: yes)
        case .ntag(let old):
            if format { throw TagSetupRun.noFormat }
            let run = TagSetupRun(context, setup, readerOptions, .reset, old: old, new: .factory)
            try run.begin(journal: journal, dryRun: dryRun, permanent: false, yes: yes)
        }
    }
}

/// `kazasu tag resume`
struct TagResume: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: tr("Continue an interrupted 'tag provision' or 'tag reset'.", "中断した tag provision・tag reset を続ける。"),
        discussion: tr(
            """
            Takes the plan from the journal, and the same files of keys as before; other keys are refused before anything is \
            sent. It looks at the tag first, proves the keys that it has, and takes only the missing steps. Of a key \
            that was being changed, the new one is tried first, then the old one. Nothing is asked, since that was done before.

            Examples:
              kazasu tag resume --journal tag.jsonl --new-keys tag.keys
            """,
            """
            設定内容はジャーナルから読みます。鍵のファイルは前回と同じものを指定してください（違う鍵なら、何も送らずに終わります）。先にタグの状態を\
            調べ、現在の鍵を確かめてから、残りだけを行います。変更中だった鍵は、新しいほう、元のほうの順に試します。確認済みのため、改めて確認はしません。

            例:
              kazasu tag resume --journal tag.jsonl --new-keys tag.keys
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "tag.resume", .none(because: "keys are never taken from the network"), required: ["journal"],
            schema: "tagProvision",
            LocalizedText(
                "Goes on with an interrupted tag.provision or tag.reset, by its journal.",
                "中断した tag.provision や tag.reset を、ジャーナルから続ける。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        required: "", reach: .local, name: .long,
        help: help("The journal of the setup.", "設定のジャーナル。", value: "file"), completion: .file())
    var journal: String

    @OptionGroup var setup: TagSetupOptions

    @Option(
        reach: .local, name: .long,
        help: help("The file with the new keys of 'tag provision'.", "tag provision に指定した新しい鍵のファイル。", value: "file"),
        completion: .file())
    var newKeys: String?

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: true)
        if DESFireWork.isJournal(try Files.read(journal, limit: StepJournal.limit, as: nil)) {
            return try DESFireSetupRun.resume(context, setup, readerOptions, DESFireJournal(resuming: journal), newKeys)
        }
        let old = try TagSetupOptions.read(setup.keys, context)
        let given = try TagSetupOptions.read(newKeys, context)
        let journal = try TagJournal(resuming: journal)
        let new = given ?? (journal.work.plan.isFactoryState ? .factory : TagKeys())
        let run = TagSetupRun(context, setup, readerOptions, journal.work.plan, old: old, new: new)
        try run.resume(journal)
    }
}

/// What `provision`, `reset` and `resume` share.
struct TagSetupRun {
    private let context: Context
    private let setup: TagSetupOptions
    private let readerOptions: ReaderOptions
    private let plan: TagPlan
    private let old: TagKeys?
    private let new: TagKeys

    static let journalHelp = help(
        "A new file for the journal. Default: $XDG_STATE_HOME/kazasu/tag-TIME.jsonl.",
        "ジャーナルの新しいファイル。省略時は $XDG_STATE_HOME/kazasu/tag-TIME.jsonl。", value: "file")

    /// With `--dry-run` there is no journal.
    static var noJournal: ValidationError {
        let (flag, journal) = (Caller.current.flag("dry-run"), Caller.current.option("journal"))
        return ValidationError(tr("\(flag) writes no \(journal)", "\(flag) と \(journal) は同時に指定できません"))
    }

    /// Only a DESFire can be formatted.
    static var noFormat: ValidationError {
        let flag = Caller.current.flag("format")
        return ValidationError(tr("\(flag) is for DESFire", "\(flag) は DESFire 用です"))
    }

    static let yesHelp = help(
        "Do not ask before writing.", "書き込みの確認をしない。",
        programs: LocalizedText(
            "Set up any tag, without a number in confirm.", "confirm の番号がなくても、置かれているタグに設定する。"))

    init(
        _ context: Context, _ setup: TagSetupOptions, _ readerOptions: ReaderOptions, _ plan: TagPlan, old: TagKeys?,
        new: TagKeys
    ) {
        (self.context, self.setup, self.readerOptions) = (context, setup, readerOptions)
        (self.plan, self.old, self.new) = (plan, old, new)
    }

    /// The journal of a run, which exists from the first step on.
    private final class Recorder {
        var journal: TagJournal?
    }

    func begin(journal path: String?, dryRun: Bool, permanent: Bool, yes: Bool) throws {
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let tag = try session.find(.tag).forumTag()
            try CommandHost.current?.check(tag.identity)
            let uid = tag.identity.uid ?? []
            let old = try self.old.map { keys throws(CommandError) in try setup.derived(keys, uid: uid) }
            let new = try setup.derived(self.new, uid: uid)
            let recorder = Recorder()
            let issuer = try TagSetup(
                tag, plan, old, new, rules: setup.rules(context), resuming: nil,
                journal: { step throws(KazasuError) in try recorder.journal?.take(step) })
            let survey = try issuer.survey(allowsPermanent: permanent)
            try rehearse(survey, old ?? .factory, new)
            guard let planned = issuer.planned() else { throw CommandError.bug("a plan without steps") }
            if dryRun {
                try issuer.prove()
                return try answer(planned, tag.identity)
            }
            if !yes { try confirm(planned) }
            try issuer.prove()
            let journal = try TagJournal(
                creating: path,
                TagWork(uid: issuer.uid, plan, old: (old ?? .factory).completed(), new: new))
            recorder.journal = journal
            try run(issuer, journal, tag.identity)
        }
    }

    func resume(_ journal: TagJournal) throws {
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let tag = try session.find(.tag).forumTag()
            let uid = journal.work.progress.uid
            let old = try setup.derived(self.old ?? .factory, uid: uid)
            let new = try setup.derived(self.new, uid: uid)
            let recorder = Recorder()
            recorder.journal = journal
            let issuer = try TagSetup(
                tag, plan, old, new, rules: setup.rules(context), resuming: journal.work.progress,
                journal: { step throws(KazasuError) in try recorder.journal?.take(step) })
            let survey = try issuer.survey(allowsPermanent: true)
            try rehearse(survey, old, new, resuming: journal.work.progress)
            try going(on: journal) { () throws(KazasuError) in try issuer.prove() }
            try run(issuer, journal, tag.identity)
        }
    }

    private func rehearse(
        _ survey: TagSurvey, _ old: TagKeys, _ new: TagKeys, resuming progress: TagProgress? = nil
    ) throws {
        let isRight: Bool
        do throws(TagProvisionError) {
            isRight = try TagTwin.rehearse(survey, plan, old: old, new: new, resuming: progress)
        } catch {
            throw CommandError(error)
        }
        guard isRight else { throw CommandError.bug("the rehearsal ended with other keys") }
    }

    private func run(_ issuer: TagSetup, _ journal: TagJournal, _ card: CardIdentity) throws {
        context.note(tr("journal: \(journal.path)", "ジャーナル: \(journal.path)"))
        let result = try going(on: journal) { () throws(KazasuError) in try issuer.run() }
        try answer(result, card)
    }

    /// Runs a part that may be interrupted; the error then names the command that goes on.
    private func going<Value>(
        on journal: TagJournal, _ body: () throws(KazasuError) -> Value
    ) throws(CommandError) -> Value {
        try journal.going(body) {
            tr("go on with the same files of keys: \($0)", "同じ鍵のファイルで続けてください: \($0)")
        }
    }

    private func confirm(_ planned: TagProvision) throws(CommandError) {
        if Terminal() != nil { for line in Self.lines(planned) { Output.message("  \(line)\n") } }
        let fact =
            plan.isPermanent
            ? tr("the tag is set up like this, partly forever", "タグをこのように設定します（元に戻せないものを含みます）")
            : tr("the tag is set up like this", "タグをこのように設定します")
        try Confirmation.overwrite(fact, isGiven: false)
    }

    private func answer(_ result: TagProvision, _ card: CardIdentity) throws {
        if context.json {
            var document = JSONObject([
                ("schema", "kazasu.tagProvision/1"), ("card", context.redaction.apply(card).json), ("chip", "ntag424"),
                ("steps", .array(result.steps.map { Self.json($0) })),
                (
                    "keys",
                    .array(
                        result.versions.sorted { $0.key < $1.key }.map {
                            ["number": .int(Int($0.key)), "version": .int(Int($0.value))]
                        })
                ),
            ])
            // The URL has the UID, perhaps in plain text.
            document["url"] = context.redaction.isOn ? nil : result.url.map { .string($0) }
            document["left"] = .array(result.left.map { .object(Self.object($0)) })
            document["verified"] = .bool(result.isVerified)
            try context.print(.object(document))
        } else if result.isVerified {
            for step in result.left { context.warn(Self.permanence(of: step)) }
            if let url = result.url, !context.redaction.isOn { try context.print(url + "\n") }
            context.note(tr("set up and read back", "設定し、読み返して確認しました"))
        } else {
            try context.print(Self.lines(result).map { $0 + "\n" }.joined())
        }
    }

    private static func object(_ step: TagStep) -> JSONObject {
        var object = JSONObject([("step", .string(step.name))])
        if let number = step.number { object["number"] = .int(Int(number)) }
        return object
    }

    private static func json(_ result: TagStepResult) -> JSONValue {
        var object = object(result.step)
        object["state"] = .string(result.state.rawValue)
        return .object(object)
    }

    /// What of a step cannot be undone.
    private static func permanence(of step: TagStep) -> String {
        switch step {
        case .freeze(let file): tr("the settings of file \(file) are permanent", "ファイル \(file) の設定は元に戻せません")
        case .lrp: tr("the tag stays in LRP mode", "LRP モードは元に戻せません")
        case .randomUID: tr("the tag goes on showing a random UID", "ランダムな UID は元に戻せません")
        default: step.name
        }
    }

    private static func lines(_ result: TagProvision) -> [String] {
        result.steps.map { entry in
            switch entry.step {
            case .opening: tr("let key 0 write file 2", "ファイル 2 を鍵 0 で書けるようにする")
            case .contents(let file): tr("write file \(file)", "ファイル \(file) に書き込む")
            case .key(let number):
                tr(
                    "change key \(number), to version \(result.versions[number] ?? 0)",
                    "鍵 \(number) を変更する（バージョン \(result.versions[number] ?? 0)）")
            case .settings(let file): tr("change the settings of file \(file)", "ファイル \(file) の設定を変更する")
            case .freeze(let file):
                tr("make the settings of file \(file) permanent", "ファイル \(file) の設定を固定する（元に戻せません）")
            case .lrp: tr("switch to LRP forever", "LRP モードに切り替える（元に戻せません）")
            case .randomUID: tr("show a random UID forever", "UID を毎回ランダムにする（元に戻せません）")
            case .keyProved(let number): tr("prove key \(number)", "鍵 \(number) を確かめる")
            default: entry.step.name
            }
        }
    }
}
