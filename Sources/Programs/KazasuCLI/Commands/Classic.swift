// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ByteCodec
import Kazasu
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
              kazasu classic dump --keys keys.txt -o card.mfd # all that the keys open
              kazasu classic read 4-6 --keys keys.txt
              kazasu classic write 4 00112233445566778899AABBCCDDEEFF --keys keys.txt
              kazasu classic value 13 --add 100 --keys keys.txt
            """,
            """
            PN532、ACR122U、PC/SC リーダーで使えます。鍵はファイルから読み、引数には書けません。鍵の解析や推測はしません。

            例:
              kazasu classic info                             # 開くセクター
              kazasu classic dump --keys keys.txt -o card.mfd # 鍵で読めるものすべて
              kazasu classic read 4-6 --keys keys.txt
              kazasu classic write 4 00112233445566778899AABBCCDDEEFF --keys keys.txt
              kazasu classic value 13 --add 100 --keys keys.txt
            """),
        subcommands: [
            ClassicInfo.self, ClassicDump.self, ClassicRead.self, ClassicWrite.self, ClassicValueCommand.self,
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
            Tries the keys that are given, and the three public ones (factory, application directory, NDEF). Nothing is written.

            Examples:
              kazasu classic info
              kazasu classic info --keys keys.txt --json | jq .sectors
            """,
            """
            指定した鍵と、公開されている 3 つの鍵（出荷時、アプリケーションディレクトリー、NDEF）を試します。何も書き込みません。

            例:
              kazasu classic info
              kazasu classic info --keys keys.txt --json | jq .sectors
            """))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: ClassicKeyOptions

    private struct Sector {
        var number: Int
        var keys: [ClassicKeyType] = []
        var access: [UInt8]?
    }

    func execute(_ context: Context) throws {
        let keys = try keyOptions.withTransportKeys()
        let session = try ReaderSession(readerOptions, context)
        var sectors: [Sector] = []
        let (identity, kind, image) = try closing(session) { session in
            let card = try session.find(.classic)
            let tag = try card.classic()
            var image = ClassicImage(tag.kind)
            for number in 0..<tag.kind.sectorCount {
                _ = try classic { () throws(ClassicError) in try tag.readSector(number, keys, into: &image) }
                var sector = Sector(number: number)
                sector.keys = ClassicKeyType.allCases.filter { image.key($0, of: number) != nil }
                let trailer = image[ClassicKind.trailer(of: number)]
                sector.access = trailer.flatMap { bytes in
                    let access = bytes[6..<9].compactMap { $0 }
                    return access.count == 3 ? access : nil
                }
                sectors.append(sector)
            }
            return (card.identity, tag.kind, image)
        }
        let directory = ClassicDirectory(image)
        let message = directory?.message(in: image)
        if context.json {
            try context.print([
                "schema": "kazasu.classic/1", "card": context.redaction.apply(identity).json,
                "size": .string(kind.rawValue),
                "sectors": .array(
                    sectors.map { sector in
                        [
                            "sector": .int(sector.number), "keys": .array(sector.keys.map { .string($0.rawValue) }),
                            "access": .text(sector.access.map { Hex.encode($0) }),
                            "application": .text(directory?.applications[sector.number].map { FourDigits.text($0) }),
                        ]
                    }),
                "directory": directory.map { ["checksum": .bool($0.isChecksumRight)] } ?? .null,
                "ndefLength": .optional(message?.count),
            ])
            return
        }
        var rows = [[tr("Card", "カード"), "MIFARE Classic \(kind.rawValue)"]]
        rows.append([
            "UID", context.redaction.apply(Hex.encode(identity.uid ?? [], uppercase: true)),
        ])
        for sector in sectors {
            let open =
                sector.keys.isEmpty
                ? tr("no key", "鍵なし")
                : tr("key ", "鍵 ") + sector.keys.map(\.rawValue).joined(separator: ", ")
            let access = sector.access.map { "  " + Hex.encode($0, uppercase: true) } ?? ""
            let application =
                directory?.applications[sector.number].flatMap { $0 == 0 ? nil : "  " + FourDigits.text($0) } ?? ""
            rows.append([tr("Sector \(sector.number)", "セクター \(sector.number)"), open + access + application])
        }
        if let message { rows.append(["NDEF", tr("\(message.count) bytes", "\(message.count) バイト")]) }
        try context.print(Columns.text(rows))
    }
}

/// `kazasu classic dump`
struct ClassicDump: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: tr("Read everything that the keys open.", "鍵で読めるものをすべて読む。"),
        discussion: tr(
            """
            Prints BLOCK HEX, -- for what is not known; with -o a file by its ending: .mfd, .mct (MIFARE Classic Tool), .nfc \
            (Flipper), .json and .eml (Proxmark). The file has the keys that fit in its trailers; --redact leaves them out. \
            Sectors without a key are withheld.

            Examples:
              kazasu classic dump --keys keys.txt
              kazasu classic dump --keys keys.txt -o card.mfd
              kazasu classic dump --keys old.mfd -o card.nfc
            """,
            """
            1 行に ブロック 16進 を出力します（不明なバイトは --）。-o では拡張子で形式が決まります: .mfd、.mct（MIFARE Classic Tool）、.nfc（Flipper）、
            .json・.eml（Proxmark）。ファイルのトレーラーには合った鍵が入ります（--redact で除きます）。鍵のないセクターは読みません。

            例:
              kazasu classic dump --keys keys.txt
              kazasu classic dump --keys keys.txt -o card.mfd
              kazasu classic dump --keys old.mfd -o card.nfc
            """))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: ClassicKeyOptions

    @Option(name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"), completion: .file())
    var output: String?

    func validate() throws {
        guard let output, output != "-", format == nil else { return }
        throw ValidationError(
            tr(
                "\(output): the ending must be .mfd, .mct, .nfc, .json or .eml",
                "\(output): 拡張子は .mfd、.mct、.nfc、.json、.eml のどれかにしてください"))
    }

    private var format: ClassicFormat? {
        guard let output, let dot = output.lastIndex(of: "."), !output[dot...].contains("/") else { return nil }
        return ClassicFormat(ending: String(output[output.index(after: dot)...]))
    }

    func execute(_ context: Context) throws {
        let keys = try keyOptions.required()
        let file = try output.map { path throws(CommandError) in try OutputFile(path) }
        let session = try ReaderSession(readerOptions, context)
        var failure: CommandError?
        var withheld: [Int] = []
        let (identity, whole) = try closing(session) { session in
            let card = try session.find(.classic)
            let tag = try card.classic()
            var image = ClassicImage(tag.kind, uid: tag.target.uid, atqa: tag.target.atqa, sak: tag.target.sak)
            for sector in 0..<tag.kind.sectorCount {
                do throws(ClassicError) {
                    if try !tag.readSector(sector, keys, into: &image) { withheld.append(sector) }
                } catch {
                    failure = CommandError(error)
                    withheld += Array(sector..<tag.kind.sectorCount)
                    break
                }
            }
            return (card.identity, image)
        }
        var image = context.redaction.isOn ? whole.withoutKeys : whole
        if context.redaction.isOn {
            image.uid = image.uid.map { $0.prefix(1) + $0.dropFirst().map { _ in 0 } }
            if var first = image[0] {
                for place in 1..<7 { first[place] = nil }
                image[0] = first
            }
        }
        if failure == nil, withheld.count == image.kind.sectorCount {
            throw CommandError(ClassicError.noKey(sector: 0))
        }
        if let file {
            try file.finish((format ?? .mfd).data(image))
            if let format, !format.marksUnknown, !withheld.isEmpty {
                context.warn(
                    tr(
                        "the file has zeros for sectors \(Self.list(withheld)): .mct and .nfc can say that they are not known",
                        "セクター \(Self.list(withheld)) はゼロで書きました（.mct と .nfc なら不明と記録できます）"))
            }
        }
        if context.json {
            try context.print([
                "schema": "kazasu.classicDump/1", "card": context.redaction.apply(identity).json,
                "size": .string(image.kind.rawValue),
                "blocks": .object(
                    JSONObject(
                        image.blocks.sorted { $0.key < $1.key }.map {
                            ("\($0.key)", .string(Self.digits($0.value, "??", false)))
                        })),
                "withheld": .array(withheld.map { .int($0) }),
            ])
        } else if file == nil {
            let unknown = [UInt8?](repeating: nil, count: 16)
            try context.print(
                (0..<image.kind.blockCount).map { "\($0) \(Self.digits(image[$0] ?? unknown, "--", true))\n" }.joined())
        }
        if failure == nil, !withheld.isEmpty {
            context.note(
                tr("sectors without a key that fits: \(Self.list(withheld))", "合う鍵のないセクター: \(Self.list(withheld))"))
        }
        if let failure { throw failure }
    }

    private static func list(_ numbers: [Int]) -> String {
        Words.ranges(numbers.map { UInt16(clamping: $0) }) { "\($0)" }
    }

    static func digits(_ block: [UInt8?], _ unknown: String, _ isUpper: Bool) -> String {
        block.map { $0.map { Hex.encode([$0], uppercase: isUpper) } ?? unknown }.joined()
    }
}

/// `kazasu classic read`
struct ClassicRead: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: tr("Read blocks, or the NDEF message.", "ブロックまたは NDEF メッセージを読む。"),
        discussion: tr(
            """
            Prints BLOCK HEX; a trailer shows its access bits and no keys. --ndef follows the application directory and prints \
            the message, with the public keys if no others are given.

            Examples:
              kazasu classic read 4-6 --keys keys.txt
              kazasu classic read 5 --key-from env:SECTOR_KEY --json
              kazasu classic read --ndef
            """,
            """
            1 行に ブロック 16進 を出力します。トレーラーはアクセスビットだけで、鍵は表示しません。--ndef はアプリケーションディレクトリーに従って
            メッセージを表示します（鍵を指定しなければ公開鍵を使います）。

            例:
              kazasu classic read 4-6 --keys keys.txt
              kazasu classic read 5 --key-from env:SECTOR_KEY --json
              kazasu classic read --ndef
            """))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: ClassicKeyOptions

    @Argument(help: help("Block numbers, as in 4-6 or 1,2,8.", "ブロック番号（例: 4-6、1,2,8）。"))
    var blocks: BlockRange?

    @Flag(name: .long, help: help("Read the NDEF message.", "NDEF メッセージを読む。"))
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
        var read: [(block: Int, bytes: [UInt8])] = []
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
                    failure =
                        error == .notWritable(block: block, .absent)
                        ? CommandError(
                            .refused, "refused",
                            tr("the card has no block \(block)", "カードにブロック \(block) はありません"),
                            hint: tr("'kazasu classic info' shows its size", "サイズは 'kazasu classic info' で分かります"))
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
                    JSONObject(read.map { ("\($0.block)", .string(Hex.encode(masked($0.block, $0.bytes, context)))) })),
            ])
        } else {
            try context.print(
                read.map { "\($0.block) \(Hex.encode(masked($0.block, $0.bytes, context), uppercase: true))\n" }
                    .joined())
        }
        if let failure { throw failure }
    }

    /// The UID is in block 0.
    private func masked(_ block: Int, _ bytes: [UInt8], _ context: Context) -> [UInt8] {
        guard context.redaction.isOn, block == 0 else { return bytes }
        return bytes.prefix(1) + [UInt8](repeating: 0, count: 6) + bytes.dropFirst(7)
    }

    /// Reads a block with the key that its access bits ask for.
    private static func read(_ block: Int, _ tag: ClassicTag, _ keys: ClassicKeys) throws(ClassicError) -> [UInt8] {
        let sector = ClassicKind.sector(of: block)
        var isOpen = false
        for type in ClassicKeyType.allCases {
            guard try tag.unlock(sector, keys, ClassicAccess.Keys(type)) != nil else { continue }
            isOpen = true
            do throws(ClassicError) {
                var bytes = try tag.read(block)
                if ClassicKind.trailer(of: sector) == block {
                    bytes.replaceSubrange(10..<16, with: repeatElement(0, count: 6))
                }
                return bytes
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
            var image = ClassicImage(tag.kind)
            try classic { () throws(ClassicError) in
                try tag.readSector(0, keys, into: &image)
                if tag.kind == .k4 || tag.kind == .k2 { try tag.readSector(16, keys, into: &image) }
                for sector in ClassicDirectory(image)?.ndefSectors ?? [] {
                    try tag.readSector(sector, keys, into: &image)
                }
            }
            return (card.identity, ClassicDirectory(image)?.message(in: image))
        }
        guard let message else {
            throw CommandError(
                .otherCard, "notFormatted",
                tr(
                    "no NDEF message: the application directory names none that can be read",
                    "NDEF メッセージがありません（アプリケーションディレクトリーに読めるものがありません）"),
                hint: tr("'kazasu classic info' shows which sectors open", "開くセクターは 'kazasu classic info' で分かります"))
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
