// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI

/// `kazasu doctor`
struct DoctorCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: tr("Find out why a reader does not work, and how to fix it.", "リーダーが使えない原因と直し方を調べる。"),
        discussion: tr(
            """
            Checks each layer in turn: USB, driver, permission, kernel driver, other programs, firmware, libnfc's \
            configuration and environment, serial ports, containers. Nothing is changed, and only the reader named with \
            --reader is opened. The exit status is 0 if a reader can be used, otherwise 69.

            --report FILE writes the file of 'kazasu contribute' under this name, and will be removed.

            Examples:
              kazasu doctor
              sudo kazasu doctor --fix
              kazasu doctor --reader pn532_uart:/dev/ttyUSB0
            """,
            """
            USB、ドライバー、権限、カーネルのドライバー、他のプログラム、ファームウェア、libnfc の設定と環境変数、シリアルポート、
            コンテナを順に調べます。何も変更せず、--reader で指定したもの以外は開きません。
            使えるリーダーがあれば終了ステータスは 0、なければ 69 です。

            --report は kazasu contribute のファイルを指定の名前で書きます（廃止予定）。

            例:
              kazasu doctor
              sudo kazasu doctor --fix
              kazasu doctor --reader pn532_uart:/dev/ttyUSB0
            """))

    static let programAccess = CommandAccess.none(
        because: "it repairs the computer; readers.list says why a reader cannot be used")

    @Option(
        reach: .never, name: .joined("r"),
        help: help("Also open this reader and identify it.", "このリーダーを開いて確かめる。", value: "id"),
        completion: SchemeCompletion.readers)
    var reader: String?

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Install the udev rules that let users open readers, after asking.", "確認のうえ、udev ルールを入れる。"))
    var fix = false

    @Flag(reach: .never, name: .long, help: help("With --fix or --report: do not ask.", "--fix や --report で確認を省く。"))
    var yes = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "Write one redacted file for a bug report, after asking.", "確認のうえ、個人情報を伏せた不具合報告用のファイルを書く。",
            value: "file"), completion: .file())
    var report: String?

    @Option(
        reach: .never, name: .joined("t"), parsing: .unconditional,
        help: help(
            "With --report: how long to wait for a card: seconds, 0 for one try, or forever.",
            "--report でカードを待つ時間: 秒、0 で 1 回だけ、forever で無制限。", value: "seconds"))
    var timeout = CardTimeout.seconds(10)

    @Option(
        reach: .never, name: .long,
        help: help(
            "Examine the system whose root is this folder, ignoring environment variables.",
            "このフォルダーにあるシステムのファイルを調べる（環境変数は見ない）。", value: "folder"), completion: .directory)
    var root: String?

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    func validate() throws {
        guard report != "-" else {
            throw ValidationError(tr("--report requires a file", "--report にはファイルを指定してください"))
        }
    }

    func execute(_ context: Context) throws {
        if let root, !Files.isFolder(root) {
            throw Files.unreadable(root, access(root, F_OK) == 0 ? ENOTDIR : ENOENT)
        }
        if report != nil {
            let contribute = Caller.commandLine.command("contribute")
            context.note(
                tr(
                    "--report will be removed; \(contribute) makes a file that can be shared",
                    "--report は廃止予定です。共有できるファイルは \(contribute) で作れます"))
        }
        let file = try report.map { path throws(CommandError) in
            if !yes { try Confirmation.check() }
            return try OutputFile(path)
        }
        if fix { try UdevInstallation(root: root ?? "").run(withoutAsking: yes, context) }
        var diagnosis = ReaderDiagnosis.Doctor(machine).examine()
        diagnosis.system += served(diagnosis)
        var recording: CourseRecording?
        if file != nil {
            recording = try record(diagnosis, context)
            if let recording, let id = reader { diagnosis.add(trial: Self.check(recording, id)) }
        } else if let reader {
            diagnosis.add(trial: try trial(reader, context.cancellation))
        }
        if context.json {
            try context.print(DoctorView.json(diagnosis))
        } else {
            try context.print(DoctorView.text(diagnosis))
        }
        if let file, let recording { try write(recording, file, context) }
        if !diagnosis.isReady { throw DoctorView.failure(diagnosis) }
    }

    /// Runs the course of `kazasu contribute` on the named reader or the first that is ready.
    ///
    /// - Throws: ``CommandError`` when the user interrupts.
    private func record(_ diagnosis: Diagnosis, _ context: Context) throws -> CourseRecording {
        let findings = CourseRecording.findings(diagnosis)
        do {
            guard root == nil || reader != nil else {
                return CourseRecording(unopened: "", nil, findings: findings)
            }
            let id = try ReaderSession.chosen(reader)
            let link = LinkRecorder()
            let opened = try ReaderSession.open(id, context.cancellation, command: "contribute", recorder: link)
            return CourseRecording(
                opened, id: id, link: link, hasCard: true, wait: CardWait(timeout.duration), context,
                findings: findings,
                ask: nil)
        } catch let failure as CommandError where failure.status != .interrupted {
            return CourseRecording(unopened: reader ?? "", failure, findings: findings)
        }
    }

    /// Shows the file, asks, and writes it.
    private func write(_ recording: CourseRecording, _ file: OutputFile, _ context: Context) throws(CommandError) {
        try recording.check()
        if !yes {
            guard try recording.isWanted(context) else { return }
        }
        try file.finish(recording.text)
        context.note(tr("wrote \(report ?? "")", "\(report ?? "") に書きました"))
    }

    private static func check(_ recording: CourseRecording, _ id: String) -> Check {
        guard let failure = recording.failure, !recording.isOpened else { return Check(.answers, id, recording.model) }
        return Check(.answersNot, id, failure.message, failure.hint ?? "kazasu readers")
    }

    private var machine: Machine {
        Machine(root: root ?? "", environment: root == nil ? SystemEnvironment.all : [:])
    }

    /// The readers that pcscd lists, when a connected reader needs it or is held by it; another system's is not asked.
    private func served(_ diagnosis: Diagnosis) -> [Check] {
        guard root == nil, diagnosis.checks.contains(where: { [.serviceThere, .heldByPcscd].contains($0.code) }) else {
            return []
        }
        return ReaderRegistry.servedReaders.filter(\.isUsable).map { Check(.serviceHasReader, $0.id) }
    }

    /// Opens the reader, of any kind, and closes it.
    ///
    /// - Throws: ``CommandError`` when the user interrupts.
    private func trial(_ id: String, _ cancellation: CancellationToken) throws -> Check {
        do {
            let opened = try ReaderSession.open(id, cancellation)
            defer { opened.close() }
            return Check(.answers, id, opened.information.name)
        } catch let failure as CommandError where failure.status != .interrupted {
            // Both are in the language of this run.
            return Check(.answersNot, id, failure.message, failure.hint ?? "kazasu readers")
        }
    }
}
