// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import Glibc
import NFCTransport
import PCSCReader
import ReaderDiagnosis

/// `kazasu doctor`
struct DoctorCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: tr("Find out why a reader does not work, and what mends it.", "リーダーが使えない原因と直し方を調べる。"),
        discussion: tr(
            """
            Looks at each layer in turn: USB, driver, permission, kernel driver, other programs, firmware, libnfc's files and \
            the environment, serial ports, containers. Nothing is changed, and no reader is opened but the one that --reader \
            names. The exit status is 0 when a reader can be used, else 69.

            Examples:
              kazasu doctor
              sudo kazasu doctor --fix
              kazasu doctor --reader pn532_uart:/dev/ttyUSB0
            """,
            """
            USB、ドライバー、権限、カーネルのドライバー、他のプログラム、ファームウェア、libnfc の設定と環境変数、シリアルポート、
            コンテナを順に調べます。何も変更せず、--reader で指定したもの以外は開きません。
            使えるリーダーがあれば終了ステータスは 0、なければ 69 です。

            例:
              kazasu doctor
              sudo kazasu doctor --fix
              kazasu doctor --reader pn532_uart:/dev/ttyUSB0
            """))

    @Option(
        name: [.short, .long],
        help: help("Also open this reader and ask it who it is.", "このリーダーを開いて確かめる。", value: "id"))
    var reader: String?

    @Flag(
        name: .long,
        help: help(
            "Install the udev rules that let users open readers, after asking.", "確認のうえ、udev ルールを入れる。"))
    var fix = false

    @Flag(name: .long, help: help("With --fix: do not ask.", "--fix で確認を省く。"))
    var yes = false

    @Option(
        name: .long,
        help: help(
            "Examine the system whose files lie in this folder, without its environment.",
            "このフォルダーにあるシステムのファイルを調べる（環境変数は見ない）。", value: "folder"))
    var root: String?

    @OptionGroup var common: CommonOptions

    func execute(_ context: Context) throws {
        if fix { try UdevInstallation(root: root ?? "").run(withoutAsking: yes, context) }
        var diagnosis = ReaderDiagnosis.Doctor(machine).examine()
        diagnosis.system += served(diagnosis)
        if let reader { diagnosis.system.append(trial(reader, context.cancellation)) }
        if context.json {
            try context.print(DoctorView.json(diagnosis))
        } else {
            try context.print(DoctorView.text(diagnosis))
        }
        if !diagnosis.isReady { throw DoctorView.failure(diagnosis) }
    }

    private var machine: Machine {
        Machine(root: root ?? "", environment: root == nil ? SystemEnvironment.all : [:])
    }

    /// What pcscd has, when a reader is there that needs it, or that it holds; another system's is not asked.
    private func served(_ diagnosis: Diagnosis) -> [Check] {
        guard root == nil, diagnosis.checks.contains(where: { [.serviceThere, .heldByPcscd].contains($0.code) }) else {
            return []
        }
        return PCSCDriver().list().filter { $0.state == .ready }.map { Check(.serviceHasReader, $0.id) }
    }

    private func trial(_ id: String, _ cancellation: CancellationToken) -> Check {
        Interrupt.hold()
        defer { Interrupt.release() }
        do throws(TransportError) {
            guard let opened = try ReaderDrivers.open(id, cancellation: cancellation) else {
                return Check(
                    .answersNot,
                    [
                        LocalizedText(id, id), LocalizedText("no driver knows this ID", "この ID のドライバーがありません"),
                        LocalizedText("'kazasu readers' prints the IDs", "'kazasu readers' で ID を確認できます"),
                    ])
            }
            defer { opened.close() }
            return Check(.answers, id, opened.information.name)
        } catch {
            let failure = Failure.opening(id, error)
            let (message, hint) = (failure.message, failure.hint ?? "kazasu readers")
            // Both are in the language of this run.
            return Check(.answersNot, id, message, hint)
        }
    }
}
