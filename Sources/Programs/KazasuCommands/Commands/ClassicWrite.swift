// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI
import MIFAREClassic

/// `kazasu classic write`
struct ClassicWrite: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: tr("Write a block, read it back and compare.", "ブロックを書き、読み返して照合する。"),
        discussion: tr(
            """
            The access bits are read first, and what they do not allow is refused before anything is written. Asks before it \
            replaces a block that is not all zeros; --yes skips the question, for scripts. Block 0 is never written.

            A trailer (keys and access bits) is written only with --trailer and both keys of its sector, from a file or \
            descriptor with its 32 digits; its new keys are proved at once. One that takes a right away for good (to change the \
            access bits, to read or to write a data block) requires --permanent.

            Examples:
              kazasu classic write 4 00112233445566778899AABBCCDDEEFF --keys keys.txt
              kazasu classic write 7 --trailer --data-from file:trailer.txt --keys keys.txt
            """,
            """
            まずアクセスビットを読み、許されない書き込みは何も書かずに断ります。ゼロ以外のデータがあるブロックを上書きする前に端末で確認します。
            スクリプトでは --yes で確認を省けます。ブロック 0 には書きません。

            トレーラー（鍵とアクセスビット）には --trailer とセクターの鍵 A・B の両方が必要で、内容の 32 桁はファイルかディスクリプターから
            読みます。書いた後、すぐ新しい鍵で認証します。アクセスビットの変更や、データブロックの読み取り・書き込みが永久にできなくなる
            トレーラーには --permanent が必要です。

            例:
              kazasu classic write 4 00112233445566778899AABBCCDDEEFF --keys keys.txt
              kazasu classic write 7 --trailer --data-from file:trailer.txt --keys keys.txt
            """))

    static let programAccess = CommandAccess.none(
        because: "a wrong trailer locks a sector for good, so its owner writes at the terminal")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: ClassicKeyOptions

    @Argument(required: 0, reach: .never, help: help("The block number.", "ブロック番号。"))
    var block: Int

    @Argument(reach: .never, help: help("Sixteen bytes in hexadecimal.", "16 バイト（16 進）。"))
    var data: String?

    @Option(
        reach: .secret, name: .long,
        help: help(
            "Where to read the bytes of a trailer: env:NAME, file:PATH or fd:NUMBER.",
            "トレーラーの内容の入力元: env:変数名、file:パス、fd:番号。", value: "source"))
    var dataFrom: SecretSource?

    @Flag(reach: .never, name: .long, help: help("Write a trailer: keys and access bits.", "トレーラー（鍵とアクセスビット）を書く。"))
    var trailer = false

    @Flag(
        reach: .never, name: .long,
        help: help("Allow a trailer that takes a right away for good.", "できなくなることがあるトレーラーも許す。"))
    var permanent = false

    @Flag(reach: .never, name: [.short, .long], help: help("Do not ask before overwriting.", "上書きの確認をしない。"))
    var yes = false

    func validate() throws {
        try SecretSource.validate(dataFrom, "--data-from")
        guard (0..<256).contains(block) else {
            throw ValidationError(tr("blocks are 0 to 255", "ブロックは 0～255 です"))
        }
        guard trailer else {
            guard dataFrom == nil, !permanent else {
                throw ValidationError(
                    tr(
                        "--data-from and --permanent require --trailer",
                        "--data-from と --permanent は --trailer と一緒に指定してください"))
            }
            guard bytes(data) != nil else {
                throw ValidationError(tr("give sixteen bytes in hexadecimal", "16 バイトを 16 進で指定してください"))
            }
            return
        }
        guard data == nil, dataFrom != nil else {
            throw ValidationError(
                tr(
                    "a trailer has keys: its bytes come from --data-from and not from the command line",
                    "トレーラーには鍵があるため、内容は引数ではなく --data-from で指定してください"))
        }
    }

    private func bytes(_ text: String?) -> [UInt8]? {
        guard let bytes = text.flatMap({ try? Hex.decode($0) }), bytes.count == 16 else { return nil }
        return bytes
    }

    func execute(_ context: Context) throws {
        let keys = try keyOptions.required()
        let content = try content()
        let session = try ReaderSession(readerOptions, context)
        let identity = try closing(session) { session in
            let card = try session.find(.classic)
            try CommandHost.current?.check(card.identity)
            let tag = try card.classic()
            let sector = ClassicKind.sector(of: block)
            guard ClassicKind.trailer(of: sector) == block || !trailer else {
                throw CommandError(.classicNotATrailer, values: ["\(block)"])
            }
            if trailer {
                _ = try classic { () throws(ClassicError) in
                    try tag.checkWriting(trailer: content, of: sector, keys, isPermanent: permanent)
                }
                try Confirmation.overwrite(
                    tr(
                        "the keys and access bits of sector \(sector) will be replaced",
                        "セクター \(sector) の鍵とアクセスビットを置き換えます"), isGiven: yes)
            } else {
                let old = try classic { () throws(ClassicError) in try tag.replaceable(block, keys) }
                try tag.confirmReplacing(block, old, with: content, isGiven: yes)
            }
            try classic { () throws(ClassicError) in
                if trailer {
                    try tag.write(trailer: content, of: sector, keys, isPermanent: permanent)
                } else {
                    try tag.write(block, content, keys)
                }
            }
            return card.identity
        }
        if context.json {
            try context.print([
                "schema": "kazasu.classicWrite/1", "card": context.redaction.apply(identity).json, "block": .int(block),
                "trailer": .bool(trailer), "verified": true,
            ])
        } else {
            context.note(tr("block \(block) written and read back", "ブロック \(block) を書き込み、照合しました"))
        }
    }

    private func content() throws(CommandError) -> [UInt8] {
        if let bytes = bytes(data) { return bytes }
        let text = try dataFrom?.read(tr("the trailer", "トレーラー"), reason: "noKey")
        guard let bytes = text.flatMap({ TagKeyOptions.bytes($0) }), bytes.count == 16 else {
            throw CommandError(.classicTrailerForm)
        }
        return bytes.withUnsafeBytes { Array($0) }
    }
}

/// `kazasu classic value`
struct ClassicValueCommand: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "value",
        abstract: tr("Show or change a value block.", "バリューブロックを表示・変更する。"),
        discussion: tr(
            """
            Prints the number in a value block. The card itself adds and subtracts; the result is read back. --set writes a new \
            value block, and asks before it replaces a block that is not all zeros; --yes skips the question.

            Examples:
              kazasu classic value 13 --keys keys.txt
              kazasu classic value 13 --add 100 --keys keys.txt
              kazasu classic value 13 --subtract 30 --keys keys.txt
              kazasu classic value 13 --set 0 --keys keys.txt
            """,
            """
            バリューブロックの数値を表示します。加算と減算はカードが行い、結果を読み返します。--set は新しいバリューブロックを書きます。ゼロ以外の
            データがあるブロックを上書きする前に端末で確認します（--yes で省けます）。

            例:
              kazasu classic value 13 --keys keys.txt
              kazasu classic value 13 --add 100 --keys keys.txt
              kazasu classic value 13 --subtract 30 --keys keys.txt
              kazasu classic value 13 --set 0 --keys keys.txt
            """))

    static let programAccess = CommandAccess.none(
        because: "it changes money on the owner's word, given at the terminal")

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: ClassicKeyOptions

    @Argument(required: 0, reach: .never, help: help("The block number.", "ブロック番号。"))
    var block: Int

    @Option(reach: .never, name: .long, help: help("Add this much.", "加える数。", value: "count"))
    var add: Int32?

    @Option(reach: .never, name: .long, help: help("Subtract this much.", "引く数。", value: "count"))
    var subtract: Int32?

    @Option(reach: .never, name: .long, help: help("Write this value.", "書く値。", value: "count"))
    var set: Int32?

    @Flag(reach: .never, name: [.short, .long], help: help("Do not ask before overwriting.", "上書きの確認をしない。"))
    var yes = false

    func validate() throws {
        guard (0..<256).contains(block) else {
            throw ValidationError(tr("blocks are 0 to 255", "ブロックは 0～255 です"))
        }
        guard [add, subtract, set].compactMap({ $0 }).count <= 1 else {
            throw ValidationError(
                tr("use one of --add, --subtract and --set", "--add、--subtract、--set はどれか 1 つにしてください"))
        }
        for change in [add, subtract] {
            guard (change ?? 1) > 0 else {
                throw ValidationError(tr("give a number above 0", "1 以上の数を指定してください"))
            }
        }
        guard !yes || set != nil else {
            throw ValidationError(tr("--yes requires --set", "--yes は --set と一緒に指定してください"))
        }
    }

    func execute(_ context: Context) throws {
        let keys = try keyOptions.required()
        let session = try ReaderSession(readerOptions, context)
        let (identity, value) = try closing(session) { session in
            let card = try session.find(.classic)
            let tag = try card.classic()
            guard let set else {
                let change = add ?? subtract.map { -$0 } ?? 0
                return (
                    card.identity,
                    try classic { () throws(ClassicError) in try tag.change(block, by: change, keys) }
                )
            }
            let old = try classic { () throws(ClassicError) in try tag.replaceable(block, keys) }
            let value = ClassicValue(set, address: ClassicValue(old)?.address ?? UInt8(truncatingIfNeeded: block))
            try tag.confirmReplacing(block, old, with: value.block, isGiven: yes)
            try classic { () throws(ClassicError) in try tag.write(block, value.block, keys) }
            return (card.identity, value)
        }
        if context.json {
            try context.print([
                "schema": "kazasu.classicValue/1", "card": context.redaction.apply(identity).json, "block": .int(block),
                "value": .int(value.value), "address": .int(value.address),
            ])
        } else {
            try context.print("\(value.value)\n")
        }
    }
}

extension ClassicTag {
    /// Asks before a block is replaced that is neither blank nor already as it would be written.
    fileprivate func confirmReplacing(
        _ block: Int, _ old: [UInt8], with new: [UInt8], isGiven: Bool
    ) throws(CommandError) {
        guard old != new, old.contains(where: { $0 != 0 }) else { return }
        let fact =
            ClassicValue(old).map { value in
                tr(
                    "block \(block) has the value \(value.value), which will be replaced",
                    "ブロック \(block) の値 \(value.value) を置き換えます")
            }
            ?? tr("block \(block) is not blank and will be overwritten", "空ではないブロック \(block) を上書きします")
        try Confirmation.overwrite(fact, isGiven: isGiven)
    }
}
