// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu tag write`
struct TagWrite: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: tr("Write an NDEF message, or raw pages, to a tag.", "NDEF メッセージまたはページをタグに書く。"),
        discussion: tr(
            """
            Asks before overwriting a message; --yes skips the question, for scripts. The data is read back and compared. \
            An interrupted write never leaves half a message: the tag then has the old message, none, or one marked as \
            incomplete. Locked tags are refused before anything is written.

            Records are written in this order: URIs, texts, media types, external types. With --page, DATA is written \
            unchanged (WRITE, A2), four bytes per page; pages that cannot be restored (UID, locks, OTP, configuration) \
            require --permanent. Passwords and keys are not written.

            Examples:
              kazasu tag write --uri https://kazasu.example
              kazasu tag write --uri https://kazasu.example --title かざす --language ja
              kazasu tag write --external android.com:pkg=com.example.app --yes
              kazasu tag write --mime text/vcard=@card.vcf
              kazasu tag write --raw message.ndef
              kazasu tag write --page 8 DEADBEEF
              kazasu tag write --text hello --password-from file:password.txt
            """,
            """
            既存のメッセージを上書きする前に端末で確認します。スクリプトでは --yes で確認を省けます。書いた内容は読み返して照合します。
            書き込み順により、途中で離れてもメッセージが壊れることはなく、元のまま、空、または「書き込み途中」のいずれかになります。
            ロックされたタグには何も書きません。

            レコードは URI、テキスト、メディアタイプ、外部型の順に並びます。--page は DATA をそのまま書きます（WRITE、A2、1 ページ 4 バイト）。
            元に戻せないページ（UID、ロック、OTP、設定）には --permanent が必要です。パスワードと鍵は書きません。

            例:
              kazasu tag write --uri https://kazasu.example
              kazasu tag write --uri https://kazasu.example --title かざす --language ja
              kazasu tag write --external android.com:pkg=com.example.app --yes
              kazasu tag write --mime text/vcard=@card.vcf
              kazasu tag write --raw message.ndef
              kazasu tag write --page 8 DEADBEEF
              kazasu tag write --text hello --password-from file:password.txt
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "tag.write", .post("tag/write"), needs: .write, argument: "data", schema: "tagWrite",
            LocalizedText("Writes an NDEF message, or raw pages, to a tag.", "タグに NDEF メッセージかページを書き込む。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: TagKeyOptions
    @OptionGroup var passwordOptions: TagPasswordOptions
    @OptionGroup var message: TagMessageOptions

    @Option(
        reach: .network, name: .long,
        help: help("Write raw pages starting at this one (hexadecimal).", "このページ（16 進）から直接書く。", value: "page"))
    var page: PageArgument?

    @Argument(reach: .network, help: help("Bytes for --page, in hexadecimal.", "--page に書くバイト（16 進）。"))
    var data: String?

    @Flag(
        reach: .network, name: .long,
        help: help("Allow --page to write what cannot be undone.", "元に戻せないページへの --page を許す。"))
    var permanent = false

    @Flag(
        reach: .local, name: [.short, .long],
        help: help(
            "Do not ask before overwriting.", "上書きの確認をしない。",
            programs: LocalizedText(
                "Overwrite any tag, without a number in confirm.", "confirm の番号がなくても、置かれているタグに上書きする。")))
    var yes = false

    func validate() throws {
        if page == nil {
            let page = Caller.current.option("page")
            guard data == nil else {
                throw ValidationError(tr("DATA requires \(page)", "DATA は \(page) と一緒に指定してください"))
            }
            guard !permanent else {
                let permanent = Caller.current.option("permanent")
                throw ValidationError(tr("\(permanent) requires \(page)", "\(permanent) は \(page) と一緒に指定してください"))
            }
            guard message.ways == 1 else {
                // No request names a file.
                let raw = Caller.current == .commandLine ? ["raw"] : []
                let ways = (["uri", "text", "mime", "external"] + raw + ["empty"]).map { Caller.current.option($0) }
                throw ValidationError(
                    tr(
                        "nothing to write: use \(ways.joined(separator: ", ")) or \(page)",
                        "書く内容を指定してください: \(ways.joined(separator: "、"))、\(page)"))
            }
        } else {
            guard message.ways == 0 else {
                let page = Caller.current.option("page")
                throw ValidationError(tr("\(page) cannot be combined with a message", "\(page) とメッセージは同時に指定できません"))
            }
            _ = try pageBytes()
        }
    }

    func execute(_ context: Context) throws {
        let credential = try passwordOptions.credential(keyOptions, context)
        if page != nil { return try writePages(credential, context) }
        let bytes = try message.bytes()
        if !bytes.isEmpty {
            do throws(NDEFError) {
                _ = try NDEFMessage(decoding: bytes)
            } catch {
                throw CommandError(TagError.notAMessage(error))
            }
        }
        for uri in message.urisWithoutScheme {
            context.warn(
                tr(
                    "'\(uri)' has no scheme, so phones do not open it: did you mean https://\(uri)?",
                    "'\(uri)' にはスキーム（https: など）がないため、スマートフォンで開けません。https://\(uri) のことですか？"))
        }
        let session = try ReaderSession(readerOptions, context)
        let (number, old, card) = try closing(session) { session in
            let tag = try session.find(.tag).tag(openedBy: credential)
            try CommandHost.current?.check(tag.identity)
            let old = try tag.checkWriting(bytes)
            if old > 0 {
                try Confirmation.overwrite(
                    tr("the tag contains a message of \(Words.count(old, "byte"))", "タグには \(old) バイトのメッセージがあります"),
                    isGiven: yes)
            }
            try tag.writeNDEF(bytes)
            return (tag.type ?? 0, old, tag.identity)
        }
        if context.json {
            try context.print([
                "schema": "kazasu.tagWrite/1", "card": context.redaction.apply(card).json, "type": .int(number),
                "page": nil, "written": .int(bytes.count), "overwritten": .int(old), "verified": true,
            ])
        } else {
            context.note(
                tr("\(Words.count(bytes.count, "byte")) written and read back", "\(bytes.count) バイトを書き込み、照合しました"))
        }
    }

    // MARK: Raw pages

    private func pageBytes() throws(ValidationError) -> [[UInt8]] {
        guard let bytes = data.flatMap({ try? Hex.decode($0) }), !bytes.isEmpty,
            bytes.count.isMultiple(of: Type2Memory.pageSize), bytes.count <= 1024
        else {
            throw ValidationError(
                tr("DATA must be four bytes per page, in hexadecimal", "DATA は 1 ページにつき 4 バイトの 16 進で指定してください"))
        }
        return stride(from: 0, to: bytes.count, by: Type2Memory.pageSize).map {
            Array(bytes[$0..<$0 + Type2Memory.pageSize])
        }
    }

    private func writePages(_ credential: TagCredential?, _ context: Context) throws {
        guard let first = page?.number else { return }
        let pages = try pageBytes()
        let session = try ReaderSession(readerOptions, context)
        let card = try closing(session) { session in
            let tag = try session.find(.tag).tag(openedBy: credential)
            try CommandHost.current?.check(tag.identity)
            let last = first.addingReportingOverflow(UInt16(clamping: pages.count - 1))
            guard !last.overflow else { throw CommandError(TagError.refused(page: .max, nak: nil)) }
            try tag.checkWriting(pages: first...last.partialValue, isPermanent: permanent)
            try Confirmation.overwrite(
                tr("\(Words.count(pages.count, "page")) will be overwritten", "\(pages.count) ページを上書きします"),
                isGiven: yes)
            try tag.write(from: first, pages, isPermanent: permanent)
            return tag.identity
        }
        if context.json {
            try context.print([
                "schema": "kazasu.tagWrite/1", "card": context.redaction.apply(card).json, "type": 2,
                "page": .string(Type2Dump.name(of: first)), "written": .int(pages.count * Type2Memory.pageSize),
                "overwritten": nil, "verified": .bool(!permanent),
            ])
        } else {
            context.note(tr("\(Words.count(pages.count, "page")) written", "\(pages.count) ページを書き込みました"))
        }
    }
}
