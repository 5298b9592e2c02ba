// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu

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

            With --report, writes one file for a bug report: these findings, versions, and a scan recorded down to the \
            frames between computer and reader. Put the card on the reader first. Card and reader numbers, and blocks \
            with names, are masked. The contents are listed before the file is written; --reader replay:FILE plays it.

            Examples:
              kazasu doctor
              sudo kazasu doctor --fix
              kazasu doctor --reader pn532_uart:/dev/ttyUSB0
              kazasu doctor --report report.jsonl
              kazasu doctor --report report.jsonl --dump --reader rcs380
            """,
            """
            USB、ドライバー、権限、カーネルのドライバー、他のプログラム、ファームウェア、libnfc の設定と環境変数、シリアルポート、
            コンテナを順に調べます。何も変更せず、--reader で指定したもの以外は開きません。
            使えるリーダーがあれば終了ステータスは 0、なければ 69 です。

            --report は不具合報告用のファイルを 1 つ作ります。内容は診断結果、バージョン、リーダーとの通信フレームまで記録した
            スキャンです。先にカードを置いてください。カードとリーダーの番号、氏名などのブロックは伏せます。
            書く前に内容を表示して確認します。--reader replay:ファイル で再生できます。

            例:
              kazasu doctor
              sudo kazasu doctor --fix
              kazasu doctor --reader pn532_uart:/dev/ttyUSB0
              kazasu doctor --report report.jsonl
              kazasu doctor --report report.jsonl --dump --reader rcs380
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

    @Flag(
        reach: .never, name: .long,
        help: help(
            "With --report: also record a dump of the card, with its journeys and payments.",
            "--report にカードのダンプ（乗車と支払いの履歴を含む）も記録する。"))
    var dump = false

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
        guard report != nil || !dump else {
            throw ValidationError(tr("--dump requires --report", "--dump には --report も必要です"))
        }
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
        let recording = file == nil ? nil : try record(context)
        if let recording {
            diagnosis.add(trial: check(recording))
        } else if let reader {
            diagnosis.add(trial: try trial(reader, context.cancellation))
        }
        if context.json {
            try context.print(DoctorView.json(diagnosis))
        } else {
            try context.print(DoctorView.text(diagnosis))
        }
        if let file { try write(Report(diagnosis: diagnosis, recording: recording), file, context) }
        if !diagnosis.isReady { throw DoctorView.failure(diagnosis) }
    }

    /// Records a scan, on the named reader or the first that is ready; another system's is not asked.
    ///
    /// - Returns: `nil` when there is none.
    private func record(_ context: Context) throws -> ReportRecording? {
        let id: String
        do throws(CommandError) {
            guard root == nil || reader != nil else { return nil }
            id = try ReaderSession.chosen(reader)
        } catch {
            return nil
        }
        return try ReportRecording(reader: id, commands: ["scan"] + (dump ? ["dump"] : []), timeout: timeout, context)
    }

    /// Reports what the file contains, asks, and writes it.
    private func write(_ report: Report, _ file: OutputFile, _ context: Context) throws(CommandError) {
        Output.message(report.summary)
        let path = self.report ?? ""
        if !yes { try Confirmation.ask(tr("Write it to \(path)?", "\(path) に書きますか？")) }
        try file.finish(report.text)
        context.note(
            tr(
                "wrote \(path); it is text, so look at it before you send it",
                "\(path) に書きました。テキストなので、送る前に内容を確認できます"))
    }

    private func check(_ recording: ReportRecording) -> Check {
        let id = recording.information.id
        guard let failure = recording.failure else { return Check(.answers, id, recording.information.name) }
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
