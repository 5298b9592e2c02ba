// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu readers`
struct Readers: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "readers",
        abstract: tr("List connected readers, usable or not.", "接続中のリーダーを、使えるかどうかとともに表示する。"),
        discussion: tr(
            """
            The first column is the ID for --reader. No reader at hand? --reader virtual:FILE uses a card from a file.

            With --watch, prints a line each time a reader is connected or disconnected, until Ctrl-C.

            Examples:
              kazasu readers
              kazasu readers --json
              kazasu readers --watch --json | while read -r event; do echo "$event"; done
            """,
            """
            最初の列が --reader に渡す ID です。リーダーがなくても --reader virtual:ファイル で試せます。

            --watch を付けると、リーダーの抜き差しを 1 件 1 行で、Ctrl-C まで表示し続けます。

            例:
              kazasu readers
              kazasu readers --json
              kazasu readers --watch --json | while read -r event; do echo "$event"; done
            """))

    static let programAccess = CommandAccess.method(
        .plain(
            "readers.list", .get("readers"), schema: "readers",
            LocalizedText("All connected readers, usable or not.", "接続中のリーダー。使えないものも含む。")))

    @Flag(
        reach: .never, name: .long,
        help: help("Keep running and report connected and disconnected readers.", "終了せず、リーダーの抜き差しを表示し続ける。"))
    var watch = false

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    func execute(_ context: Context) throws {
        if watch { return try ReaderEvents(context).run() }
        let fault = ChipCardServiceError.now()
        let readers = ListedReader.all(without: fault)
        if context.json {
            try context.print([
                "schema": "kazasu.readers/1", "readers": .array(readers.map { .object($0.json) }),
                "pcsc": Readers.json(fault),
            ])
            return
        }
        if readers.isEmpty {
            context.note(
                tr(
                    "no reader is connected; --reader virtual:FILE works without one",
                    "リーダーは接続されていません。--reader virtual:ファイル ならリーダーなしで試せます"))
        }
        if let fault, !readers.contains(where: { $0.state == .ready }) {
            context.note(
                tr("no PC/SC readers: \(fault.message)", "PC/SC のリーダーはありません: \(fault.message)")
                    + (fault.remedy.map { tr("; to fix it: ", "。直すには: ") + $0 } ?? ""))
        }
        let rows = readers.map(\.cells)
        try context.print(Columns.text(rows) + Readers.hints(readers))
    }

    /// Whether pcscd can be asked, and the fix.
    private static func json(_ fault: ChipCardServiceError?) -> JSONValue {
        guard let fault else { return ["state": "ready"] }
        return [
            "state": "unavailable", "reason": .string(fault.reason.rawValue), "detail": .string(fault.message),
            "hint": .text(fault.remedy),
        ]
    }

    /// The fixes for the readers that cannot be used, each once.
    private static func hints(_ readers: [ListedReader]) -> String {
        var told: Set<String> = []
        return readers.compactMap { reader in
            guard let hint = reader.hint, told.insert(hint).inserted else { return nil }
            return Output.paragraph(tr("  hint:", "  ヒント:"), hint, width: Output.lineWidth)
        }.joined()
    }
}
