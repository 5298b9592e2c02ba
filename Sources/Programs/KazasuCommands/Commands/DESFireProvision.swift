// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// What `tag provision`, `tag reset` and `tag resume` do with a DESFire.
struct DESFireSetupRun {
    private let context: Context
    private let setup: TagSetupOptions
    private let readerOptions: ReaderOptions
    private let plan: DESFirePlan
    private let old: DESFireKeys?
    private let new: DESFireKeys

    /// Whether a plan is for a DESFire.
    static func isPlan(_ document: [UInt8]) -> Bool {
        guard let value = try? JSONValue(parsing: document),
            let chip = try? JSONCursor(value).optional("chip")?.text()
        else { return false }
        return chip == DESFirePlan.chip
    }

    static func provision(
        _ context: Context, _ setup: TagSetupOptions, _ readerOptions: ReaderOptions, _ document: [UInt8],
        _ path: String,
        newKeys: String?
    ) throws(CommandError) -> DESFireSetupRun {
        let plan: DESFirePlan
        do throws(DocumentError) {
            plan = try DESFirePlan(document)
        } catch {
            throw CommandError(error, path: path)
        }
        return DESFireSetupRun(
            context: context, setup: setup, readerOptions: readerOptions, plan: plan,
            old: try TagSetupOptions.readDESFire(setup.keys, context),
            new: try TagSetupOptions.readDESFire(newKeys, context) ?? DESFireKeys())
    }

    /// A reset deletes the applications whose key 0 is given, and gives the card's own key back if that is.
    static func reset(
        _ context: Context, _ setup: TagSetupOptions, _ readerOptions: ReaderOptions, _ keys: DESFireKeys, formats: Bool
    ) -> DESFireSetupRun {
        let applications = keys.applications.filter { keys.numbers(of: $0).contains(0) }
        return DESFireSetupRun(
            context: context, setup: setup, readerOptions: readerOptions,
            plan: .reset(deleting: applications, formats: formats), old: keys, new: cardKey(keys))
    }

    /// The factory's key for a card whose master key is given.
    private static func cardKey(_ keys: DESFireKeys) -> DESFireKeys {
        keys.numbers(of: .card).isEmpty ? DESFireKeys() : .factoryCard
    }

    static func resume(
        _ context: Context, _ setup: TagSetupOptions, _ readerOptions: ReaderOptions, _ journal: DESFireJournal,
        _ newKeys: String?
    ) throws {
        let old = try TagSetupOptions.readDESFire(setup.keys, context)
        let given = try TagSetupOptions.readDESFire(newKeys, context)
        let new = given ?? (journal.work.plan.isReset ? cardKey(old ?? DESFireKeys()) : DESFireKeys())
        try DESFireSetupRun(
            context: context, setup: setup, readerOptions: readerOptions, plan: journal.work.plan, old: old, new: new
        ).resume(journal)
    }

    /// The journal of a run, which exists from the first step on.
    private final class Recorder {
        var journal: DESFireJournal?
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
            let issuer = try DESFireSetup(
                tag, plan, old, new, resuming: nil,
                journal: { step throws(KazasuError) in try recorder.journal?.take(step) })
            let survey = try issuer.survey(allowsPermanent: permanent)
            try rehearse(survey, old ?? DESFireKeys(), new)
            guard let planned = issuer.planned() else { throw CommandError.bug("a plan without steps") }
            if dryRun {
                try issuer.prove()
                return try answer(planned, tag.identity)
            }
            if !yes { try confirm(planned) }
            try issuer.prove()
            let journal = try DESFireJournal(
                creating: path, DESFireWork(uid: issuer.uid, plan, old: old ?? DESFireKeys(), new: new))
            recorder.journal = journal
            try run(issuer, journal, tag.identity)
        }
    }

    private func resume(_ journal: DESFireJournal) throws {
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let tag = try session.find(.tag).forumTag()
            let uid = journal.work.progress.uid
            let old = try setup.derived(self.old ?? DESFireKeys(), uid: uid)
            let new = try setup.derived(self.new, uid: uid)
            let recorder = Recorder()
            recorder.journal = journal
            let issuer = try DESFireSetup(
                tag, plan, old, new, resuming: journal.work.progress,
                journal: { step throws(KazasuError) in try recorder.journal?.take(step) })
            let survey = try issuer.survey(allowsPermanent: true)
            try rehearse(survey, old, new, resuming: journal.work.progress)
            try going(on: journal) { () throws(KazasuError) in try issuer.prove() }
            try run(issuer, journal, tag.identity)
        }
    }

    private func rehearse(
        _ survey: DESFireSurvey, _ old: DESFireKeys, _ new: DESFireKeys, resuming progress: DESFireProgress? = nil
    ) throws {
        let isRight: Bool
        do throws(DESFireProvisionError) {
            isRight = try DESFireTwin.rehearse(survey, plan, old: old, new: new, resuming: progress)
        } catch {
            throw CommandError(error)
        }
        guard isRight else { throw CommandError.bug("the rehearsal was not read back") }
    }

    private func run(_ issuer: DESFireSetup, _ journal: DESFireJournal, _ card: CardIdentity) throws {
        context.note(tr("journal: \(journal.path)", "ジャーナル: \(journal.path)"))
        let result = try going(on: journal) { () throws(KazasuError) in try issuer.run() }
        try answer(result, card)
    }

    /// Runs a part that may be interrupted; the error then names the command that goes on.
    private func going<Value>(
        on journal: DESFireJournal, _ body: () throws(KazasuError) -> Value
    ) throws(CommandError) -> Value {
        try journal.going(body) {
            tr("go on with the same files of keys: \($0)", "同じ鍵のファイルで続けてください: \($0)")
        }
    }

    private func confirm(_ planned: DESFireProvision) throws(CommandError) {
        if Terminal() != nil { for line in Self.lines(planned) { Output.message("  \(line)\n") } }
        let fact =
            plan.isPermanent
            ? tr("the card is set up like this, partly forever", "カードをこのように設定します（元に戻せないものを含みます）")
            : tr("the card is set up like this", "カードをこのように設定します")
        try Confirmation.overwrite(fact, isGiven: false)
    }

    private func answer(_ result: DESFireProvision, _ card: CardIdentity) throws {
        if context.json {
            var document = JSONObject([
                ("schema", "kazasu.tagProvision/1"), ("card", context.redaction.apply(card).json), ("chip", "desfire"),
                (
                    "steps",
                    .array(
                        result.steps.map { entry in
                            var object = Self.object(entry.step)
                            object["state"] = .string(entry.state.rawValue)
                            return .object(object)
                        })
                ),
                (
                    "keys",
                    .array(
                        result.versions.sorted { "\($0.key)" < "\($1.key)" }.map {
                            [
                                "aid": .string("\($0.key.application)"), "number": .int(Int($0.key.number)),
                                "version": .int(Int($0.value)),
                            ]
                        })
                ),
            ])
            document["url"] = context.redaction.isOn ? nil : result.url.map { .string($0) }
            document["left"] = .array(result.left.map { .object(Self.object($0)) })
            document["verified"] = .bool(result.isVerified)
            try context.print(.object(document))
        } else if result.isVerified {
            for step in result.left {
                let what = Self.text(step)
                context.warn(tr("cannot be undone: \(what)", "元に戻せません: \(what)"))
            }
            if let url = result.url, !context.redaction.isOn { try context.print(url + "\n") }
            context.note(tr("set up and read back", "設定し、読み返して確認しました"))
        } else {
            try context.print(Self.lines(result).map { $0 + "\n" }.joined())
        }
    }

    private static func object(_ step: DESFireStep) -> JSONObject {
        var object = JSONObject([("step", .string(step.name))])
        if let application = step.application { object["aid"] = .string("\(application)") }
        if let number = step.number { object["number"] = .int(Int(number)) }
        return object
    }

    private static func lines(_ result: DESFireProvision) -> [String] { result.steps.map { text($0.step) } }

    private static func text(_ step: DESFireStep) -> String {
        switch step {
        case .application(let id): tr("create application \(id)", "アプリケーション \(id) を作る")
        case .file(let id): tr("create file \(id)", "ファイル \(id) を作る")
        case .contents(let id): tr("write file \(id)", "ファイル \(id) に書き込む")
        case .key(let id) where id.application == .card: tr("change the card's key", "カードの鍵を変更する")
        case .key(let id): tr("change key \(id)", "鍵 \(id) を変更する")
        case .keyProved(let id): tr("prove key \(id)", "鍵 \(id) を確かめる")
        case .settings(.card): tr("change the card's settings", "カードの設定を変更する")
        case .settings(let id): tr("change the settings of \(id)", "\(id) の設定を変更する")
        case .delete(let id): tr("delete application \(id)", "アプリケーション \(id) を削除する")
        case .format: tr("format the card", "カードをフォーマットする")
        default: step.name
        }
    }
}
