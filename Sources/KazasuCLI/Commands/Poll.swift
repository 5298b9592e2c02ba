// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import NFCTransport

/// `kazasu poll`
struct Poll: KazasuCommand {
    static let configuration = CommandConfiguration(
        abstract: tr("Say which card is there.", "どのカードがあるかを表示する。"),
        discussion: tr(
            """
            With several system codes, they are polled in that order and the first that answers wins.

            Examples:
              kazasu poll
              kazasu poll --system 0003,FE00 --json
              kazasu poll --timeout 0 || echo "no card"
            """,
            """
            システムコードを並べると、その順にポーリングし、最初に応答したものを表示します。

            例:
              kazasu poll
              kazasu poll --system 0003,FE00 --json
              kazasu poll --timeout 0 || echo "カードなし"
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var readerOptions: ReaderOptions

    @Option(
        name: .long,
        help: help("System codes in the order to try them; FFFF for any.", "試す順のシステムコード。FFFF は任意。", value: "codes"))
    var system = SystemCodeList(.any)

    func execute(_ context: Context) throws {
        let session = try ReaderSession(readerOptions, context)
        let (target, asked) = try closing(session) { try $0.find(system.codes) }
        let code = target.requestData.map { SystemCode(rawValue: $0) } ?? (asked == .any ? nil : asked)
        let idm = context.redaction.apply(target.idm)
        if context.json {
            var card = CardIdentity(
                technology: .felica, idm: idm, pmm: target.pmm, bitRate: target.bitRate.rawValue
            ).json
            CardNames.addIC(target.pmm, to: &card)
            try context.print([
                "schema": "kazasu.poll/1", "card": card,
                "system": [
                    "systemCode": .text(code?.description), "name": .text(code.flatMap { CardNames.name(system: $0) }),
                ],
            ])
        } else {
            var rows = [
                (tr("Card", "カード"), "FeliCa, \(target.bitRate.rawValue) kbit/s"),
                ("IDm", idm.description.uppercased()), ("PMm", target.pmm.description.uppercased()),
                ("IC", CardNames.describe(ic: target.pmm)),
            ]
            if let code { rows.append((tr("System", "システム"), CardNames.describe(system: code))) }
            try context.print(Columns.text(rows.map { [$0.0, $0.1] }))
        }
    }
}
