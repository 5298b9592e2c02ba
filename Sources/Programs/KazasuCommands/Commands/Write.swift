// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu write`
struct Write: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: tr("Write blocks of a FeliCa service.", "FeliCa のサービスのブロックに書き込む。"),
        discussion: tr(
            """
            Shows each block as it is and as it will be, and asks; --yes skips the question, and --dry-run stops there. \
            Several HEX are blocks in a row, written with one command: all or none. In a cyclic service, BLOCK is 0, and they become \
            its newest entry. --decrement and --cashback change a purse.

            What was written is read back. If the card's answer is lost, the block is read: done is done, and what was not \
            done is sent once more. A purse is changed once or not at all. If the card leaves too early to tell, status 74 \
            says so (unconfirmed). A service with a key requires --keys; see \(Documents.path("felica-keys.md")).

            Examples:
              kazasu write 1408 1 00112233445566778899AABBCCDDEEFF --keys own.txt --dry-run
              kazasu write 1408 1 00112233445566778899AABBCCDDEEFF --keys own.txt
            """,
            """
            ブロックの現在の内容と書き込み後の内容を示し、確認してから書きます（--yes で確認を省略、--dry-run で表示のみ）。
            HEX を並べると、続くブロックを 1 回のコマンドでまとめて書きます（すべて書くか、何も書かないか）。サイクリックサービスでは
            BLOCK は 0 で、最新の記録になります。--decrement と --cashback はパースの残高を変えます。

            書いた内容は読み返して照合します。応答が届かなければブロックを読んで確かめ、書けていないときだけもう一度送ります。
            パースの増減は 1 回だけ行われるか、まったく行われないかのどちらかです。確かめる前にカードが離れたときは、ステータス 74 \
            （unconfirmed）で終わります。鍵の必要なサービスには --keys を指定します（\(Documents.path("felica-keys.ja.md"))）。

            例:
              kazasu write 1408 1 00112233445566778899AABBCCDDEEFF --keys own.txt --dry-run
              kazasu write 1408 1 00112233445566778899AABBCCDDEEFF --keys own.txt
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.write", .post("write"), needs: .write, argument: "service", schema: "write",
            LocalizedText(
                "Writes blocks of a FeliCa service, or changes a purse; all or none, and read back.",
                "FeliCa のサービスのブロックに書き込むか、パースを増減する。すべて書くか何も書かず、読み返して照合する。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(
        required: ServiceCode(rawValue: 0), reach: .network,
        help: help("The service code, as in 1408.", "サービスコード（1408 など）。"))
    var service: ServiceCode

    @Argument(
        required: 0, reach: .network, help: help("The number of the block, or of the first one.", "ブロック番号（複数のときは先頭）。"))
    var block: Int

    @Argument(
        reach: .network,
        help: help("Sixteen bytes in hexadecimal for each block.", "1 ブロックにつき 16 バイトの 16 進。", value: "hex"))
    var hex: [String] = []

    @Option(
        reach: .network, name: .long,
        help: help("Take this amount from a purse.", "パースから減算する額。", value: "amount"))
    var decrement: Int?

    @Option(
        reach: .network, name: .long,
        help: help("Give a purse this much back, at most what was taken last.", "パースに戻す額（直前の減算額まで）。", value: "amount"))
    var cashback: Int?

    @Option(
        reach: .network, name: .long,
        help: help("System code; default: the first that answers.", "システムコード。省略時は最初に応答したもの。", value: "code"))
    var system: SystemCode?

    @OptionGroup var keyOptions: OwnerKeyOptions

    @Flag(reach: .network, name: .long, help: help("Show what would change, and write nothing.", "変更内容を表示し、何も書き込まない。"))
    var dryRun = false

    @Flag(
        reach: .local, name: [.short, .long],
        help: help(
            "Do not ask before writing.", "書き込みの確認をしない。",
            programs: LocalizedText(
                "Write to any card, without a number in confirm.", "confirm の番号がなくても、置かれているカードに書き込む。")))
    var yes = false

    func validate() throws { _ = try write() }

    /// What to write.
    private func write() throws(ValidationError) -> BlockWrite {
        guard let number = UInt16(exactly: block) else {
            throw ValidationError(tr("BLOCK is 0 to 65535", "BLOCK は 0～65535 です"))
        }
        let (decrement, cashback) = (try amount(decrement, "decrement"), try amount(cashback, "cashback"))
        let ways = [hex.isEmpty ? nil : true, decrement.map { _ in true }, cashback.map { _ in true }]
        guard ways.compactMap({ $0 }).count == 1 else {
            let caller = Caller.current
            let (less, back) = (caller.option("decrement"), caller.option("cashback"))
            throw ValidationError(
                tr(
                    "give what to write: hexadecimal data, \(less) or \(back)",
                    "書き込む内容を 16 進のデータ、\(less)、\(back) のどれか 1 つで指定してください"))
        }
        if let decrement { return BlockWrite(service, block: number, .decrement(decrement)) }
        if let cashback { return BlockWrite(service, block: number, .cashback(cashback)) }
        let blocks = hex.compactMap { (try? Hex.decode($0)).flatMap { Block($0) } }
        guard blocks.count == hex.count else {
            throw ValidationError(
                tr("give sixteen bytes in hexadecimal for each block", "1 ブロックにつき 16 バイトを 16 進で指定してください"))
        }
        return BlockWrite(service, block: number, .blocks(blocks))
    }

    private func amount(_ value: Int?, _ name: String) throws(ValidationError) -> UInt32? {
        guard let value else { return nil }
        guard let amount = UInt32(exactly: value), amount > 0 else {
            let option = Caller.current.option(name)
            throw ValidationError(tr("\(option) is at least 1", "\(option) は 1 以上です"))
        }
        return amount
    }

    func execute(_ context: Context) throws {
        let write = try write()
        let keyring = try keyOptions.keyring(context)
        let session = try ReaderSession(readerOptions, context)
        let (card, planned, isWritten) = try closing(session) { session in
            let card = try session.find(systems: system.map { [$0] })
            try CommandHost.current?.check(card.identity, numberFrom: "poll")
            defer { card.noteAuthentication(context) }
            let standard = try card.standard(keyring ?? StandardKeyring(StandardKeys()))
            let planned = try standard.plan(write)
            guard !dryRun else { return (card.identity, planned, false) }
            if !planned.isDone { try confirm(WriteView(planned, card.identity, context.redaction)) }
            return (card.identity, planned, try standard.write(planned))
        }
        let view = WriteView(planned, card, context.redaction)
        if context.json {
            try context.print(
                "kazasu.write/1", card: context.redaction.apply(card).json,
                JSONObject(view.members + [("written", .bool(isWritten)), ("verified", .bool(!dryRun))]), else: "")
        } else if dryRun {
            try context.print(view.lines)
        } else if isWritten {
            context.note(tr("written and read back", "書き込み、照合しました"))
        } else {
            context.note(tr("nothing to write: the card has it already", "書き込み済みの内容と同じため、何も書いていません"))
        }
    }

    private func confirm(_ view: WriteView) throws(CommandError) {
        guard !yes else { return }
        if Terminal() != nil { Output.message(view.lines) }
        try Confirmation.overwrite(view.fact, isGiven: false, numberFrom: "poll")
    }
}

/// A planned write, as it is shown.
struct WriteView {
    private let planned: PlannedWrite
    private let blocks: [(number: UInt16, before: Block, after: Block)]

    init(_ planned: PlannedWrite, _ card: CardIdentity, _ redaction: Redaction) {
        self.planned = planned
        // A block with the card's number is masked as it is when it is read.
        func masked(_ blocks: [Block]) -> [Block] {
            var service = ServiceDump(code: planned.write.service, state: .read)
            for (block, change) in zip(blocks, planned.blocks) { service.blocks[change.number] = block }
            let system = SystemDump(
                systemCode: planned.system.code, idm: planned.system.idm, pmm: planned.system.pmm, services: [service])
            let dump = redaction.apply(CardDump(card: card, systems: [system]))
            return planned.blocks.enumerated().map { place, change in
                dump.systems.first?.services.first?.blocks[change.number] ?? blocks[place]
            }
        }
        let (before, after) = (masked(planned.blocks.map(\.before)), masked(planned.blocks.map(\.after)))
        blocks = zip(planned.blocks, zip(before, after)).map { ($0.number, $1.0, $1.1) }
    }

    var members: [(String, JSONValue)] {
        [
            ("systemCode", .string(planned.system.code.description)),
            ("service", .string(planned.write.service.description)), ("opened", .text(planned.opened?.rawValue)),
            (
                "blocks",
                .array(
                    blocks.map { number, before, after in
                        [
                            "number": .int(number), "before": .string(before.bytes.hexadecimal),
                            "after": .string(after.bytes.hexadecimal),
                        ]
                    })
            ),
        ]
    }

    /// A line for each block: what it holds, and what it will hold.
    var lines: String {
        blocks.map { number, before, after in
            let place = "\(planned.system.code) \(planned.write.service) \(FourDigits.text(number))"
            return "\(place) \(before) -> \(after)\n"
        }.joined()
    }

    var fact: String {
        let service = planned.write.service
        switch planned.write.content {
        case .blocks:
            return tr(
                "\(Words.count(blocks.count, "block")) of service \(service) will be overwritten",
                "サービス \(service) の \(blocks.count) ブロックを上書きします")
        case .decrement(let amount):
            return tr("\(amount) will be taken from the purse", "パースから \(amount) を減算します")
        case .cashback(let amount):
            return tr("\(amount) will be given back to the purse", "パースに \(amount) を戻します")
        @unknown default: return tr("the card will be written", "カードに書き込みます")
        }
    }
}
