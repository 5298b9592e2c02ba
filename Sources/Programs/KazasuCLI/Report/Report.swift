// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu

/// The file of `kazasu doctor --report`, a transcript that `replay:` plays. It contains the findings on the machine,
/// the frames between computer and reader, and the outcome of each recorded command.
struct Report {
    let diagnosis: Diagnosis
    /// `nil` when there is no reader.
    let recording: ReportRecording?
    private let versions = Report.foundVersions()

    /// The whole file.
    var text: String {
        let reader = recording?.information ?? ReaderInformation(id: "", name: "")
        let finding = Transcript.Remark.Content.report([
            "schema": "kazasu.report/1", "tool": .string("kazasu \(RootCommand.version)"),
            "recordedAt": .string(Timestamp.now.text(.local, .seconds)),
            "versions": .object(JSONObject(versions.map { ($0.name, .text($0.version)) })),
            "doctor": ReportScrub.value(DoctorView.json(diagnosis)),
            "readerError": ReportScrub.value(recording?.failure?.json ?? .null), "redacted": true,
        ])
        let lines = [Transcript.header(reader), finding.line] + (recording?.lines ?? [])
        return lines.map { $0 + "\n" }.joined()
    }

    /// The contents of the file, for display, before it is written.
    var summary: String {
        var rows = [
            [
                tr("Findings", "診断"),
                tr(
                    "\(diagnosis.checks.count) from \(Caller.commandLine.command("doctor"))",
                    "\(diagnosis.checks.count) 件"),
            ],
            [
                tr("Versions", "バージョン"),
                versions.map { "\($0.name) \($0.version ?? tr("none", "なし"))" }.joined(separator: ", "),
            ],
            [tr("Reader", "リーダー"), reader],
        ]
        rows += (recording?.runs ?? []).map { run in
            let end =
                run.reason.map { tr("status \(run.status.rawValue), \($0)", "ステータス \(run.status.rawValue)、\($0)") }
                ?? tr("status 0", "ステータス 0")
            return [
                run.command,
                tr(
                    "\(end); \(run.exchanges) exchanges with the card, \(run.frames) frames between computer and reader",
                    "\(end)。カードとのやりとり \(run.exchanges) 回、リーダーとの通信フレーム \(run.frames) 個"),
            ]
        }
        rows.append([
            tr("Masked", "伏せるもの"),
            tr(
                "IDm, UID and PUPI, blocks and files with names and numbers, serial numbers of readers, the home folder",
                "IDm・UID・PUPI、氏名や番号のブロックとファイル、リーダーの製造番号、ホームフォルダー"),
        ])
        rows.append(
            recording?.runs.contains { $0.command == "dump" } == true
                ? [
                    tr("Not masked", "伏せないもの"),
                    tr(
                        "journeys, payments and balances: days, times, stations and amounts",
                        "乗車・支払いの履歴と残高（日付、時刻、駅、金額）"),
                ]
                : [
                    tr("Not included", "含まないもの"),
                    tr("the card's blocks (--dump adds them)", "カードの中身（--dump で追加）"),
                ])
        return tr("The report contains:", "レポートの内容:") + "\n" + Columns.text(rows.map { ["  " + $0[0], $0[1]] })
    }

    private var reader: String {
        guard let recording else { return tr("none can be used", "使えるものがありません") }
        let name = [recording.information.id, recording.information.name].filter { !$0.isEmpty }
        return (name + (recording.failure.map { [$0.message] } ?? [])).joined(separator: "  ")
    }

    // MARK: Versions

    private static func foundVersions() -> [(name: String, version: String?)] {
        let kernel = MachineVersions.kernel
        return [
            ("kazasu", RootCommand.version)
        ] + ReaderRegistry.libraryVersions.map { ($0.name, $0.version) } + [
            ("pcscd", MachineVersions.pcscd),
            ("kernel", [kernel.name, kernel.release, kernel.machine].joined(separator: " ")),
            ("system", MachineVersions.distribution("PRETTY_NAME")),
        ]
    }
}

/// Removes identifying data of a user's machine: serial numbers of readers, and the path of the home folder.
enum ReportScrub {
    /// A document with every text in it scrubbed.
    static func value(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(ReportScrub.text(text))
        case .array(let elements): .array(elements.map(ReportScrub.value))
        case .object(let object): .object(JSONObject(object.members.map { ($0.key, ReportScrub.value($0.value)) }))
        case .null, .bool, .integer, .number: value
        }
    }

    /// A text without serial numbers, and with `~` for the home folder; for a virtual card only the name of its file.
    static func text(_ text: String) -> String {
        var text = text
        if text.hasPrefix(VirtualDriver.prefix), let name = text.split(separator: "/").last, text.contains("/") {
            text = VirtualDriver.prefix + name
        }
        if let home = getenv("HOME").map({ String(cString: $0) }), home.utf8.count > 1 {
            text = text.replacing(home, with: "~")
        }
        text = text.replacing(/serial=[^\s,;:)]+/, with: "serial=*")
        // pcscd appends the serial number of a reader to its name, in parentheses.
        return text.replacing(/\((?=[0-9A-Fa-f]*[0-9])[0-9A-Fa-f]{4,}\)/, with: "(*)")
    }
}
