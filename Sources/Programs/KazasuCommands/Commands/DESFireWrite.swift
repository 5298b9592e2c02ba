// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu desfire write`
struct DESFireWrite: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: tr("Write to a file, commit, read it back.", "ファイルに書き、確定し、読み返して照合する。"),
        discussion: tr(
            """
            Rights and size are checked first; what they do not allow is refused before anything is written. In a record file, \
            one new record is written. The commit is sent once: if its answer is lost, the file is read and the outcome \
            reported (status 74). A standard file has no commit, so a card that leaves early may keep a part of the data.

            Examples:
              kazasu desfire write F5A1C0:2 --hex CAFE77 --key-from file:key2 --key-number 2
            """,
            """
            まずアクセス権とサイズを調べ、許されない書き込みは何も書かずに断ります。レコードファイルには新しいレコードを 1 件追加します。
            確定コマンドは一度だけ送ります。応答が届かないときはファイルを読み、結果を報告します（ステータス 74）。標準ファイルには確定がないため、
            途中でカードが離れると一部だけ書かれることがあります。

            例:
              kazasu desfire write F5A1C0:2 --hex CAFE77 --key-from file:key2 --key-number 2
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "desfire.write", .post("desfire/write"), needs: .write, argument: "file",
            schema: "desfireWrite",
            LocalizedText("Writes to a file of a MIFARE DESFire.", "MIFARE DESFire のファイルに書き込む。")))

    /// The most bytes that one command writes.
    private static let longest = 8192

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(
        required: .absent, reach: .network, help: help("The file: AID:NUMBER.", "ファイル（AID:番号）。", value: "aid:number"))
    var file: DESFireFileArgument

    @Option(reach: .network, name: .long, help: help("Bytes in hexadecimal.", "16 進のバイト列。", value: "data"))
    var hex: String?

    @Option(
        reach: .secret, name: .long,
        help: help(
            "Where to read the bytes in hexadecimal: env:NAME, file:PATH or fd:NUMBER.",
            "16 進のバイト列の入力元: env:変数名、file:パス、fd:番号。", value: "source"))
    var dataFrom: SecretSource?

    @Option(
        reach: .network, name: .long,
        help: help("Where to begin in the file or record.", "ファイルやレコードの中の開始位置。", value: "offset"))
    var offset = 0

    @OptionGroup var keyOptions: DESFireKeyOptions

    func validate() throws {
        try SecretSource.validate(dataFrom, "--data-from")
        let (hexName, sourceName) = (Caller.current.option("hex"), Caller.current.option("data-from"))
        guard (hex == nil) != (dataFrom == nil) else {
            throw ValidationError(
                tr("use either \(hexName) or \(sourceName)", "\(hexName) か \(sourceName) のどちらか一方を指定してください"))
        }
        if let hex { _ = try bytes(hex) }
        guard (0...0xFF_FFFF).contains(offset) else {
            let name = Caller.current.option("offset")
            throw ValidationError(tr("\(name) is 0 to 16777215", "\(name) は 0～16777215 です"))
        }
    }

    private func bytes(_ text: String) throws(ValidationError) -> [UInt8] {
        guard let bytes = try? Hex.decode(text), (1...Self.longest).contains(bytes.count) else {
            throw ValidationError(
                tr("give 1 to 8192 bytes in hexadecimal", "1～8192 バイトを 16 進で指定してください"))
        }
        return bytes
    }

    private func content() throws -> [UInt8] {
        if let hex { return try bytes(hex) }
        let text = try dataFrom?.read(tr("the data", "データ"), reason: "noData")
        guard let bytes = text.flatMap({ TagKeyOptions.bytes($0) }), (1...Self.longest).contains(bytes.count) else {
            throw CommandError(.desfireDataForm)
        }
        return bytes.withUnsafeBytes { Array($0) }
    }

    func execute(_ context: Context) throws {
        let place = file.id
        let content = try content()
        let key = try keyOptions.key()
        let session = try ReaderSession(readerOptions, context)
        let (identity, isVerified) = try closing(session) { session in
            let card = try session.find(.desfire).desfire()
            try CommandHost.current?.check(card.identity, numberFrom: "poll")
            let isVerified = try card.write(
                content, to: place, at: offset, key: keyOptions.key(key, of: card.identity),
                method: keyOptions.auth?.method)
            return (card.identity, isVerified)
        }
        if context.json {
            try context.print([
                "schema": "kazasu.desfireWrite/1", "card": context.redaction.apply(identity).json,
                "aid": .string(place.application.description), "number": .int(Int(place.number)),
                "written": .int(content.count), "verified": .bool(isVerified),
            ])
        } else {
            let count = Words.count(content.count, "byte")
            context.note(
                isVerified
                    ? tr("\(count) written and read back", "\(content.count) バイトを書き込み、照合しました")
                    : tr(
                        "\(count) written; the key may not read the file, so they were not read back",
                        "\(content.count) バイトを書き込みました（この鍵では読めないため、照合していません）"))
        }
    }
}

/// `kazasu desfire value`
struct DESFireValue: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "value",
        abstract: tr("Add to or subtract from a value file.", "バリューファイルの値を増減する。"),
        discussion: tr(
            """
            Rights and limits are checked first. The card adds or subtracts, the change is committed once and read back. If the \
            answer to the commit is lost, the file is read and the outcome reported (status 74); nothing is sent twice.

            Examples:
              kazasu desfire value F5A1C0:3 --debit 120 --key-from file:key1 --key-number 1
              kazasu desfire value F5A1C0:3 --credit 500 --key-from file:key2 --key-number 2
            """,
            """
            まずアクセス権と範囲を調べます。増減はカードが計算し、一度だけ確定して読み返します。確定への応答が届かないときはファイルを読み、
            結果を報告します（ステータス 74）。同じ増減を二度送ることはありません。

            例:
              kazasu desfire value F5A1C0:3 --debit 120 --key-from file:key1 --key-number 1
              kazasu desfire value F5A1C0:3 --credit 500 --key-from file:key2 --key-number 2
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "desfire.value", .post("desfire/value"), needs: .write, argument: "file",
            schema: "desfireValue",
            LocalizedText("Adds to or subtracts from a value on a MIFARE DESFire.", "MIFARE DESFire の値を増減する。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(
        required: .absent, reach: .network, help: help("The file: AID:NUMBER.", "ファイル（AID:番号）。", value: "aid:number"))
    var file: DESFireFileArgument

    @Option(reach: .network, name: .long, help: help("Add this much.", "加える数。", value: "count"))
    var credit: Int32?

    @Option(reach: .network, name: .long, help: help("Subtract this much.", "引く数。", value: "count"))
    var debit: Int32?

    @OptionGroup var keyOptions: DESFireKeyOptions

    func validate() throws {
        guard (credit == nil) != (debit == nil), (credit ?? debit ?? 0) > 0 else {
            let (credit, debit) = (Caller.current.option("credit"), Caller.current.option("debit"))
            throw ValidationError(
                tr(
                    "give a number above 0 with either \(credit) or \(debit)",
                    "\(credit) か \(debit) のどちらか一方に 1 以上の数を指定してください"))
        }
    }

    func execute(_ context: Context) throws {
        let place = file.id
        let key = try keyOptions.key()
        let session = try ReaderSession(readerOptions, context)
        let (identity, value) = try closing(session) { session in
            let card = try session.find(.desfire).desfire()
            try CommandHost.current?.check(card.identity, numberFrom: "poll")
            let value = try card.change(
                place, by: credit ?? -(debit ?? 0), key: keyOptions.key(key, of: card.identity),
                method: keyOptions.auth?.method)
            return (card.identity, value)
        }
        if context.json {
            let shown = value.map { DESFireContents.value($0).member(context.redaction).value }
            try context.print([
                "schema": "kazasu.desfireValue/1", "card": context.redaction.apply(identity).json,
                "aid": .string(place.application.description), "number": .int(Int(place.number)),
                "value": shown ?? nil, "verified": .bool(value != nil),
            ])
        } else if let value {
            try context.print(DESFireContents.value(value).text(context.redaction))
        } else {
            context.note(
                tr(
                    "changed; the key may not read the value, so it was not read back",
                    "変更しました（この鍵では読めないため、照合していません）"))
        }
    }
}
