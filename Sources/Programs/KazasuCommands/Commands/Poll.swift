// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu poll`
struct Poll: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: tr("Show which card is on the reader.", "リーダーにあるカードの種類を表示する。"),
        discussion: tr(
            """
            Looks for FeliCa, Type A and Type B cards. With --system, for FeliCa only:
            the codes are polled in that order and the first that answers wins. \
            Only the commands that select a card are sent, unless --applications is given; a phone is asked for its model.

            Examples:
              kazasu poll
              kazasu poll --system 0003,FE00 --json
              kazasu poll --technology a,b --applications
              kazasu poll --timeout 0; [ $? = 75 ] && echo "no card"
            """,
            """
            FeliCa、Type A、Type B をまとめて探します。--system を付けると FeliCa だけを
            その順にポーリングし、最初に応答したものを表示します。
            --applications を付けない限り、カードの選択に必要なコマンドしか送りません（スマートフォンには機種も尋ねます）。

            例:
              kazasu poll
              kazasu poll --system 0003,FE00 --json
              kazasu poll --technology a,b --applications
              kazasu poll --timeout 0; [ $? = 75 ] && echo "カードなし"
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.poll", .get("poll"), schema: "poll",
            LocalizedText("The card on the reader: what it is, and its number.", "リーダー上のカードの種類と番号。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        reach: .network, name: .long,
        help: help(
            "FeliCa only: system codes in the order to try them; FFFF for any.",
            "FeliCa のみ: システムコードを試す順に。FFFF はすべて。", value: "codes"))
    var system: SystemCodeList?

    @Option(
        reach: .network, name: .long,
        help: help(
            "Which kinds of card, in the order to look for them: f FeliCa, a Type A, b Type B.",
            "種類と順: f FeliCa、a Type A、b Type B。", value: "kinds"))
    var technology = TechnologyList.usual

    @Flag(
        reach: .network, name: .long,
        help: help(
            "Also select known applications to identify a card of type A or B; no file is read.",
            "Type A/B のカードで既知のアプリケーションを SELECT し、種類を調べる（ファイルは読まない）。"))
    var applications = false

    func validate() throws {
        guard system != nil else { return }
        let option: String? =
            if applications {
                "applications"
            } else if ![.usual, TechnologyList(technologies: [.felica])].contains(technology) {
                "technology"
            } else {
                nil
            }
        guard let option = option.map({ Caller.current.option($0) }) else { return }
        let system = Caller.current.option("system")
        throw ValidationError(tr("\(option) cannot be used with \(system)", "\(option) と \(system) は同時に指定できません"))
    }

    func execute(_ context: Context) throws {
        let session = try ReaderSession(readerOptions, context)
        let cards = try closing(session) { session in
            if let system {
                let card = try session.find(.feliCa(systems: system.codes))
                return [PolledCard(card, asked: card.found.system == .any ? nil : card.found.system)]
            }
            return try session.findAll(CardQuery(.any, .each(technology.technologies))).map { card in
                try PolledCard(card, askingApplications: applications)
            }
        }
        if context.json {
            var document = JSONObject([("schema", "kazasu.poll/1")])
            let members = cards.map { $0.json(context.redaction) }
            // The first one also appears on its own, for compatibility.
            if let first = members.first { document.merge(first) }
            document["cards"] = .array(members.map { .object($0) })
            try context.print(.object(document))
        } else {
            try context.print(cards.map { Columns.values($0.rows(context.redaction)) }.joined(separator: "\n"))
            if !applications, cards.contains(where: { $0.card.isISODEP && $0.kinds.isEmpty }) {
                context.note(
                    tr(
                        "--applications identifies an ISO-DEP card by its applications",
                        "ISO-DEP のカードの種類は --applications でアプリケーションを調べると分かります"))
            }
            guard cards.count > 1 else { return }
            context.note(
                Set(cards.map(\.card.technology)).count == 1
                    ? tr(
                        "\(cards.count) FeliCa cards are on the reader: other commands need one alone",
                        "FeliCa カードが \(cards.count) 枚あります。他のコマンドではカードを 1 枚だけ置いてください")
                    : tr(
                        "several kinds of card answered: either one device, such as a phone, or several cards",
                        "複数の種類のカードが応答しました。スマートフォンなど 1 台で兼ねるものか、カードが複数あります"))
        }
    }
}
