// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
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

            --check examines such files and needs no reader. \(Documents.path("contribute.md")) has the steps, including how to \
            send the file.

            Examples:
              kazasu contribute
              kazasu contribute --yes -o recordings -r pn532_uart:/dev/ttyUSB0
              kazasu contribute --no-card
              kazasu contribute --check *.jsonl
            """,
            """
            リーダーとカードに決まった無害な操作を行い、カードやリーダーの番号を伏せて 1 つのファイルに書きます。保存する前に内容を表示し、
            どこにも送信しません。--reader replay:ファイル で再生できます。

            カードには書き込まず、中身のブロックも読まず、PIN・鍵・認証も使いません。90 秒以内に終わります。その間、カードを離さないでください。

            --check はファイルの検査です（リーダー不要）。送り方を含む手順は \(Documents.path("contribute.ja.md")) にあります。

            例:
              kazasu contribute
              kazasu contribute --yes -o recordings -r pn532_uart:/dev/ttyUSB0
              kazasu contribute --no-card
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
        guard !isChecking || reader == nil && output == nil && !noCard && !yes else {
            throw ValidationError(
                tr("--check cannot be combined with options for recording", "--check は記録用のオプションと併用できません"))
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
        let made = try record(context)
        if let text = made.text { try save(text, as: made.model, file, in: folder, context) }
        if let failure = made.failure { throw failure }
    }

    // MARK: Recording

    /// The recording, and why it ended early.
    private struct Made {
        /// `nil` if nothing was recorded.
        var text: String?
        var model = RecordingWords.other
        var failure: CommandError?
    }

    private func record(_ context: Context) throws -> Made {
        let id = try ReaderSession.chosen(reader)
        let link = LinkRecorder()
        let opened = try ReaderSession.open(
            id, context.cancellation, command: Self.configuration.commandName, recorder: link)
        defer { opened.close() }
        let recorder = CourseRecorder(opened, link: link, now: { link.elapsed })
        recorder.add(section: "doctor", Self.findings())
        let isPlayed = id.hasPrefix("replay:")
        let note = noCard || isPlayed ? nil : WaitingNote(context)
        let person: ((ReaderCourse.Request) -> Bool)? =
            yes || noCard || isPlayed
            ? nil
            : { request in
                note?.end()
                return Self.isDone(request)
            }
        let course = ReaderCourse(recorder, cancellation: context.cancellation, ask: person)
        let ending = course.run(hasCard: !noCard, wait: isPlayed ? .once : CardWait(timeout.duration))
        note?.end()
        let information = opened.information
        let model = RecordingWords.model(id: information.id, name: information.name)
        let header = header(information, model: model, isSimulated: Self.isSimulated(id))
        let lines = [header.line] + recorder.lines(isComplete: ending == .complete).map(\.line)
        return Made(
            text: lines.map { $0 + "\n" }.joined(), model: model, failure: Self.failure(ending))
    }

    private func header(
        _ information: ReaderInformation, model: String, isSimulated: Bool
    ) -> Recording.Header {
        var reader = information
        reader.name = model
        var system = Dictionary(
            ReaderRegistry.libraryVersions.map { ($0.name, $0.version) }, uniquingKeysWith: { first, _ in first })
        let names = ["ID", "VERSION_ID"].compactMap(MachineVersions.distribution)
        system["distribution"] = names.isEmpty ? nil : names.joined(separator: " ")
        system["kernel"] = RecordingWords.leadingVersion(MachineVersions.kernel.release)
        system["pcscd"] = MachineVersions.pcscd
        system["libccid"] = MachineVersions.libccid
        return RecordingMask.apply(
            Recording.Header(
                course: .reader, tool: "kazasu \(RootCommand.version)",
                day: String(Timestamp.now.description.prefix(10)),
                reader: reader,
                isSimulated: isSimulated, system: system))
    }

    /// Whether a reader is a program: a card from a file, a USB device of umockdev, or a chip on a pseudo-terminal.
    private static func isSimulated(_ id: String) -> Bool {
        if ReaderRegistry.isSimulated(id) || getenv("UMOCKDEV_DIR") != nil { return true }
        let port = id.split(separator: ":").dropFirst().first { $0.hasPrefix("/") }
        guard let port, let path = realpath(String(port), nil) else { return false }
        defer { free(path) }
        return String(cString: path).hasPrefix("/dev/pts/")
    }

    /// What `kazasu doctor` finds, in codes.
    private static func findings() -> Recording.Outcome {
        let diagnosis = ReaderDiagnosis.Doctor(Machine(environment: SystemEnvironment.all)).examine()
        var outcome = Recording.Outcome(status: diagnosis.isReady ? 0 : 69)
        outcome.findings =
            diagnosis.readers.flatMap { reader in
                let model = RecordingWords.model(id: reader.model.driver ?? "", name: reader.model.name)
                return reader.checks.map { Recording.Outcome.Finding(code: $0.code.rawValue, model: model) }
            } + diagnosis.system.map { Recording.Outcome.Finding(code: $0.code.rawValue, model: nil) }
        outcome.devices = diagnosis.readers.map {
            Recording.Outcome.Device(vendor: $0.device.vendor, product: $0.device.product, release: $0.device.release)
        }
        return outcome
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

    private static func failure(_ ending: ReaderCourse.Ending) -> CommandError? {
        switch ending {
        case .complete: nil
        case .noCard: .noCard()
        case .failed(let error): CommandError(error)
        case .timeOver:
            CommandError(
                .interruptedReading, "timeOver",
                tr("the course took longer than 90 seconds", "90 秒以内に終わりませんでした"),
                hint: tr("the file is useful all the same; send it", "途中までのファイルも役に立ちます。お送りください"))
        }
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
        _ text: String, as model: String, _ file: TemporaryFile, in folder: FilePath, _ context: Context
    ) throws {
        let bytes = Array(text.utf8)
        // What is not as it should be is a fault of the masking, and must not leave the machine.
        let faults = RecordingCheck(bytes, name: nil).faults
        guard faults.isEmpty else { throw CommandError.bug("recording, line \(faults[0].line)") }
        // After Ctrl-C nobody can be asked any more; the file is masked, and stays here.
        if !yes, !Interrupt.token.isCancelled {
            Pager.show(text)
            do throws(CommandError) {
                try Confirmation.ask(tr("Save this?", "これを保存しますか？"))
            } catch {
                guard error.status == .interrupted, !Interrupt.token.isCancelled else { throw error }
                context.note(tr("nothing was saved", "保存しませんでした"))
                return
            }
        }
        let name = try Recording.fileName(model: model, of: bytes)
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

/// Shows a long text to the person at the terminal.
private enum Pager {
    /// By the program that `PAGER` names, else `less`; on standard error where there is neither.
    static func show(_ text: String) {
        let name = getenv("PAGER").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "less"
        guard Output.messagesAreOnTerminal, let pipe = popen(name, "w") else { return Output.message(text) }
        fputs(text, pipe)
        // A shell reports a program that is missing with 127.
        if pclose(pipe) == 127 << 8 { Output.message(text) }
    }
}
