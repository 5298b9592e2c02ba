// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI

/// The output of `kazasu doctor`.
enum DoctorView {
    /// The document `kazasu.doctor/1`.
    static func json(_ diagnosis: Diagnosis) -> JSONValue {
        [
            "schema": "kazasu.doctor/1", "ready": .bool(diagnosis.isReady),
            "readers": .array(diagnosis.readers.map(json)), "checks": .array(diagnosis.system.map(json)),
        ]
    }

    /// The same for display: each reader with its layers, then the system.
    static func text(_ diagnosis: Diagnosis) -> String {
        let readers = diagnosis.readers.map { reader in
            let state = reader.isReady ? tr("ready", "使用可") : tr("cannot be used", "使用不可")
            let title = [reader.model.name, reader.id ?? "", state].filter { !$0.isEmpty }
            return title.joined(separator: "  ") + "\n" + text(reader.checks)
        }
        return (readers + [tr("System", "システム") + "\n" + text(diagnosis.system)]).joined(separator: "\n")
    }

    /// The error behind exit status 69.
    static func failure(_ diagnosis: Diagnosis) -> CommandError {
        let fault = diagnosis.checks.first { $0.verdict == .fault }
        let reason =
            switch fault?.layer {
            case .permission: "permission"
            case .process: "busy"
            case .model: "unsupported"
            case .service where fault?.code == .serviceClosed || fault?.code == .serviceRefuses: "permission"
            default: "absent"
            }
        return CommandError(
            .noReader, reason, tr("no reader can be used", "使えるリーダーがありません"),
            hint: fault?.hint)
    }

    private static func json(_ reader: ReaderReport) -> JSONValue {
        [
            "id": .text(reader.id), "name": .string(reader.model.name),
            "vendorId": .string(Hex.encode(reader.device.vendor, digits: 4, uppercase: false)),
            "productId": .string(Hex.encode(reader.device.product, digits: 4, uppercase: false)),
            "port": .string(reader.device.portPath), "ready": .bool(reader.isReady),
            "checks": .array(reader.checks.map(json)),
        ]
    }

    private static func json(_ check: Check) -> JSONValue {
        [
            "layer": .string(check.layer.rawValue), "verdict": .string(check.verdict.rawValue),
            "code": .string(check.code.rawValue), "message": .string(check.message[Language.current]),
            "hint": .text(check.hint),
        ]
    }

    private static func text(_ checks: [Check]) -> String {
        let heads = checks.map { ["  " + word($0.layer), word($0.verdict), ""] }
        // On a terminal, what is found and what to do are broken between words.
        let room = Output.lineWidth.map { max($0 - Columns.width(heads), 20) } ?? .max
        let rows = zip(heads, checks).flatMap { head, check in
            let found = LineBreaker.lines(VisibleText.line(check.message[Language.current]), width: room)
            let remedy = check.hint.map { LineBreaker.lines(VisibleText.line($0), width: room - 2) }
            let lines = found + (remedy ?? []).enumerated().map { ($0 == 0 ? "→ " : "  ") + $1 }
            return lines.enumerated().map { $0 == 0 ? [head[0], head[1], $1] : ["", "", $1] }
        }
        return Columns.text(rows) { column, cell in
            column == 1 && Color.isOnOutput ? DoctorView.colors[cell] : nil
        }
    }

    /// The colors of the words for verdicts.
    private static let colors: [String: Color] = [
        word(Check.Verdict.ok): .green, word(.warning): .yellow, word(.fault): .red,
    ]

    private static func word(_ verdict: Check.Verdict) -> String {
        switch verdict {
        case .ok: tr("ok", "良好")
        case .note: tr("note", "参考")
        case .warning: tr("warning", "注意")
        case .fault: tr("FAULT", "障害")
        }
    }

    private static func word(_ layer: Check.Layer) -> String {
        switch layer {
        case .bus: "USB"
        case .model: tr("driver", "ドライバー")
        case .permission: tr("permission", "権限")
        case .kernelDriver: tr("kernel driver", "カーネル")
        case .process: tr("other programs", "他のプログラム")
        case .service: "PC/SC"
        case .firmware: tr("firmware", "ファームウェア")
        case .configuration: tr("configuration", "設定")
        case .serialPort: tr("serial port", "シリアル")
        case .host: tr("system", "環境")
        case .reader: tr("test", "動作")
        }
    }
}
