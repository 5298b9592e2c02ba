// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu dump`
struct Dump: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: tr("Read every block, page and file that needs no key.", "鍵なしで読めるブロック・ページ・ファイルをすべて読む。"),
        discussion: tr(
            """
            Prints one block per line: SYSTEM SERVICE BLOCK HEX; for a Type 2 Tag PAGE HEX; for an ISO 7816 card \
            AID FILE OFFSET HEX, for files that anyone can read (no PIN is used). With -o, writes a JSON document \
            for 'kazasu decode'. If the card leaves early, the data read so far is written, and --resume continues from \
            there. With the key of an Ultralight C, its protected pages are read as well; a dump never contains the key. \
            With --keys, services of a FeliCa Standard card are opened with your keys.

            Examples:
              kazasu dump | grep ' 090F '
              kazasu dump -o card.json
              kazasu dump --resume card.json -o card.json
              kazasu dump --key-from file:key.txt
            """,
            """
            標準出力では 1 行 1 ブロック（システム サービス ブロック 16進）。Type 2 Tag は ページ 16進、ISO 7816 のカードは
            AID ファイル オフセット 16進（誰でも読めるファイルだけ。暗証番号は使いません）。-o では 'kazasu decode' が読める JSON。
            途中でカードが離れても読めた分は書き出され、--resume で続きから読めます。Ultralight C は鍵を指定すると
            保護されたページも読みます（鍵はダンプに残りません）。--keys を付けると、FeliCa Standard のサービスを手持ちの鍵で
            開きます。

            例:
              kazasu dump | grep ' 090F '
              kazasu dump -o card.json
              kazasu dump --resume card.json -o card.json
              kazasu dump --key-from file:key.txt
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.dump", .get("dump"), schema: "dump",
            LocalizedText(
                "Every block, page and file that needs no key, and what the given keys open.",
                "鍵のいらないすべてのブロック、ページ、ファイルと、渡された鍵で読めるもの。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: TagKeyOptions
    @OptionGroup var standardKeys: StandardKeyOptions
    @OptionGroup var cacheOptions: CacheOptions

    @Option(
        reach: .never, name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"),
        completion: .file())
    var output: String?

    @Option(reach: .network, name: .long, help: help("Only these systems.", "このシステムだけ。", value: "codes"))
    var system: SystemCodeList?

    @Option(reach: .network, name: .long, help: help("Only these services.", "このサービスだけ。", value: "codes"))
    var service: ServiceCodeList?

    @Option(
        reach: .never, name: .long,
        help: help(
            "The format. Default: by the ending of -o (.json, .hex, .nfc), json with another one or with --json, otherwise hex.",
            "形式。省略時は -o の拡張子（.json、.hex、.nfc）により、ほかの拡張子や --json では json、それ以外は hex。", value: "format"))
    var format: DumpFileFormat?

    @Option(
        reach: .never, name: .long,
        help: help("Continue an incomplete dump of the same card.", "同じカードの途中までのダンプの続きを読む。", value: "file"),
        completion: .file())
    var resume: String?

    @Option(reach: .never, name: .long, help: help("Between the bytes of a block.", "バイトの間の区切り。"))
    var hexSeparator = HexSeparator.none

    func validate() throws {
        try common.check("--format", format?.rawValue)
        try OutputEnding(output).check(
            format.map { "--format \($0.rawValue)" } ?? "--json", format ?? (common.json ? .json : nil),
            DumpFileFormat.endings)
        guard keyOptions.keyFrom == nil || system == nil && service == nil && standardKeys.keys.isEmpty else {
            let named = Caller.current.option
            throw ValidationError(
                tr(
                    "\(named("key-from", nil)) is for a tag; \(named("system", nil)), \(named("service", nil)) and \(named("keys", nil)) are for FeliCa",
                    "\(named("key-from", nil)) はタグ用、\(named("system", nil))・\(named("service", nil))・\(named("keys", nil)) は FeliCa 用です"
                ))
        }
    }

    func execute(_ context: Context) throws {
        let keyring = try standardKeys.keyring(retries: keyOptions.retry, context)
        let credential = try keyOptions.credential(context, otherKeys: keyring != nil)
        let earlier = try resume.map { try DumpFile.readOwn($0) }
        let file = try output.map { path throws(CommandError) in try DumpOutput(path, replacing: .resumed) }
        let session = try ReaderSession(readerOptions, context)
        let cache = LayoutCache(cacheOptions, session)
        let result = try closing(session) { session in
            var result = try read(
                session.find(query(earlier)), credential, keyring, earlier, cache.layouts, context)
            result.dump.stamp(session)
            return result
        }
        do throws(CommandError) {
            ScanView.explain(result.scans, context)
            noteAbsent(result.dump, context)
            if let file {
                try file.finish(bytes(result.dump, context), of: result.dump, context)
                if result.error == nil { summarize(result.dump, file.written, context) }
            } else if form(context) == .json {
                try context.print(context.redaction.apply(result.dump).json)
            } else {
                try context.print(file: bytes(result.dump, context))
            }
        } catch {
            throw KeptDump(dump: result.dump, output: output).kept(after: error, context)
        }
        if let error = result.error {
            var failure = CommandError(error, keepingWhatWasRead: true)
            if let output, let written = file?.written, output != "-" {
                let command =
                    "kazasu dump --resume \(ShellWord.quoted(written)) -o \(ShellWord.quoted(output))"
                failure.hint = Remedy.continueWith.text(command)
            }
            throw failure
        }
        if keyring != nil { try checkOpened(result.dump, context) }
        // Of a part of a card, not all systems are known.
        if system == nil, service == nil {
            cache.keep(result.scans, of: result.dump.systems.map(\.systemCode), context)
        }
    }

    /// Notes the requested services that no system of the card has.
    private func noteAbsent(_ dump: CardDump, _ context: Context) {
        for code in service?.codes ?? [] {
            let found = dump.systems.compactMap { system in
                system.services.first { $0.code == code }.map { (system.systemCode, $0.state) }
            }
            guard !found.isEmpty, found.allSatisfy({ $0.1.isNoSuchNode }) else { continue }
            let other = found.lazy.compactMap { Read.swapped(code, in: $0.0) }.first
            context.note(
                tr("the card has no service \(code)", "カードにサービス \(code) はありません")
                    + (other.map { tr("; did you mean \($0)?", "。\($0) ではありませんか？") } ?? ""))
        }
    }

    /// Names the services that the keys did not open.
    ///
    /// - Throws: ``CommandError`` with status 77 if they opened nothing.
    private func checkOpened(_ dump: CardDump, _ context: Context) throws(CommandError) {
        let services = dump.systems.flatMap { system in system.services.map { (system.systemCode, $0) } }
        for (system, service) in services {
            guard let reason = service.keyRefusal else { continue }
            let place = "\(system) \(service.code)"
            switch reason {
            case .wrongKey:
                context.note(tr("\(place): the card does not confirm the keys", "\(place): 鍵がカードの鍵と一致しません"))
            case .keyVersion:
                context.note(
                    tr(
                        "\(place): the card has another version of a key; it was not used",
                        "\(place): 鍵のバージョンがカードと違うため、使いませんでした"))
            case .keyFailedBefore:
                context.note(
                    tr(
                        "\(place): the keys were not used, as this card did not confirm them before",
                        "\(place): 前回このカードで確認できなかった鍵なので、使いませんでした"))
            case .noKey: continue
            @unknown default: continue
            }
        }
        guard !services.contains(where: { $0.1.opened != nil }) else { return }
        let reason = services.lazy.compactMap { $0.1.keyRefusal }.first ?? .noKey
        throw CommandError(
            .refused, reason.rawValue, tr("the keys opened no service of the card", "鍵で開けたサービスはありません"),
            hint: Remedy.scan.text())
    }

    /// Says on standard error what was written, as in `card.json: 3 systems, 63 services, 138 blocks, complete`.
    private func summarize(_ dump: CardDump, _ path: String?, _ context: Context) {
        guard let path, path != "-", context.verbosity >= 0 else { return }
        // A name that says no format may mean another one to its user.
        let isNamed = format != nil || context.json || OutputEnding(output).format(DumpFileFormat.endings) != nil
        let parts = (isNamed ? [] : [KazasuJSONFormat().name[.current]]) + dump.counts
        Output.message(VisibleText.line(path) + ": " + parts.joined(separator: tr(", ", "、")) + "\n")
    }

    /// The first card that comes: FeliCa where systems or services are named, a tag where there is a key, else any kind,
    /// or that of the dump to resume.
    private func query(_ earlier: CardDump?) -> CardQuery {
        if let codes = system?.codes { return .feliCa(systems: codes) }
        if service != nil || !standardKeys.keys.isEmpty { return .feliCa }
        if keyOptions.keyFrom != nil { return .tag }
        return earlier.map { .first(of: [$0.card.technology]) } ?? .first()
    }

    private func read(
        _ card: Card, _ credential: TagCredential?, _ keyring: StandardKeyring?, _ earlier: CardDump?,
        _ layouts: CardLayouts, _ context: Context
    ) throws -> DumpResult {
        let progress = ProgressLine(context)
        defer {
            progress.end()
            card.noteAuthentication(context)
        }
        do throws(KazasuError) {
            return try card.dump(
                DumpSelection(systems: system?.codes, services: service?.codes), credential: credential,
                resuming: earlier,
                layouts: layouts, keyring: keyring, progress: progress.show)
        } catch {
            guard case .wrongCard(let card) = error else { throw error }
            if card.reason == .kind(wanted: .any) { throw CommandError.notDumped(card) }
            guard card.reason == .otherThanDump, let resume else { throw error }
            throw CommandError(.dumpOtherCard, values: [resume])
        }
    }

    private func form(_ context: Context) -> DumpFileFormat {
        let ending = OutputEnding(output).format(DumpFileFormat.endings)
        return format ?? (context.json ? .json : ending ?? (output == nil ? .hex : .json))
    }

    private func bytes(_ dump: CardDump, _ context: Context) throws(CommandError) -> [UInt8] {
        let format = form(context)
        if format == .hex {
            return Array(HexListing(separator: hexSeparator.text).text(context.redaction.apply(dump)).utf8)
        }
        return try format.file(dump, context.redaction, option: "format")
    }
}

extension CardDump {
    /// How much of a card it holds, for display.
    fileprivate var counts: [String] {
        var counts: [String] = []
        func count(_ number: Int, _ english: String, _ japanese: String) {
            counts.append(tr(Words.count(number, english), "\(japanese) \(number)"))
        }
        let services = systems.flatMap(\.services)
        if card.technology == .felica {
            count(systems.count, "system", "システム")
            count(services.count, "service", "サービス")
            count(services.reduce(0) { $0 + $1.blocks.count }, "block", "ブロック")
        }
        if let type2 { count(type2.pages.count, "page", "ページ") }
        if !applications.isEmpty {
            count(applications.count, "application", "アプリケーション")
            count(applications.reduce(0) { $0 + $1.files.count }, "file", "ファイル")
        }
        counts.append(isComplete ? tr("complete", "完全") : tr("incomplete", "不完全"))
        return counts
    }
}

extension ReadState {
    /// Whether the card refused because it has no such service.
    fileprivate var isNoSuchNode: Bool {
        guard case .refused(let status?) = self else { return false }
        return StatusFlag2(rawValue: UInt8(truncatingIfNeeded: status)) == .noSuchNode
    }
}
