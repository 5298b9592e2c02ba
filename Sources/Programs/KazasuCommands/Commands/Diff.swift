// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu diff`
struct Diff: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: tr(
            "Show which blocks and bytes changed between two dumps, and what the changes mean.",
            "2 つのダンプの間で変わったブロックとバイト、その意味を表示する。"),
        discussion: tr(
            """
            If only new records were added to a history, they are shown alone, not as twenty moved blocks.

            Examples:
              kazasu dump -o before.json; kazasu dump -o after.json
              kazasu diff before.json after.json
              kazasu diff --exit-code before.json after.json || echo changed
            """,
            """
            履歴に記録が増えただけの場合は、ずれた全ブロックではなく、増えた記録を表示します。

            例:
              kazasu dump -o before.json; kazasu dump -o after.json
              kazasu diff before.json after.json
              kazasu diff --exit-code before.json after.json || echo 変化あり
            """))

    static let programAccess = CommandAccess.none(
        because: "it compares two dumps, and a request has one; decode gives each as a document")

    @Flag(
        reach: .never, name: .long, help: help("End with status 1 when the dumps differ.", "違いがあれば終了ステータス 1 で終わる。"))
    var exitCode = false

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var stationOptions: StationOptions

    @Argument(
        required: "", reach: .never, help: help("The older dump.", "古いほうのダンプ。", value: "old"), completion: .file())
    var old: String

    @Argument(
        required: "", reach: .never, help: help("The newer dump.", "新しいほうのダンプ。", value: "new"), completion: .file())
    var new: String

    func execute(_ context: Context) throws {
        let (before, after) = (try DumpFile.read(old), try DumpFile.read(new))
        if before.card.isOtherCard(than: after.card) {
            context.note(tr("these are dumps of two different cards", "2 つは別のカードのダンプです"))
        }
        let names = try stationOptions.names()
        // The files of a DESFire are compared as they are, and masked when they are shown.
        var (shownBefore, shownAfter) = (context.redaction.apply(before), context.redaction.apply(after))
        (shownBefore.desfire, shownAfter.desfire) = (before.desfire, after.desfire)
        let view = DiffView(
            diff: DumpDiff(shownBefore, shownAfter),
            old: Meanings(before, names), new: Meanings(after, names), redaction: context.redaction,
            dumps: (before, after))
        if context.json { try context.print(view.json) } else { try context.print(view.text) }
        if exitCode, !view.diff.isEmpty { throw CommandError.differs }
    }
}
