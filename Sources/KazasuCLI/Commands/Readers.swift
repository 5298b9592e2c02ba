// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import NFCTransport
import ReaderDiagnosis

/// `kazasu readers`
struct Readers: KazasuCommand {
    static let configuration = CommandConfiguration(
        abstract: tr("List the readers that are plugged in, usable or not.", "接続中のリーダーを、使えるかどうかとともに表示する。"),
        discussion: tr(
            """
            The first column is what --reader takes. No reader at hand? --reader virtual:FILE plays a card from a file.

            Examples:
              kazasu readers
              kazasu readers --json
            """,
            """
            最初の列が --reader に渡す ID です。リーダーがなくても --reader virtual:ファイル で試せます。

            例:
              kazasu readers
              kazasu readers --json
            """))

    @OptionGroup var common: CommonOptions

    func execute(_ context: Context) throws {
        let fault = ChipCardServiceFault.now()
        let readers = ListedReader.all(without: fault)
        if context.json {
            try context.print([
                "schema": "kazasu.readers/1", "readers": .array(readers.map(Readers.json)),
                "pcsc": Readers.json(fault),
            ])
            return
        }
        if readers.isEmpty {
            context.note(
                tr(
                    "no reader is plugged in; --reader virtual:FILE needs none",
                    "リーダーは接続されていません。--reader virtual:ファイル ならリーダーなしで試せます"))
        }
        if let fault, !readers.contains(where: { $0.state == .ready }) {
            context.note(
                tr("no reader comes from PC/SC: \(fault.message)", "PC/SC のリーダーはありません: \(fault.message)")
                    + (fault.remedy.map { tr("; to mend it: ", "。直すには: ") + $0 } ?? ""))
        }
        let rows = readers.map { reader in
            [reader.id ?? "-", Readers.word(reader.state), reader.name ?? "", Readers.detail(reader)]
        }
        try context.print(Columns.text(rows) + Readers.hints(readers))
    }

    private static func json(_ reader: ListedReader) -> JSONValue {
        var object = JSONObject([("id", .text(reader.id)), ("name", .text(reader.name))])
        switch reader.state {
        case .ready: object["state"] = "ready"
        case .unknown: object["state"] = "unknown"
        case .unavailable(let reason, let detail):
            object["state"] = "unavailable"
            object["reason"] = .string(reason.rawValue)
            object["detail"] = .string(detail)
            object["hint"] = .text(reader.hint)
        }
        return .object(object)
    }

    /// Whether pcscd can be asked, and what mends it.
    private static func json(_ fault: ChipCardServiceFault?) -> JSONValue {
        guard let fault else { return ["state": "ready"] }
        return [
            "state": "unavailable", "reason": .string(fault.reason.rawValue), "detail": .string(fault.message),
            "hint": .text(fault.remedy),
        ]
    }

    private static func word(_ state: ReaderListing.State) -> String {
        switch state {
        case .ready: tr("ready", "使用可")
        case .unknown: tr("not tried", "未確認")
        case .unavailable(let reason, _):
            switch reason {
            case .absent: tr("absent", "なし")
            case .busy: tr("busy", "使用中")
            case .permission: tr("no permission", "権限なし")
            case .unsupported: tr("unsupported", "未対応")
            }
        }
    }

    private static func detail(_ reader: ListedReader) -> String {
        switch reader.state {
        case .ready: ""
        case .unknown where reader.isConfigured: tr("configured in libnfc", "libnfc に設定済み")
        case .unknown: tr("a serial port; a PN532 may be behind it", "シリアルポート（PN532 の可能性あり）")
        case .unavailable(_, let detail): Phrasebook.translated(detail)
        }
    }

    /// What mends those that cannot be used, each way once.
    private static func hints(_ readers: [ListedReader]) -> String {
        var told: Set<String> = []
        return readers.compactMap { reader in
            guard let hint = reader.hint, told.insert(hint).inserted else { return nil }
            return tr("  hint: ", "  ヒント: ") + hint + "\n"
        }.joined()
    }
}
