// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu tag`
struct Tag: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        abstract: tr("Read and write NFC Forum tags and NDEF.", "NFC フォーラムのタグと NDEF を読み書きする。"),
        discussion: tr(
            """
            Type 2 Tags (Ultralight, NTAG), Type 3 Tags (FeliCa) and Type 4 Tags (ISO 7816).

            Examples:
              kazasu tag info                                  # product, locks, message
              kazasu tag read                                  # one record a line
              kazasu tag write --uri https://kazasu.example    # write a link
              kazasu tag pages                                 # the memory of a Type 2 Tag
              kazasu tag verify                                # did NXP sign this chip?
              kazasu tag provision --plan plan.json --new-keys tag.keys --dry-run
            """,
            """
            Type 2 Tag（Ultralight、NTAG）、Type 3 Tag（FeliCa）、Type 4 Tag（ISO 7816）に対応しています。

            例:
              kazasu tag info                                  # 種類、ロック、メッセージ
              kazasu tag read                                  # 1 行 1 レコード
              kazasu tag write --uri https://kazasu.example    # リンクを書き込む
              kazasu tag pages                                 # Type 2 Tag のメモリー
              kazasu tag verify                                # NXP が署名したチップか
              kazasu tag provision --plan plan.json --new-keys tag.keys --dry-run
            """),
        subcommands: [
            TagInfo.self, TagRead.self, TagWrite.self, TagPages.self, TagVerify.self, TagProvisionCommand.self,
            TagResume.self,
            TagReset.self,
        ])
}

/// `kazasu tag info`
struct TagInfo: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: tr("Show the kind of tag and what can be done with it.", "タグの種類と、読み書きできる範囲を表示する。"),
        discussion: tr(
            """
            Prints the product, memory map, locked pages, password protection, counters, mirror, the maker's signature and \
            whether it is valid, and the NDEF message. Nothing is written. With the tag's password, or the key of an Ultralight \
            C or AES, pages that need it are read as well; with a key of an NTAG 424 DNA, its real UID, who may do what with its \
            files, and the message if this key may read it.

            Examples:
              kazasu tag info
              kazasu tag info --json | jq .type2.lockedPages
              kazasu tag info --key-from file:key.txt
              kazasu tag info --password-from file:password.txt
            """,
            """
            製品名、メモリー配置、ロック済みページ、パスワード保護、カウンター、ミラー、メーカーの署名とその検証結果、NDEF メッセージを
            表示します。何も書き込みません。パスワードや Ultralight C・AES の鍵があれば、それが必要なページも読みます。NTAG 424 DNA の鍵が
            あれば、本来の UID と各ファイルのアクセス権、その鍵で読めるメッセージも表示します。

            例:
              kazasu tag info
              kazasu tag info --json | jq .type2.lockedPages
              kazasu tag info --key-from file:key.txt
              kazasu tag info --password-from file:password.txt
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "tag.info", .get("tag/info"), schema: "tag",
            LocalizedText("The kind of tag, and what can be done with it.", "タグの種類と、できること。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: TagKeyOptions
    @OptionGroup var passwordOptions: TagPasswordOptions

    func execute(_ context: Context) throws {
        let credential = try passwordOptions.credential(keyOptions, context)
        let session = try ReaderSession(readerOptions, context)
        let tag = try closing(session) { try $0.find(.tag).tag(openedBy: credential).information() }
        let view = TagView(
            report: tag.report, originality: tag.originality, keyed: tag.keyed, redaction: context.redaction)
        let card = context.redaction.apply(tag.dump).card
        try context.print(
            "kazasu.tag/1", card: card.json,
            tag.members(Language.current, redact: context.redaction.isOn ? { context.redaction.apply($0) } : nil),
            else: Columns.values(TagInfo.rows(card) + view.rows) { _, value in
                view.originality.flatMap { value == $0.message[.current] ? $0.state.color : nil }
            })
        if let interruption = tag.interruption { throw CommandError(interruption, keepingWhatWasRead: true) }
    }

    /// The data that the reader obtained from the card.
    private static func rows(_ card: CardIdentity) -> [[String]] {
        var rows: [[String]] = []
        if let pmm = card.pmm { rows.append(["IC", CardNames.describe(ic: pmm)]) }
        if let sak = card.sak {
            let code = [sak].hexadecimal.uppercased()
            rows.append(card.atqa.map { ["ATQA, SAK", "\(FourDigits.text($0)), \(code)"] } ?? ["SAK", code])
        }
        if let ats = card.ats { rows.append(["ATS", ats.hexadecimal.uppercased()]) }
        return rows
    }
}

/// `kazasu tag read`
struct TagRead: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: tr("Show the NDEF message of a tag.", "タグの NDEF メッセージを表示する。"),
        discussion: tr(
            """
            Prints one record per line: number, type, contents. --raw writes the bytes of the message unchanged.

            Examples:
              kazasu tag read
              kazasu tag read --json | jq -r '.records[] | select(.kind == "uri").uri'
              kazasu tag read --raw message.ndef
              kazasu tag read --password-from file:password.txt
            """,
            """
            1 行 1 レコードで、番号、型、内容を表示します。--raw はメッセージのバイト列をそのまま書き出します。

            例:
              kazasu tag read
              kazasu tag read --json | jq -r '.records[] | select(.kind == "uri").uri'
              kazasu tag read --raw message.ndef
              kazasu tag read --password-from file:password.txt
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "tag.read", .get("tag/read"), schema: "tagMessage",
            LocalizedText("The NDEF message of a tag.", "タグの NDEF メッセージ。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: TagKeyOptions
    @OptionGroup var passwordOptions: TagPasswordOptions

    @Option(
        reach: .never, name: .long,
        help: help(
            "Write the message's bytes to a file, - for standard output.", "メッセージのバイト列をファイルに書く（- は標準出力）。",
            value: "file"), completion: .file())
    var raw: String?

    func validate() throws {
        guard common.json, raw == "-" else { return }
        throw ValidationError(
            tr("--json cannot be used with --raw -", "--json と --raw - は同時に指定できません"))
    }

    func execute(_ context: Context) throws {
        try context.check("--raw", isGiven: raw != nil)
        let file = try raw.map { path throws(CommandError) in try OutputFile(path) }
        let credential = try passwordOptions.credential(keyOptions, context)
        let session = try ReaderSession(readerOptions, context)
        let (number, area, card) = try closing(session) { session in
            let tag = try session.find(.tag).tag(openedBy: credential)
            return (tag.type ?? 0, try tag.readNDEF(), tag.identity)
        }
        if let file {
            try file.finish(area.message)
            if !context.json { return }
        }
        let view = NDEFView(area.message, context.redaction)
        if context.json {
            var document = JSONObject([
                ("schema", "kazasu.tagMessage/1"), ("card", context.redaction.apply(card).json), ("type", .int(number)),
            ])
            document["capacity"] = .int(area.capacity)
            document["writable"] = .bool(area.obstacle == nil)
            document.merge(view.members)
            if !context.redaction.isOn { document["message"] = .string(area.message.hexadecimal) }
            try context.print(.object(document))
        } else if view.failure == nil {
            try context.print(Columns.text(view.rows))
        }
        if let failure = view.failure { throw failure }
    }
}
