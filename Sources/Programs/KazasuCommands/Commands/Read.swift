// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu read`
struct Read: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: tr("Read chosen blocks of one or several services.", "サービスの指定ブロックを読む（複数可）。"),
        discussion: tr(
            """
            Prints SYSTEM SERVICE BLOCK HEX, one block per line. Without --blocks, all blocks of each service.

            Examples:
              kazasu read 008B 090F --system 0003
              kazasu read 090F --system 0003 --blocks 0-4
              kazasu read 000B --system 12FC --blocks 0 --json
            """,
            """
            1 行 1 ブロックで システム サービス ブロック 16進 を出力します。--blocks を省くとすべて読みます。

            例:
              kazasu read 008B 090F --system 0003
              kazasu read 090F --system 0003 --blocks 0-4
              kazasu read 000B --system 12FC --blocks 0 --json
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.read", .get("read"), argument: "service", schema: "read",
            LocalizedText("Chosen blocks of one or several services of a FeliCa card.", "FeliCa カードのサービスから、指定したブロック。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(
        required: [], reach: .network,
        help: help("Service codes, as in 090F, of one system.", "サービスコード（090F など）。同じシステムのものを並べられる。", value: "service"))
    var services: [ServiceCode]

    @Option(
        reach: .network, name: .long,
        help: help("System code; default: the first that answers.", "システムコード。省略時は最初に応答したもの。", value: "code"))
    var system: SystemCode?

    @Option(
        reach: .network, name: .long,
        help: help("Block numbers, as in 0-19 or 0,3,5-7.", "ブロック番号（例: 0-19、0,3,5-7）。", value: "numbers"))
    var blocks: BlockRange?

    @OptionGroup var keyOptions: OwnerKeyOptions

    @Option(reach: .never, name: .long, help: help("Between the bytes of a block.", "バイトの間の区切り。"))
    var hexSeparator = HexSeparator.none

    func execute(_ context: Context) throws {
        let keyring = try keyOptions.keyring(context)
        let session = try ReaderSession(readerOptions, context)
        typealias Answer = (identity: CardIdentity, result: ReadResult, ends: [ServiceCode: StandardReading.End])
        let (identity, result, ends) = try closing(session) { session -> Answer in
            let card = try session.find(systems: system.map { [$0] })
            guard let keyring else {
                return (card.identity, try card.readServices(codes, blocks: blocks?.numbers), [:])
            }
            let read = try card.read(codes, blocks: blocks?.numbers, keys: keyring)
            card.noteAuthentication(context)
            return (card.identity, read.result, read.ends)
        }
        let failures = codes.compactMap { code in ends[code].flatMap { CommandError($0, code) } }
        // Without a key for one of the services, nothing was sent.
        if let failure = failures.first, result.system.services.isEmpty { throw failure }
        let isComplete = result.isComplete && failures.isEmpty
        let dump = context.redaction.apply(CardDump(card: identity, systems: [result.system]))
        let listing = HexListing(separator: hexSeparator.text)
        let read = dump.systems.flatMap { system in
            system.services.flatMap { service in
                service.blocks.map { (system.systemCode, service.code, $0.number, $0.block) }
            }
        }
        if context.json {
            try context.print([
                "schema": "kazasu.read/1", "card": dump.card.json,
                "systemCode": .text(dump.systems.first?.systemCode.description),
                "complete": .bool(isComplete),
                "services": .array(dump.systems.flatMap(\.services).map(\.json)),
            ])
        } else {
            let end = read.isEmpty || isComplete ? "" : "# not complete\n"
            try context.print(read.map { listing.line($0.0, $0.1, $0.2, $0.3) }.joined() + end)
        }
        if let error = result.error { throw CommandError(error, keepingWhatWasRead: true) }
        if let failure = failures.first { throw failure }
        for code in codes {
            if let refusal = result.refusals[code] {
                var failure = CommandError(refusal: refusal, tr("service \(code)", "サービス \(code)"))
                if let other = Read.swapped(code, in: dump.systems.first?.systemCode) {
                    failure.hint = Remedy.otherService.text("\(other)")
                }
                throw failure
            }
            if let absent = result.absent[code]?.min(by: { $0.key < $1.key }) {
                throw CommandError(
                    refusal: absent.value,
                    tr("block \(absent.key) of service \(code)", "サービス \(code) のブロック \(absent.key)"))
            }
        }
    }

    /// The services, each once.
    private var codes: [ServiceCode] {
        var seen: Set<ServiceCode> = []
        return services.filter { seen.insert($0).inserted }
    }

    /// The known service whose bytes were given in the order of the wire; `nil` for a code that is known itself.
    static func swapped(_ code: ServiceCode, in system: SystemCode?) -> ServiceCode? {
        guard let system, KnownService.of(code, in: system) == nil else { return nil }
        let other = ServiceCode(rawValue: code.rawValue.byteSwapped)
        return KnownService.of(other, in: system) == nil ? nil : other
    }
}
