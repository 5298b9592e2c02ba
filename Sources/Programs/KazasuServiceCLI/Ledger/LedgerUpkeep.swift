// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import KazasuLedger

extension LedgerCommand {
    /// `kazasu ledger forget`
    struct Forget: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: tr("Remove a card, or the records of one import.", "カード、または 1 回の取り込みの履歴を削除する。"),
            discussion: tr(
                """
                Asks first, unless --yes is given. A kind, as in 'transit', removes the records of that kind only. An import \
                is a file, the files that were imported together, or a visit of a card; --list shows them with their \
                numbers. Until the next change, 'ledger undo' brings everything back.

                Examples:
                  kazasu ledger forget --list
                  kazasu ledger forget --import 1 --yes
                  kazasu ledger forget Suica --yes
                """,
                """
                --yes がなければ確認します。transit などの種類を指定すると、その種類の履歴だけを削除します。取り込みとは、1 つの
                ファイル、まとめて取り込んだファイル、またはカードの 1 回の読み取りのことで、--list で番号を確認できます。次の変更を
                するまでは 'ledger undo' で元に戻せます。

                例:
                  kazasu ledger forget --list
                  kazasu ledger forget --import 1 --yes
                  kazasu ledger forget 通勤 --yes
                """))

        static let programAccess = CommandAccess.none(
            because: "it changes the ledger, which its owner does at the terminal")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions

        @Argument(
            reach: .never, help: help("The card: its name, kind, IDm or last digits.", "カード: 名前、種類、IDm、またはその末尾。"),
            completion: LedgerCompletion.cards)
        var card: String?

        @Option(
            reach: .never, name: .customLong("import"),
            help: help("The number of an import.", "取り込みの番号。", value: "number"))
        var importNumber: Int?

        @Flag(reach: .never, name: .long, help: help("List the imports.", "取り込みの一覧を表示する。"))
        var list = false

        @Flag(reach: .never, name: .long, help: help("Do not ask.", "確認しない。"))
        var yes = false

        func validate() throws {
            guard [card != nil, importNumber != nil, list].count(where: \.self) == 1 else {
                throw ValidationError(
                    tr("give a card, --import or --list", "カード、--import、--list のうち 1 つを指定してください"))
            }
        }

        func execute(_ context: Context) throws {
            let ledger = try file.open(context)
            if list { return try printImports(ledger, context) }
            if !yes {
                try Confirmation.ask(tr("Remove these records from the ledger?", "台帳から削除しますか？"))
            }
            let removal =
                if let importNumber { try ledger.forgetImport(importNumber) } else { try ledger.forget(card ?? "") }
            if context.json { return try context.print(LedgerJSON.removal(removal)) }
            try context.print(
                tr("removed: \(Words.count(removal.records, "record"))\n", "削除した履歴: \(removal.records) 件\n"))
            let undo = Caller.current.command("ledger undo")
            context.note(tr("\(undo) brings them back", "\(undo) で元に戻せます"))
        }

        private func printImports(_ ledger: Ledger, _ context: Context) throws {
            let imports = try ledger.imports()
            if context.json { return try context.print(LedgerJSON.imports(imports)) }
            let head = [tr("IMPORT", "番号"), tr("WHEN", "日時"), tr("RECORDS", "件数"), tr("FROM", "取り込み元")]
            let rows = imports.map { entry in
                let time = entry.time.text(.local, .seconds)
                return [
                    "\(entry.id)", String(time.prefix(16)).replacing("T", with: " "), "\(entry.records)",
                    entry.source.name ?? entry.source.kind.words[Language.current],
                ]
            }
            try context.print(Columns.text([head] + rows, rightAligned: [0, 2]))
        }
    }

    /// `kazasu ledger undo`
    struct Undo: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "undo",
            abstract: tr("Take back the last change.", "最後の変更を取り消す。"),
            discussion: tr(
                """
                Takes back the last import, --keep, forget, merge, link, name or redecode; only the last one, and not twice. \
                What exports with --new have written stays marked as written.

                Example:
                  kazasu ledger undo
                """,
                """
                最後の取り込み、--keep、forget、merge、link、name、redecode を取り消します。取り消せるのは最後の 1 回だけです。
                --new で書き出したという記録はそのまま残ります。

                例:
                  kazasu ledger undo
                """))

        static let programAccess = CommandAccess.none(
            because: "it changes the ledger, which its owner does at the terminal")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions

        func execute(_ context: Context) throws {
            let ledger = try file.open(context)
            let change = try ledger.undo()
            if context.json { return try context.print(LedgerJSON.undone(change)) }
            let time = change.time.text(.local, .seconds).prefix(16)
                .replacing("T", with: " ")
            let what = change.kind.words[Language.current]
            try context.print(tr("undone: \(what), \(time)\n", "取り消しました: \(what)（\(time)）\n"))
        }
    }

    /// `kazasu ledger backup`
    struct Backup: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup",
            abstract: tr("Copy the ledger to a file.", "台帳をファイルにコピーする。"),
            discussion: tr(
                """
                The copy is whole and as of one moment, also while 'watch --keep' writes, and readable by you alone. A file \
                that exists is never replaced. To use a copy, put it in the ledger's place, or name it with --ledger.

                Example:
                  kazasu ledger backup ledger-2026-11-23.sqlite
                """,
                """
                'watch --keep' が書き込んでいる間でも、ある一時点の完全なコピーを作ります。読めるのは本人だけで、既存のファイルは
                置き換えません。コピーを使うには、台帳のファイルと入れ替えるか --ledger で指定します。

                例:
                  kazasu ledger backup ledger-2026-11-23.sqlite
                """))

        static let programAccess = CommandAccess.none(
            because: "it writes a file beside the ledger, which its owner does at the terminal")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions

        @Argument(
            required: "", reach: .never, help: help("The new file.", "新しいファイル。", value: "file"), completion: .file())
        var copy: String

        func execute(_ context: Context) throws {
            let ledger = try file.open(context)
            do throws(LedgerError) {
                try ledger.backUp(to: copy)
            } catch .inaccessible(let path, let code) {
                var failure = CommandError.unwritable(path, code)
                if code == EEXIST {
                    failure.message = tr("\(path) exists; it was not changed", "\(path) はすでにあります（変更していません）")
                }
                failure.hint = Remedy.otherName.text()
                throw failure
            } catch {
                throw CommandError(error)
            }
            if context.json { return try context.print(["schema": "kazasu.ledgerBackup/1", "file": .string(copy)]) }
            let cards = try ledger.cards()
            let (count, records) = (Set(cards.map(\.purse.card)).count, cards.reduce(0) { $0 + $1.records })
            context.note(
                tr(
                    "wrote \(copy): \(Words.count(records, "record")) of \(Words.count(count, "card"))",
                    "\(copy) に書きました（カード \(count) 枚、履歴 \(records) 件）"))
        }
    }

    /// `kazasu ledger merge`
    struct Merge: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge",
            abstract: tr("Add the records of another ledger.", "別の台帳の履歴を追加する。"),
            discussion: tr(
                """
                For ledgers of two computers: what both have is kept once, gaps that the other fills are closed. Names of \
                cards come along where this ledger has none. The other file is only read. 'ledger undo' takes a merge back.

                Example:
                  kazasu ledger merge laptop.sqlite
                """,
                """
                2 台のパソコンの台帳を 1 つにまとめます。両方にある履歴は 1 件とし、相手の台帳にある分で欠落を埋めます。この台帳で
                名前のないカードには、相手の台帳の名前が付きます。相手のファイルは読むだけです。'ledger undo' で取り消せます。

                例:
                  kazasu ledger merge laptop.sqlite
                """))

        static let programAccess = CommandAccess.none(
            because: "it changes the ledger, which its owner does at the terminal")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var place: LedgerPath

        @Argument(
            required: "", reach: .never, help: help("The other ledger.", "もう一方の台帳。", value: "file"), completion: .file()
        )
        var other: String

        func execute(_ context: Context) throws {
            // A copy is opened: an older format would be brought up to date in place.
            let scratch = try ScratchFolder()
            defer { scratch.remove() }
            try scratch.copy(other)
            let source: Ledger
            do throws(CommandError) {
                source = try LedgerFileOptions.open(scratch.ledger, isRedacted: false, isScratch: true)
            } catch {
                var failure = error
                failure.message = failure.message.replacing(scratch.ledger, with: other)
                if failure.reason == "notALedger" {
                    let add = Caller.current.command("ledger import", .file)
                    failure.hint = Remedy.importDumps.text(add)
                }
                throw failure
            }
            let path = try LedgerFileOptions.path(place.ledger)
            let ledger = try LedgerFileOptions.open(path, isRedacted: context.redaction.isOn)
            let addition = try ledger.merge(source, name: Files.name(other))
            if context.json {
                return try context.print(LedgerJSON.addition(addition, files: 1, Language.current))
            }
            try context.print(LedgerWords.added(addition) + "\n")
            for notice in addition.notices { context.warn(LedgerWords.notice(notice)) }
            for gap in addition.gaps.prefix(5) { context.warn(LedgerWords.gap(gap)) }
        }
    }
}

extension LedgerSource.Kind {
    /// Where records come from that have no name.
    fileprivate var words: LocalizedText {
        switch self {
        case .card: LocalizedText("a card", "カード")
        case .file: LocalizedText("several files", "複数のファイル")
        case .watch: LocalizedText("watch --keep", "watch --keep")
        case .ledger: LocalizedText("another ledger", "別の台帳")
        }
    }
}

extension LedgerChange.Kind {
    fileprivate var words: LocalizedText {
        switch self {
        case .keep: LocalizedText("records added", "履歴の追加")
        case .merge: LocalizedText("a merge", "台帳の統合")
        case .name: LocalizedText("a name", "カードの名前")
        case .link: LocalizedText("a link", "カードの統合")
        case .redecode: LocalizedText("redecoding", "読み直し")
        case .forget: LocalizedText("a removal", "削除")
        }
    }
}

/// A folder that only its owner can read, for a ledger that is deleted afterwards.
struct ScratchFolder {
    let path: String
    private let cleanup: ExitCleanup.Entry
    var ledger: String { path + "/ledger.sqlite" }

    init() throws(CommandError) {
        let parent = SystemEnvironment.all["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var name = Array((parent + "/kazasu-XXXXXX").utf8CString)
        guard mkdtemp(&name) != nil else {
            throw CommandError(.ledgerNoTemporaryFolder, values: [parent, SystemMessage.text(errno)])
        }
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.path = path
        cleanup = ExitCleanup.add { Files.removeFolder(path) }
    }

    /// Copies a ledger into the folder. One that is being changed, or that a killed program left, is refused.
    func copy(_ file: String) throws(CommandError) {
        var status = stat()
        let code = stat(file, &status) == 0 ? 0 : errno
        guard code == 0 else { throw CommandError(.ledgerUnreadable, values: [file, SystemMessage.text(code)]) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw CommandError(.ledgerNotAFile, values: [file]) }
        var journal = stat()
        guard stat(file + "-journal", &journal) != 0 || journal.st_size == 0 else {
            throw CommandError(LedgerError.locked(path: file))
        }
        let (source, target) = (
            open(file, O_RDONLY | O_CLOEXEC), open(ledger, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        )
        defer {
            close(source)
            close(target)
        }
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        var count = source < 0 || target < 0 ? -1 : read(source, &piece, piece.count)
        while count > 0, write(target, piece, count) == count { count = read(source, &piece, piece.count) }
        guard count == 0 else {
            throw CommandError(.ledgerNotCopied, values: [file, SystemMessage.text(errno)])
        }
    }

    func remove() {
        Files.removeFolder(path)
        cleanup.remove()
    }
}
