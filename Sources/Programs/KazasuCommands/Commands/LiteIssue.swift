// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu lite issue`
struct LiteIssue: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue",
        abstract: tr("Write key, contents and restrictions to a Lite-S card.", "Lite-S カードに鍵・内容・制限を書き込む。"),
        discussion: tr(
            """
            The profile is a JSON file (kazasu.liteProfile/1, see \(Documents.path("lite-s.md"))) without any key. --dry-run lists every \
            change, and which can never be taken back. Before writing, the same list is shown and confirmed; --yes skips the \
            question.

            The card is locked last, and only after it has proved, without power in between, that it has the key. Each step \
            is on the disk (--journal) before it is taken; after an interruption, 'kazasu lite resume' goes on. Use a master \
            key, so that one known card key opens no other card.

            Examples:
              kazasu lite issue --profile door.json --dry-run
              kazasu lite issue --profile door.json --master-key-from file:master
              kazasu lite issue --profile door.json --key-from env:KEY --journal 1.jsonl
            """,
            """
            プロファイルは鍵を含まない JSON ファイルです（kazasu.liteProfile/1、\(Documents.path("lite-s.ja.md")) を参照）。--dry-run は、すべての変更と、
            元に戻せないものを表示します。書き込む前に同じ一覧を示して確認します（--yes で省略）。

            ロックは最後に、電源を切ったあとでもカードが鍵を持つことを確かめてから行います。各手順は実行前に --journal の\
            ファイルへ保存し、中断しても 'kazasu lite resume' で続けられます。1 枚の鍵が知られても他のカードに影響しないよう、\
            マスター鍵をお使いください。

            例:
              kazasu lite issue --profile door.json --dry-run
              kazasu lite issue --profile door.json --master-key-from file:master
              kazasu lite issue --profile door.json --key-from env:KEY --journal 1.jsonl
            """))

    static let programAccess = CommandAccess.none(
        because: "it cannot be undone, so a person agrees to each card at the terminal")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: LiteKeyOptions

    @Option(
        required: "", reach: .never, name: .long,
        help: help("The profile: a JSON file.", "プロファイル（JSON ファイル）。", value: "file"), completion: .file())
    var profile: String

    @Flag(reach: .never, name: .long, help: help("Show what would change, and write nothing.", "変更内容を表示し、何も書き込まない。"))
    var dryRun = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "A new file for the journal. Default: $XDG_STATE_HOME/kazasu/lite-TIME.jsonl.",
            "ジャーナルの新しいファイル。省略時は $XDG_STATE_HOME/kazasu/lite-TIME.jsonl。", value: "file"), completion: .file())
    var journal: String?

    @Flag(reach: .never, name: [.short, .long], help: help("Do not ask before writing.", "書き込みの確認をしない。"))
    var yes = false

    func validate() throws {
        if dryRun, journal != nil {
            throw ValidationError(tr("--dry-run writes no --journal", "--dry-run と --journal は同時に指定できません"))
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: journal != nil)
        let profile = try LiteIssuance.profile(self.profile)
        let key = dryRun && !keyOptions.isGiven ? nil : try keyOptions.key()
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let card = try session.find(.lite)
            let lite = try card.lite()
            let changes = try lite.changes(profile)
            guard !dryRun, let key, let idm = card.identity.idm else {
                return try LiteIssuance.answer(card, changes, isIssued: false, context)
            }
            if !yes { try LiteIssuance.confirm(changes, context) }
            let check = try lite.keyCheck(profile, key: key)
            let file = try LiteJournal(creating: journal, LiteWork(idm, profile, check))
            try LiteIssuance(context).run(lite, profile, key, file, resumes: false)
            try LiteIssuance.answer(card, changes, isIssued: true, context)
        }
    }
}

/// `kazasu lite resume`
struct LiteResume: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: tr("Continue an interrupted issuance.", "中断した発行を続ける。"),
        discussion: tr(
            """
            Takes the profile from the journal, and the same key as before. It looks at the card first and does only what is \
            missing; nothing is asked, since 'lite issue' did.

            Examples:
              kazasu lite resume --journal interrupted.jsonl --key-from env:KEY
            """,
            """
            プロファイルはジャーナルから読みます。鍵は発行時と同じものを指定してください。先にカードの状態を調べ、残りだけを行います。
            'lite issue' で確認済みのため、改めて確認はしません。

            例:
              kazasu lite resume --journal interrupted.jsonl --key-from env:KEY
            """))

    static let programAccess = CommandAccess.none(because: "it goes on with what only lite issue begins")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: LiteKeyOptions

    @Option(
        required: "", reach: .never, name: .long,
        help: help("The journal of the issuance.", "発行のジャーナル。", value: "file"), completion: .file())
    var journal: String

    func execute(_ context: Context) throws {
        try context.check("--journal", isGiven: true)
        let key = try keyOptions.key()
        let file = try LiteJournal(resuming: journal)
        let session = try ReaderSession(readerOptions, context)
        try closing(session) { session in
            let card = try session.find(.lite)
            guard card.identity.idm == file.work.idm else { throw CommandError(LiteError.otherCard) }
            let lite = try card.lite()
            try LiteIssuance(context).run(lite, file.work.profile, key, file, resumes: true)
            try LiteIssuance.answer(card, [], isIssued: true, context)
        }
    }
}

/// What `issue` and `resume` share.
struct LiteIssuance {
    private let context: Context

    init(_ context: Context) { self.context = context }

    /// The longest profile, in bytes.
    private static let longestProfile = 1 << 16

    static func profile(_ path: String) throws(CommandError) -> LiteProfile {
        let bytes = try Files.read(path, limit: longestProfile)
        do throws(DocumentError) {
            return try LiteProfile(parsing: bytes)
        } catch {
            throw CommandError(error, path: path)
        }
    }

    /// Shows the changes and asks on the terminal.
    static func confirm(_ changes: [LiteChange], _ context: Context) throws(CommandError) {
        try Confirmation.issue(
            changes.map { "  \(words($0))\n" }, tr("The card is issued like this.", "カードをこのように発行します。"),
            no: tr("type yes to issue the card", "発行するには yes と入力してください"))
    }

    private static func words(_ change: LiteChange) -> String {
        change.words + (change.isIrreversible ? tr(" (permanent)", "（元に戻せません）") : "")
    }

    /// Issues the card with its steps in the journal; an error names the command that goes on.
    func run(
        _ card: LiteCard, _ profile: LiteProfile, _ key: LiteKeySource, _ journal: LiteJournal, resumes: Bool
    ) throws {
        try journal.going { () throws(KazasuError) in
            try card.issue(profile, key: key, resuming: resumes ? journal.work.interruption : nil) {
                () throws(KazasuError) in
                context.note(tr("lift the card off the reader and put it back", "カードをリーダーから離し、もう一度置いてください"))
                try card.waitForReturn()
            } journal: { step throws(KazasuError) in
                context.detail(tr("step: \(step.rawValue)", "手順: \(step.rawValue)"))
                try journal.take(step)
            }
        } hint: {
            tr("go on with: \($0)", "続けるには: \($0)")
        }
    }

    static func answer(_ card: Card, _ changes: [LiteChange], isIssued: Bool, _ context: Context) throws {
        if context.json {
            try context.print([
                "schema": "kazasu.liteIssue/1", "card": context.redaction.card(card.identity, kind: .feliCaLite),
                "issued": .bool(isIssued),
                "changes": .array(
                    changes.map { change in
                        [
                            "change": .string(change.word), "irreversible": .bool(change.isIrreversible),
                            "text": .string(change.words),
                        ]
                    }),
            ])
        } else if isIssued {
            context.note(tr("issued; the card proved its key", "発行しました。カードの鍵も確認済みです"))
        } else {
            try context.print(changes.map { words($0) + "\n" }.joined())
        }
    }
}
