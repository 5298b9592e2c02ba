// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CommandDescription
import Kazasu
import KazasuCLI
import MIFAREClassic

/// `kazasu classic`
struct Classic: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "classic",
        abstract: tr("Read and write MIFARE Classic with its owner's keys.", "MIFARE Classic を所有者の鍵で読み書きする。"),
        discussion: tr(
            """
            On a PN532, an ACR122U and PC/SC readers. Keys come from files and are never arguments; none is recovered or guessed.

            Examples:
              kazasu classic info                             # which sectors are open
              kazasu classic dump --keys keys.txt -o card.json # all that the keys open
              kazasu classic read 4-6 --keys keys.txt
              kazasu classic write 4 00112233445566778899AABBCCDDEEFF --keys keys.txt
              kazasu classic value 13 --add 100 --keys keys.txt
            """,
            """
            PN532、ACR122U、PC/SC リーダーで使えます。鍵はファイルから読み、引数には書けません。鍵の解析や推測はしません。

            例:
              kazasu classic info                             # 開くセクター
              kazasu classic dump --keys keys.txt -o card.json # 鍵で読めるものすべて
              kazasu classic read 4-6 --keys keys.txt
              kazasu classic write 4 00112233445566778899AABBCCDDEEFF --keys keys.txt
              kazasu classic value 13 --add 100 --keys keys.txt
            """),
        subcommands: [
            ClassicInfo.self, ClassicDumpCommand.self, ClassicRead.self, ClassicWrite.self, ClassicValueCommand.self,
        ])
}

/// `kazasu classic info`
struct ClassicInfo: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: tr(
            "Show the size of a MIFARE Classic, its sectors and applications.",
            "MIFARE Classic のサイズ、セクター、アプリケーションを表示する。"),
        discussion: tr(
            """
            Tries the given keys and the three public ones (factory, application directory, NDEF). Shows which keys \
            open each sector and what each key may do: A|B is either key. Nothing is written.

            Examples:
              kazasu classic info
              kazasu classic info --keys keys.txt --json | jq .sectors
            """,
            """
            指定した鍵と、公開されている 3 つの鍵（出荷時、アプリケーションディレクトリー、NDEF）を試し、セクターごとに、開く鍵と、各鍵で
            できることを表示します（A|B はどちらの鍵でも可）。何も書き込みません。

            例:
              kazasu classic info
              kazasu classic info --keys keys.txt --json | jq .sectors
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "classic.info", .get("classic/info"), schema: "classic",
            LocalizedText(
                "The size of a MIFARE Classic, and which keys open its sectors.", "MIFARE Classic の容量と、各セクターが開く鍵。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: ClassicKeyOptions

    func execute(_ context: Context) throws {
        let keys = try keyOptions.withTransportKeys()
        let session = try ReaderSession(readerOptions, context)
        let (identity, memory) = try closing(session) { session in
            let card = try session.find(.classic)
            let tag = try card.classic()
            var memory = ClassicDump(tag.kind)
            for sector in 0..<tag.kind.sectorCount {
                _ = try classic { () throws(ClassicError) in try tag.readSector(sector, keys, into: &memory) }
            }
            return (card.identity, memory)
        }
        let view = ClassicView(memory, context.redaction)
        try context.print(
            "kazasu.classic/1", card: context.redaction.apply(identity).json, view.members,
            else: Columns.values(view.rows(uid: identity.uid ?? [])))
    }
}

/// `kazasu classic dump`
struct ClassicDumpCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: tr("Read everything that the keys open.", "鍵で読めるものをすべて読む。"),
        discussion: tr(
            """
            Prints BLOCK HEX, -- for unknown bytes; with -o a file by its ending: .json (Kazasu), .mfd, .mct (MIFARE Classic \
            Tool), .nfc (Flipper) and .eml (Proxmark). 'kazasu decode', 'convert', 'diff' and virtual readers take them all. \
            The file has the keys that fit in its trailers; --redact leaves them out. Sectors without a key are withheld, and \
            blocks that no key may read. .mfd and .eml have zeros for unknown bytes; they are not written if access bits are \
            unknown, since zeros there would end the sector of a copy.

            Examples:
              kazasu classic dump --keys keys.txt
              kazasu classic dump --keys keys.txt -o card.json
              kazasu classic dump --keys old.mfd -o card.nfc
            """,
            """
            1 行に ブロック 16進 を出力します。不明なバイトは -- で表します。

            ファイルの形式は -o の拡張子で決まります: .json（Kazasu）、.mfd、.mct（MIFARE Classic Tool）、.nfc（Flipper）、
            .eml（Proxmark）。どの形式も 'kazasu decode'、'convert'、'diff'、仮想リーダーで使えます。
            ファイルのトレーラーには合った鍵が入ります（--redact で除きます）。鍵のないセクターと、どの鍵でも読めない
            ブロックは不明になります。.mfd と .eml では不明なバイトがゼロになります。アクセスビットが不明なときは、ゼロを書き写すとセクターが
            使えなくなるため、この 2 つの形式では保存しません。

            例:
              kazasu classic dump --keys keys.txt
              kazasu classic dump --keys keys.txt -o card.json
              kazasu classic dump --keys old.mfd -o card.nfc
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "classic.dump", .none(because: "keys are never taken from the network"), schema: "classicDump",
            LocalizedText("Everything on a MIFARE Classic that the keys open.", "MIFARE Classic の、鍵で読めるすべて。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: ClassicKeyOptions

    @Option(
        reach: .never, name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"),
        completion: .file())
    var output: String?

    @Option(
        reach: .never, name: .long,
        help: help(
            "The format of the file. Default: by the ending of -o.", "ファイルの形式。省略時は -o の拡張子による。", value: "format"))
    var format: DumpFileFormat?

    func validate() throws {
        guard let output else {
            guard format != nil else { return }
            throw ValidationError(tr("--format requires -o", "--format は -o と一緒に指定してください"))
        }
        try OutputEnding(output).check("--format \(format?.rawValue ?? "")", format, DumpFileFormat.classicEndings)
        guard output != "-", format ?? OutputEnding(output).format(DumpFileFormat.classicEndings) == nil else { return }
        throw ValidationError(
            tr(
                "\(output): the ending must be .json, .mfd, .mct, .nfc, .eml or .hex",
                "\(output): 拡張子は .json、.mfd、.mct、.nfc、.eml、.hex のどれかにしてください"))
    }

    func execute(_ context: Context) throws {
        let keys = try keyOptions.required()
        let file = try output.map { path throws(CommandError) in try DumpOutput(path) }
        // Standard output gets bytes.
        let format = format ?? OutputEnding(output).format(DumpFileFormat.classicEndings) ?? .mfd
        let session = try ReaderSession(readerOptions, context)
        let contents = try closing(session) { session in
            let card: ClassicCard = try session.find(.classic).classic()
            return try card.dump(keys)
        }
        let dump = contents.dump.stamped(session)
        guard let memory = dump.classic, let shown = context.redaction.apply(dump).classic else {
            throw CommandError.bug("no memory")
        }
        let opened = Set(contents.sectors.filter { !$0.keys.isEmpty }.map(\.number))
        let withheld = (0..<memory.kind.sectorCount).filter { !opened.contains($0) }
        let hidden = ClassicView(memory, context.redaction).unknownBlocks.filter {
            opened.contains(ClassicKind.sector(of: $0))
        }
        if let file {
            context.attempt { () throws(CommandError) in
                try file.finish(format.file(dump, context.redaction, option: "format"), of: dump, context)
                context.noteLimits(of: format, dump)
            }
        }
        if context.json {
            try context.print([
                "schema": "kazasu.classicDump/1", "card": context.redaction.apply(dump.card).json,
                "size": .string(memory.kind.rawValue), "blocks": shown.blocksJSON,
                "withheld": .array(withheld.map { .int($0) }), "withheldBlocks": .array(hidden.map { .int($0) }),
            ])
        } else if file == nil {
            try context.print(file: DumpFileFormat.hex.file(dump, context.redaction, option: "format"))
        }
        if let error = contents.error { throw CommandError(error) }
        if !withheld.isEmpty {
            let sectors = Words.ranges(withheld) { "\($0)" }
            context.note(
                tr(
                    "none of the given keys opens \(withheld.count == 1 ? "sector" : "sectors") \(sectors)",
                    "合う鍵のないセクター: \(sectors)"))
        }
        if !hidden.isEmpty {
            let blocks = Words.ranges(hidden) { "\($0)" }
            context.note(
                tr(
                    "the access bits let no given key read \(hidden.count == 1 ? "block" : "blocks") \(blocks)",
                    "指定した鍵では読めないブロック（アクセスビットによる）: \(blocks)"))
        }
    }
}

/// `kazasu classic read`
struct ClassicRead: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: tr("Read blocks, or the NDEF message.", "ブロックまたは NDEF メッセージを読む。"),
        discussion: tr(
            """
            Prints BLOCK HEX; a trailer shows its access bits, and -- for its keys. --ndef follows the application directory and prints \
            the message, with the public keys if no others are given.

            Examples:
              kazasu classic read 4-6 --keys keys.txt
              kazasu classic read 5 --key-from env:SECTOR_KEY --json
              kazasu classic read --ndef
            """,
            """
            1 行に ブロック 16進 を出力します。トレーラーの鍵は -- で表します。--ndef はアプリケーションディレクトリーに従って
            メッセージを表示します（鍵を指定しなければ公開鍵を使います）。

            例:
              kazasu classic read 4-6 --keys keys.txt
              kazasu classic read 5 --key-from env:SECTOR_KEY --json
              kazasu classic read --ndef
            """))

    static let programAccess = CommandAccess.methods([
        .card(
            "classic.read", .none(because: "keys are never taken from the network"), argument: "blocks",
            required: ["blocks"], omitting: ["ndef"], schema: "classicRead",
            LocalizedText("Blocks of a MIFARE Classic.", "MIFARE Classic のブロック。")),
        .card(
            "classic.message", .get("classic/message"), fixed: ["--ndef"], schema: "classicMessage",
            LocalizedText("The NDEF message of a MIFARE Classic.", "MIFARE Classic の NDEF メッセージ。")),
    ])

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: ClassicKeyOptions

    @Argument(reach: .network, help: help("Block numbers, as in 4-6 or 1,2,8.", "ブロック番号（例: 4-6、1,2,8）。"))
    var blocks: BlockRange?

    @Flag(reach: .never, name: .long, help: help("Read the NDEF message.", "NDEF メッセージを読む。"))
    var ndef = false

    func validate() throws {
        guard (blocks != nil) != ndef else {
            throw ValidationError(tr("give block numbers or --ndef", "ブロック番号か --ndef のどちらかを指定してください"))
        }
    }

    func execute(_ context: Context) throws {
        let keys = ndef ? try keyOptions.withTransportKeys() : try keyOptions.required()
        let session = try ReaderSession(readerOptions, context)
        if ndef { return try readMessage(keys, session, context) }
        var read: [(block: Int, bytes: [UInt8?])] = []
        var failure: CommandError?
        let identity = try closing(session) { session in
            let card = try session.find(.classic)
            let tag = try card.classic()
            for number in blocks?.numbers ?? [] {
                let block = Int(number)
                do throws(ClassicError) {
                    guard block < tag.kind.blockCount else { throw .notWritable(block: block, .absent) }
                    read.append((block, try Self.read(block, tag, keys)))
                } catch {
                    let info = Caller.current.command("classic info")
                    failure =
                        error == .notWritable(block: block, .absent)
                        ? CommandError(.classicNoBlock, values: ["\(block)", info])
                        : CommandError(error)
                    break
                }
            }
            return card.identity
        }
        if context.json {
            try context.print([
                "schema": "kazasu.classicRead/1", "card": context.redaction.apply(identity).json,
                "blocks": .object(
                    JSONObject(
                        read.map { ("\($0.block)", ClassicDump.json(context.redaction.apply($0.bytes, of: $0.block))) })
                ),
            ])
        } else {
            try context.print(
                read.map {
                    "\($0.block) \(ClassicDump.digits(of: context.redaction.apply($0.bytes, of: $0.block), unknown: "-"))\n"
                }.joined())
        }
        if let failure { throw failure }
    }

    /// Reads a block with the key that its access bits ask for.
    private static func read(_ block: Int, _ tag: ClassicTag, _ keys: ClassicKeys) throws(ClassicError) -> [UInt8?] {
        let sector = ClassicKind.sector(of: block)
        var isOpen = false
        for type in ClassicKeyType.allCases {
            guard try tag.unlock(sector, keys, ClassicAccess.Keys(type)) != nil else { continue }
            isOpen = true
            do throws(ClassicError) {
                return ClassicDump.withoutKeys(block, try tag.read(block))
            } catch .refused {
                continue
            } catch {
                throw error
            }
        }
        throw isOpen ? .refused(block: block) : .noKey(sector: sector)
    }

    private func readMessage(_ keys: ClassicKeys, _ session: ReaderSession, _ context: Context) throws {
        let (identity, message) = try closing(session) { session in
            let card = try session.find(.classic)
            let tag = try card.classic()
            var memory = ClassicDump(tag.kind)
            try classic { () throws(ClassicError) in
                try tag.readSector(0, keys, into: &memory)
                if tag.kind == .k4 || tag.kind == .k2 { try tag.readSector(16, keys, into: &memory) }
                for sector in ClassicDirectory(memory)?.ndefSectors ?? [] {
                    try tag.readSector(sector, keys, into: &memory)
                }
            }
            return (card.identity, ClassicDirectory(memory)?.message(in: memory))
        }
        guard let message else {
            let info = Caller.current.command("classic info")
            throw CommandError(.classicNoMessage, values: [info])
        }
        let view = NDEFView(message, context.redaction)
        if context.json {
            var document = JSONObject([
                ("schema", "kazasu.classicMessage/1"), ("card", context.redaction.apply(identity).json),
            ])
            document.merge(view.members)
            if !context.redaction.isOn { document["message"] = .string(message.hexadecimal) }
            try context.print(.object(document))
        } else if view.failure == nil {
            try context.print(Columns.text(view.rows))
        }
        if let failure = view.failure { throw failure }
    }
}
