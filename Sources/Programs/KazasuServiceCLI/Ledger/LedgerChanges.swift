// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import KazasuLedger

extension LedgerCommand {
    /// `kazasu ledger import`
    struct Import: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: tr("Add the records of dumps to the ledger.", "ダンプの履歴を台帳に追加する。"),
            discussion: tr(
                """
                Takes dumps of every format that 'kazasu decode' reads, folders, and files with one dump a line, in any \
                order. Importing a file again changes nothing. Each thousand dumps are kept together or not at all.

                Examples:
                  kazasu ledger import card.json
                  kazasu ledger import --dry-run dumps/           # look first
                  kazasu ledger import --card Suica phone/*.nfc   # refuse files of other cards
                """,
                """
                'kazasu decode' が読める形式のダンプ、フォルダー、1 行 1 ダンプのファイルを、順不同で読みます。同じファイルを
                もう一度読んでも何も変わりません。ダンプ 1,000 件ごとに、全部追加するか、何も追加しないかのどちらかです。

                例:
                  kazasu ledger import card.json
                  kazasu ledger import --dry-run dumps/           # 先に内容を確かめる
                  kazasu ledger import --card 通勤 phone/*.nfc   # 別のカードは拒否する
                """))

        static let programAccess = CommandAccess.none(
            because: "it reads folders and archives; decode with keep adds a dump")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions

        @Argument(
            required: [], reach: .never, help: help("Dumps or folders of dumps.", "ダンプ、またはダンプのフォルダー。", value: "file"),
            completion: .file())
        var files: [String]

        @Option(
            reach: .never, name: .long,
            help: help(
                "The card that all files must be of: its name, IDm or last digits.", "すべてのファイルのカード: 名前、IDm、またはその末尾。",
                value: "card"), completion: LedgerCompletion.cards)
        var card: String?

        @Flag(
            reach: .never, name: .long, help: help("Say what would be added, and add nothing.", "追加せずに、追加される内容だけを表示する。")
        )
        var dryRun = false

        @OptionGroup(title: CommonOptions.title) var place: LedgerPath

        func execute(_ context: Context) throws {
            let path = try LedgerFileOptions.path(place.ledger)
            // A preview makes no ledger: it looks at an empty one that is gone afterwards.
            let scratch = dryRun && access(path, F_OK) != 0 ? try ScratchFolder() : nil
            defer { scratch?.remove() }
            let keeper = try LedgerKeeper(scratch.map(\.ledger) ?? path, context, of: card, isTrial: dryRun)
            let source = DumpFiles(paths: files)
            var (failures, isMany): ([CommandError], Bool) = ([], source.areMany)
            try source.forEach { item in
                isMany = isMany || item.isOneOfMany
                switch item.dump {
                case .failure(let failure):
                    guard isMany else { throw failure }
                    failures.append(failure)
                    Output.message(CommandError(failure.status, failure.reason, failure.message), json: context.json)
                case .success(let dump): try keeper.keep(.dump(dump, kind: nil, place: item.place))
                }
            }
            try keeper.keepWaiting()
            guard keeper.total.read > 0 || !failures.isEmpty else { throw CommandError(.noHistory) }
            if context.json {
                try context.print(
                    LedgerJSON.addition(
                        keeper.total, files: keeper.dumps, unreadable: failures.count, isTrial: dryRun, Language.current
                    ))
            } else {
                try context.print(LedgerWords.added(keeper.total) + "\n")
                if !keeper.total.newCards.isEmpty {
                    let cards = keeper.total.newCards.map { "…" + $0.suffix(4) }.joined(separator: tr(", ", "、"))
                    context.note(tr("new in the ledger: \(cards)", "台帳になかったカード: \(cards)"))
                }
                keeper.tell()
                if dryRun {
                    context.note(tr("a preview: nothing was added", "プレビューのため、何も追加していません"))
                } else if let number = keeper.total.source {
                    let undo = Caller.current.command("ledger undo")
                    context.note(
                        tr(
                            "import \(number); \(undo) takes it back",
                            "取り込み番号 \(number)（取り消すには \(undo)）"))
                }
            }
            guard let failure = failures.first else { return }
            let decode = Caller.current.command("decode", .file)
            throw CommandError(
                failure.status, "badFiles",
                keeper.dumps > 0
                    ? tr(
                        "\(Words.count(failures.count, "file")) could not be read; the others were kept",
                        "\(failures.count) 件を読めませんでした。残りは追加しました")
                    : tr(
                        "none of the \(Words.count(failures.count, "file")) could be read",
                        "\(failures.count) 件とも読めませんでした"),
                hint: Remedy.decodeSays.text(decode))
        }
    }

    /// `kazasu ledger name`
    struct Name: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "name",
            abstract: tr("Give a card a name.", "カードに名前を付ける。"),
            discussion: tr(
                """
                The name appears in lists, exports and the report, and --card takes it.

                Examples:
                  kazasu ledger name transit "Work"
                  kazasu ledger name 7890 "Work"          # the last digits of the card's number
                  kazasu ledger name "Work" --remove
                """,
                """
                名前は一覧・書き出し・レポートに使われ、--card でも指定できます。

                例:
                  kazasu ledger name transit 通勤
                  kazasu ledger name 7890 通勤            # カード番号の末尾
                  kazasu ledger name 通勤 --remove
                """))

        static let programAccess = CommandAccess.none(
            because: "it changes the ledger, which its owner does at the terminal")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions

        @Argument(required: "", reach: .never, help: help("The card.", "カード。"), completion: LedgerCompletion.cards)
        var card: String

        @Argument(reach: .never, help: help("Its name.", "名前。"))
        var name: String?

        @Flag(reach: .never, name: .long, help: help("Take the name away.", "名前を消す。"))
        var remove = false

        func validate() throws {
            guard (name == nil) == remove else {
                throw ValidationError(tr("give either a name or --remove", "名前か --remove のどちらかを指定してください"))
            }
            guard let name, name.isEmpty || name.contains(where: \.isNewline) else { return }
            throw ValidationError(tr("a name is one line of text", "名前は 1 行の文字列にしてください"))
        }

        func execute(_ context: Context) throws {
            let ledger = try file.open(context)
            try ledger.name(card, as: name)
            try LedgerCommand.printCards(ledger, context)
        }
    }

    /// `kazasu ledger link`
    struct Link: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "link",
            abstract: tr("Join a card that continues an older one.", "機種変更などで引き継いだカードを 1 枚にまとめる。"),
            discussion: tr(
                """
                After a change of phone the card has a new number and the same history. Linked, both are one card with one \
                history, under the name that one of them has; cards of different kinds are refused. 'ledger undo' takes it \
                back as long as it is the last change.

                Example:
                  kazasu ledger link NEW OLD    # names or numbers as in 'ledger cards'
                """,
                """
                機種変更をすると、同じ履歴のままカードの番号が変わります。まとめると 1 枚のカードの 1 つの履歴になり、どちらかに
                付いていた名前を引き継ぎます。種類の異なるカードはまとめられません。ほかの変更をする前なら 'ledger undo' で元に戻せます。

                例:
                  kazasu ledger link 新 旧    # 名前または番号（'ledger cards' の表示）
                """))

        static let programAccess = CommandAccess.none(
            because: "it changes the ledger, which its owner does at the terminal")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions

        @Argument(
            required: "", reach: .never, help: help("The newer card.", "新しいカード。"), completion: LedgerCompletion.cards)
        var new: String

        @Argument(
            required: "", reach: .never, help: help("The older card that it continues.", "引き継ぎ元の古いカード。"),
            completion: LedgerCompletion.cards)
        var old: String

        func execute(_ context: Context) throws {
            let ledger = try file.open(context)
            let repeated = try ledger.link(new, to: old)
            context.note(
                tr(
                    "linked; \(Words.count(repeated, "record")) had been kept of both", "まとめました（両方にあった履歴 \(repeated) 件）"
                ))
            try LedgerCommand.printCards(ledger, context)
        }
    }

    /// `kazasu ledger redecode`
    struct Redecode: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "redecode",
            abstract: tr("Read the bytes of all records again, after an update.", "更新後に、保存した全履歴のバイト列を読み直す。"),
            discussion: tr(
                """
                The ledger keeps the bytes of each record. A later version of Kazasu may know more about them. Nothing that \
                was known is replaced by an unknown, and ids stay the same.

                Example:
                  kazasu ledger redecode
                """,
                """
                台帳には各履歴のバイト列も保存されています。新しい版の Kazasu では、より多くの項目を読める場合があります。分かっている
                値が不明になることはなく、ID も変わりません。

                例:
                  kazasu ledger redecode
                """))

        static let programAccess = CommandAccess.none(
            because: "it changes the ledger, which its owner does at the terminal")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions

        func execute(_ context: Context) throws {
            let ledger = try file.open(context)
            let result = try ledger.redecode()
            if context.json { return try context.print(LedgerJSON.redecoding(result)) }
            try context.print(
                tr(
                    "\(Words.count(result.records, "record")), \(result.changed) changed, \(result.unreadable) not readable by this version\n",
                    "履歴 \(result.records) 件、変更 \(result.changed) 件、この版で読めないもの \(result.unreadable) 件\n"))
        }
    }

    /// The cards after a change, as `cards` prints them.
    static func printCards(_ ledger: Ledger, _ context: Context) throws {
        let cards = try ledger.cards()
        if context.json {
            try context.print(LedgerAnswers.cards.json(cards, Language.current))
        } else {
            try context.print(Context.text(LedgerAnswers.cards.table(cards, Language.current), width: Output.lineWidth))
        }
    }
}
