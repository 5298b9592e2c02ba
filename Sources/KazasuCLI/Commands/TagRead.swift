// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import CardReading
import NFCForumTags

/// `kazasu tag read`
struct TagRead: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: tr("Show the NDEF message of a tag.", "タグの NDEF メッセージを表示する。"),
        discussion: tr(
            """
            One record a line: number, type, what it says. --raw writes the bytes of the message as they are.

            Examples:
              kazasu tag read
              kazasu tag read --json | jq -r '.records[] | select(.kind == "uri").uri'
              kazasu tag read --raw message.ndef
            """,
            """
            1 行 1 レコードで、番号、型、内容を表示します。--raw はメッセージのバイト列をそのまま書き出します。

            例:
              kazasu tag read
              kazasu tag read --json | jq -r '.records[] | select(.kind == "uri").uri'
              kazasu tag read --raw message.ndef
            """))

    @OptionGroup var common: CommonOptions
    @OptionGroup var readerOptions: ReaderOptions
    @OptionGroup var keyOptions: TagKeyOptions

    @Option(
        name: .long,
        help: help(
            "Write the message's bytes to a file, - for standard output.", "メッセージのバイト列をファイルに書く（- は標準出力）。",
            value: "file"))
    var raw: String?

    func execute(_ context: Context) throws {
        let file = try raw.map { path throws(Failure) in try OutputFile(path) }
        let key = try keyOptions.key()
        let session = try ReaderSession(readerOptions, context)
        let (number, area) = try closing(session) { session throws in
            guard let tag = try session.findTag(key).ndef else { throw Failure(TagError.noNDEF(.notFormatted)) }
            do throws(TagError) {
                return (tag.typeNumber, try tag.readNDEF())
            } catch {
                throw Failure(error)
            }
        }
        if let file {
            try file.finish(area.message)
            return
        }
        let view = NDEFView(area.message, context.redaction)
        if context.json {
            var document = JSONObject([("schema", "kazasu.tag/1"), ("type", .int(number))])
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
