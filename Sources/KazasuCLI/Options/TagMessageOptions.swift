// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import NDEF

/// What message is to be written.
struct TagMessageOptions: ParsableArguments {
    @Option(name: .long, help: help("A link or another URI.", "リンクなどの URI。", value: "uri"))
    var uri: [String] = []

    @Option(
        name: .long,
        help: help("A title for the one --uri: a smart poster.", "--uri のタイトル（スマートポスターになる）。", value: "text"))
    var title: String?

    @Option(name: .long, help: help("A text.", "テキスト。", value: "text"))
    var text: [String] = []

    @Option(
        name: .long,
        help: help("The language of texts and titles.", "テキストとタイトルの言語。", value: "code"))
    var language = "en"

    @Option(
        name: .long,
        help: help(
            "Data of a media type: TYPE=TEXT or TYPE=@FILE.", "メディアタイプとデータ: 型=テキスト または 型=@ファイル。", value: "type=data"))
    var mime: [TypedData] = []

    @Option(
        name: .long,
        help: help(
            "Data of an external type: TYPE=TEXT or TYPE=@FILE.", "外部型とデータ: 型=テキスト または 型=@ファイル。",
            value: "type=data"))
    var external: [TypedData] = []

    @Option(
        name: .long,
        help: help(
            "The bytes of a whole message from a file, - for standard input.", "メッセージ全体のバイト列をファイルから（- は標準入力）。",
            value: "file"))
    var raw: String?

    @Flag(name: .long, help: help("Leave the tag without a message.", "メッセージのない状態にする。"))
    var empty = false

    /// How many of the ways to say the message were used: records, `--raw`, `--empty`.
    var ways: Int {
        (uri.isEmpty && text.isEmpty && mime.isEmpty && external.isEmpty ? 0 : 1) + (raw == nil ? 0 : 1)
            + (empty ? 1 : 0)
    }

    func validate() throws {
        if ways > 1 {
            throw ValidationError(
                tr("give either records, or --raw, or --empty", "レコード、--raw、--empty のどれか 1 つにしてください"))
        }
        if title != nil, uri.count != 1 {
            throw ValidationError(tr("--title goes with one --uri", "--title は --uri 1 つと一緒に指定してください"))
        }
    }

    /// The bytes of the message.
    func bytes() throws(Failure) -> [UInt8] {
        if empty { return [] }
        if let raw { return try Files.read(raw) }
        do {
            return try NDEFMessage(records()).encoded()
        } catch let error as NDEFError {
            throw Failure(
                .usage, "usage", error.reason.message[Language.current], hint: "kazasu tag write --help")
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure.bug("\(error)")
        }
    }

    /// The records: links first, as phones look at the first record.
    private func records() throws -> [NDEFRecord] {
        var records: [NDEFRecord] = []
        for uri in uri {
            if let title {
                let poster = NDEFSmartPoster(NDEFURI(uri), titles: [NDEFText(title, language: language)])
                records.append(try NDEFRecord(.smartPoster(poster)))
            } else {
                records.append(try NDEFRecord(.uri(NDEFURI(uri))))
            }
        }
        for text in text { records.append(try NDEFRecord(.text(NDEFText(text, language: language)))) }
        for item in mime { records.append(try NDEFRecord(.mime(type: item.type, data: item.data()))) }
        for item in external { records.append(try NDEFRecord(.external(type: item.type, data: item.data()))) }
        return records
    }
}
