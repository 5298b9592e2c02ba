// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import CardReading
import NFCTransport

/// `kazasu dump`
struct Dump: KazasuCommand {
    static let configuration = CommandConfiguration(
        abstract: tr("Read every block that needs no key.", "鍵なしで読めるブロックをすべて読む。"),
        discussion: tr(
            """
            On standard output one block a line: SYSTEM SERVICE BLOCK HEX. With -o a JSON document that \
            'kazasu decode' reads. When the card leaves, what was read is written all the same, and --resume goes on \
            with it.

            Examples:
              kazasu dump | grep ' 090F '
              kazasu dump -o card.json
              kazasu dump --resume card.json -o card.json
            """,
            """
            標準出力では 1 行 1 ブロック（システム サービス ブロック 16進）。-o では 'kazasu decode' が読める JSON。
            途中でカードが離れても読めた分は書き出され、--resume で続きから読めます。

            例:
              kazasu dump | grep ' 090F '
              kazasu dump -o card.json
              kazasu dump --resume card.json -o card.json
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var readerOptions: ReaderOptions

    @Option(name: .shortAndLong, help: help("Write to a file.", "ファイルに書く。", value: "file"))
    var output: String?

    @Option(name: .long, help: help("Only these systems.", "このシステムだけ。", value: "codes"))
    var system: SystemCodeList?

    @Option(name: .long, help: help("Only these services.", "このサービスだけ。", value: "codes"))
    var service: ServiceCodeList?

    @Option(
        name: .long,
        help: help(
            "The format; default: json with -o or --json, else hex.",
            "形式。省略時は -o か --json なら json、それ以外は hex。", value: "format"))
    var format: DumpFormatName?

    @Option(
        name: .long,
        help: help("Go on with an incomplete dump of the same card.", "同じカードの途中までのダンプの続きを読む。", value: "file"))
    var resume: String?

    @Option(name: .long, help: help("Between the bytes of a block.", "バイトの間の区切り。"))
    var hexSeparator = HexSeparator.none

    func execute(_ context: Context) throws {
        let earlier = try resume.map { try DumpFile.readOwn($0) }
        let file = try output.map { path throws(Failure) in try OutputFile(path) }
        let session = try ReaderSession(readerOptions, context)
        let outcome = try closing(session) { session in
            let (target, _) = try session.find(system?.codes ?? [.any])
            let card = session.card(target)
            if let earlier, let resume, !CardDumper.isSameCard(earlier, card) {
                throw Failure(
                    .otherCard, "otherCard", tr("this is not the card of \(resume)", "\(resume) のカードではありません"),
                    hint: tr("put the same card on the reader", "同じカードをかざしてください"))
            }
            let progress = ProgressLine(context)
            defer { progress.end() }
            var outcome = CardDumper(
                session: card, selection: DumpSelection(systems: system?.codes, services: service?.codes),
                resuming: earlier, progress: progress.show
            ).dump()
            outcome.dump.tool = "kazasu \(Kazasu.version)"
            outcome.dump.readAt = Clock.localTime()
            outcome.dump.reader = session.reader.information.id
            return outcome
        }
        do throws(Failure) {
            let text = try text(outcome.dump, context)
            if let file { try file.finish(text) } else { try context.print(text) }
        } catch {
            throw KeptDump(dump: outcome.dump, output: output).kept(after: error, context)
        }
        if let interruption = outcome.interruption {
            var failure = Failure(interruption, keepingWhatWasRead: true)
            if let output, output != "-" {
                failure.hint = tr(
                    "go on with: kazasu dump --resume \(output) -o \(output)",
                    "続き: kazasu dump --resume \(output) -o \(output)")
            }
            throw failure
        }
    }

    private func text(_ dump: CardDump, _ context: Context) throws(Failure) -> String {
        let format = format ?? (output != nil || context.json ? .json : .hex)
        if format == .hex { return DumpView(dump: context.redaction.apply(dump), separator: hexSeparator).text }
        return try format.text(dump, context.redaction, option: "format")
    }
}
