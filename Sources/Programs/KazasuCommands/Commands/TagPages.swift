// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu tag pages`
struct TagPages: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages",
        abstract: tr("Print the pages of a Type 2 Tag.", "Type 2 Tag のページを表示する。"),
        discussion: tr(
            """
            Prints PAGE HEX, one page of four bytes per line, with hexadecimal page numbers as in data sheets. With \
            --pages, only those pages are read (READ, 30), and a refused page ends the run with status 77. The key of an \
            Ultralight C or AES is used to authenticate and never sent; the password of an NTAG21x or Ultralight EV1 is sent once.

            Examples:
              kazasu tag pages
              kazasu tag pages --pages 0-3
              kazasu tag pages --pages 29,2A --json
              kazasu tag pages --key-from file:key.txt
              kazasu tag pages --password-from env:TAG_PASSWORD
            """,
            """
            1 行 1 ページ（4 バイト）で ページ 16進 を出力します。ページ番号はデータシートと同じ 16 進です。--pages を指定すると
            そのページだけを読み（READ、30）、拒否されると終了ステータス 77 になります。Ultralight C・AES の鍵は認証に使うだけで、送りません。
            NTAG21x と Ultralight EV1 のパスワードは 1 回だけ送ります。

            例:
              kazasu tag pages
              kazasu tag pages --pages 0-3
              kazasu tag pages --pages 29,2A --json
              kazasu tag pages --key-from file:key.txt
              kazasu tag pages --password-from env:TAG_PASSWORD
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "tag.pages", .get("tag/pages"), schema: "tagPages",
            LocalizedText("The pages of a Type 2 Tag.", "Type 2 タグのページ。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: TagKeyOptions
    @OptionGroup var passwordOptions: TagPasswordOptions

    @Option(
        reach: .network, name: .long,
        help: help("Page numbers, hexadecimal, as in 0-F or 4,29-2C.", "ページ番号（16 進。例: 0-F、4,29-2C）。", value: "pages"))
    var pages: PageRange?

    @Option(reach: .never, name: .long, help: help("Between the bytes of a page.", "バイトの間の区切り。"))
    var hexSeparator = HexSeparator.none

    func execute(_ context: Context) throws {
        let credential = try passwordOptions.credential(keyOptions, context)
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { try $0.find(.tag).tag(openedBy: credential).pages(pages?.numbers) }
        let (dump, error) = (result.dump, result.error)
        let read = (context.redaction.apply(dump).type2?.pages ?? [:]).sorted { $0.key < $1.key }
        if context.json {
            try context.print([
                "schema": "kazasu.tagPages/1", "card": context.redaction.apply(dump.card).json, "type": 2,
                "pages": .object(JSONObject(read.map { (Type2Dump.name(of: $0.key), .string($0.value.hexadecimal)) })),
            ])
        } else {
            try context.print(
                read.map { page, bytes in
                    "\(Type2Dump.name(of: page)) \(Hex.encode(bytes, uppercase: true, separator: hexSeparator.text))\n"
                }.joined())
        }
        switch error {
        case .reading(let interruption): throw CommandError(interruption, keepingWhatWasRead: true)
        case let error?: throw CommandError(error)
        case nil: return
        }
    }
}
