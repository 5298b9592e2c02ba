// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu simulate`
struct Simulate: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: tr(
            "Simulate a PN532 reader with a card on it, for any program that uses libnfc or a PN532.",
            "カードを載せた PN532 として動く（libnfc や PN532 を使うどのプログラムからも使える）。"),
        discussion: tr(
            """
            Prints the connection string and runs until it is interrupted.

            Examples:
              kazasu simulate card.json --link /tmp/pn532
              LIBNFC_DEVICE=pn532_uart:/tmp/pn532 nfc-list
            """,
            """
            接続文字列を表示し、中断されるまで動きます。

            例:
              kazasu simulate card.json --link /tmp/pn532
              LIBNFC_DEVICE=pn532_uart:/tmp/pn532 nfc-list
            """))

    static let programAccess = CommandAccess.none(
        because: "it runs until stopped; readers named virtual:FILE are the same for a program")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(
        required: "", reach: .never, help: help("A dump or a virtual card file.", "ダンプ、または仮想カードのファイル。", value: "file"),
        completion: .file())
    var file: String

    @Option(
        reach: .never, name: .long,
        help: help("A link to the pseudo-terminal, removed at the end.", "疑似端末へのリンク（終了時に消す）。", value: "path"),
        completion: .file())
    var link: String?

    @Flag(
        reach: .never, name: .long,
        help: help("Simulate realistic timing (card, RF, serial line).", "カード・無線・シリアル回線の所要時間を再現する。"))
    var timing = false

    @Option(
        reach: .never, name: .long,
        help: help("Write statistics as JSON at the end.", "終了時に統計を JSON で書く。", value: "file"),
        completion: .file())
    var stats: String?

    func execute(_ context: Context) throws {
        let bytes = try DumpFile.cardFile(file)
        let statistics = try stats.map { path throws(CommandError) in try OutputFile(path) }
        // Runs until it is stopped, so that is not a failure.
        Interrupt.hold()
        let chip = try SimulatedChip(file, bytes, hasTiming: timing, link: link)
        let done = Latch()
        context.cancellation.onCancel { done.open() }
        do {
            if context.json {
                try Output.write(
                    JSONValue.object(
                        JSONObject([
                            ("schema", "kazasu.simulate/1"), ("connectionString", .string(chip.connectionString)),
                        ])
                    ).compactText + "\n")
            } else {
                try context.print(chip.connectionString + "\n")
            }
            context.note(tr("running; press Ctrl-C to stop", "動作中です。Ctrl-C で終了します"))
            done.wait()
        } catch {
            chip.stop()
            throw error
        }
        chip.stop()
        try statistics?.finish(chip.statistics.prettyText + "\n")
    }
}
