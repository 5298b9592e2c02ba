// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import Recordings
import SystemPackage

/// `kazasu contribute`
struct Contribute: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "contribute",
        abstract: tr("Record what your reader and card do, for a test.", "リーダーとカードの動作を記録し、テストとして提供する。"),
        discussion: tr(
            """
            Runs one fixed, harmless course on reader and card, and writes it to one file in which card and reader numbers are \
            masked. The file is shown before it is saved, and nothing is sent anywhere. --reader replay:FILE plays it.

            Nothing is written to the card, no block of it is read, and no PIN, key or authentication is used. It takes less \
            than 90 seconds; leave the card on the reader.

            --problem makes the file from the last command that failed in your account. It is kept for a day, masked, unless \
            KAZASU_NO_PROBLEM=1 is set. --check examines such files. Neither needs a reader. \
            \(Documents.path("contribute.md")) has the steps, including how to send the file.

            Examples:
              kazasu contribute
              kazasu contribute --yes -o recordings -r pn532_uart:/dev/ttyUSB0
              kazasu contribute --no-card
              kazasu contribute --problem
              kazasu contribute --check *.jsonl
            """,
            """
            リーダーとカードに決まった無害な操作を行い、カードやリーダーの番号を伏せて 1 つのファイルに書きます。保存する前に内容を表示し、
            どこにも送信しません。--reader replay:ファイル で再生できます。

            カードには書き込まず、中身のブロックも読まず、PIN・鍵・認証も使いません。90 秒以内に終わります。その間、カードを離さないでください。

            --problem は、最後に失敗したコマンドの記録からファイルを作ります。記録は番号を伏せて 1 日だけ保存されます
            （KAZASU_NO_PROBLEM=1 なら保存しません）。--check はファイルの検査です。どちらもリーダーは不要です。
            送り方を含む手順は \(Documents.path("contribute.ja.md")) にあります。

            例:
              kazasu contribute
              kazasu contribute --yes -o recordings -r pn532_uart:/dev/ttyUSB0
              kazasu contribute --no-card
              kazasu contribute --problem
              kazasu contribute --check *.jsonl
            """))

    static let programAccess = CommandAccess.none(because: "a person looks at the file before it is saved")

    @Option(
        reach: .never, name: .joined("o"),
        help: help(
            "Write the file into this folder instead of the current one.", "ファイルを書くフォルダー（省略時は現在のフォルダー）。",
            value: "folder"),
        completion: .directory)
    var output: String?

    @Option(
        reach: .never, name: .joined("r"),
        help: help("Which reader: an ID that 'kazasu readers' lists.", "リーダー: kazasu readers が表示する ID。", value: "id"),
        completion: SchemeCompletion.readers)
    var reader: String?

    @Option(
        reach: .never, name: .joined("t"), parsing: .unconditional,
        help: help(
            "How long to wait for a card: seconds, 0 for one try, or forever.", "カードを待つ時間: 秒、0 で 1 回だけ、forever で無制限。",
            value: "seconds"))
    var timeout = CardTimeout.usual

    @Flag(reach: .never, name: .long, help: help("Save without showing the file and asking.", "内容を表示せず、確認もせずに保存する。"))
    var yes = false

    @Flag(reach: .never, name: .long, help: help("Record the reader alone, without a card.", "カードなしで、リーダーだけを記録する。"))
    var noCard = false

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Save what was kept of the last command that failed; no reader is used.",
            "最後に失敗したコマンドの記録を保存する（リーダー不要）。"))
    var problem = false

    @Flag(reach: .never, name: .long, help: help("Check files instead of recording one.", "記録せず、ファイルを検査する。"))
    var check = false

    @Flag(
        reach: .never, name: .long,
        help: help(
            "With --check: print each good file's row for \(Documents.path("tested-with.md")).",
            "--check で、正しいファイルについて \(Documents.path("tested-with.ja.md")) の行を表示する。"))
    var row = false

    @Argument(
        reach: .never, help: help("With --check: the files.", "--check で検査するファイル。", value: "file"), completion: .file())
    var files: [String] = []

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    func validate() throws {
        let isChecking = check || row
        guard isChecking != files.isEmpty else {
            throw ValidationError(
                isChecking
                    ? tr("--check requires a file", "--check にはファイルを指定してください")
                    : tr("files require --check", "ファイルには --check も必要です"))
        }
        guard !isChecking || reader == nil && output == nil && !noCard && !yes && !problem else {
            throw ValidationError(
                tr("--check cannot be combined with options for recording", "--check は記録用のオプションと併用できません"))
        }
        guard !problem || reader == nil && !noCard else {
            throw ValidationError(
                tr(
                    "--problem cannot be combined with --reader or --no-card",
                    "--problem は --reader や --no-card と併用できません"))
        }
        guard isChecking || !common.json else {
            throw ValidationError(tr("--json requires --check", "--json には --check も必要です"))
        }
    }

    func execute(_ context: Context) throws {
        if check || row { return try RecordingChecks(files, rows: row).run(context) }
        if !yes { try Confirmation.check() }
        let folder = FilePath(output.map { $0.isEmpty ? "." : $0 } ?? ".")
        let file = try Self.newFile(in: folder)
        let made = problem ? try CourseRecording.problem() : try record(context)
        try save(made, file, in: folder, context)
        if let failure = made.failure { throw failure }
    }

    private func record(_ context: Context) throws -> CourseRecording {
        let id = try ReaderSession.chosen(reader)
        let link = LinkRecorder()
        let opened = try ReaderSession.open(
            id, context.cancellation, command: Self.configuration.commandName, recorder: link)
        let ask: ((ReaderCourse.Request) -> Bool)? = yes || noCard ? nil : { Self.isDone($0) }
        return CourseRecording(
            opened, id: id, link: link, hasCard: !noCard, wait: CardWait(timeout.duration), context, ask: ask)
    }

    /// Asks the person on the terminal to do something.
    private static func isDone(_ request: ReaderCourse.Request) -> Bool {
        let text =
            switch request {
            case .takeCardAway: tr("Take the card away, then press Enter. ", "カードを離して Enter を押してください。")
            case .putCardBack: tr("Put the same card back, then press Enter. ", "同じカードを戻して Enter を押してください。")
            }
        return (try? Terminal()?.line(text)) != nil
    }

    // MARK: Saving

    /// Made before anything is recorded, so that nothing is recorded in vain.
    private static func newFile(in folder: FilePath) throws(CommandError) -> TemporaryFile {
        do {
            return try TemporaryFile(in: folder, permissions: [.ownerReadWrite, .groupRead, .otherRead])
        } catch {
            throw CommandError(unwritable: folder.string, error)
        }
    }

    /// Shows the file, asks, and gives it its name.
    private func save(
        _ made: CourseRecording, _ file: TemporaryFile, in folder: FilePath, _ context: Context
    ) throws {
        try made.check()
        // After Ctrl-C nobody can be asked any more; the file is masked, and stays here.
        if !yes, !Interrupt.token.isCancelled {
            guard try made.isWanted(context) else { return }
        }
        let bytes = Array(made.text.utf8)
        let name = try Recording.fileName(model: made.model, of: bytes)
        let path = output == nil ? FilePath(name) : folder.appending(name)
        do {
            try file.descriptor.writeWhole(bytes)
            try file.move(to: path)
        } catch {
            throw CommandError(unwritable: path.string, error)
        }
        try context.print(path.string + "\n")
    }
}
