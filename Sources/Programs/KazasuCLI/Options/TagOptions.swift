// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import ByteCodec
package import CardCiphers
import Kazasu

/// The option for the key of a MIFARE Ultralight C.
package struct TagKeyOptions: ParsableArguments {
    package init() {}

    @Option(
        name: .long,
        help: help(
            "Authenticate with the key of an Ultralight C, 32 hexadecimal digits from env:NAME, file:PATH or fd:NUMBER.",
            "Ultralight C を鍵で認証する。鍵は 16 進 32 桁で、env:変数名、file:パス、fd:番号 から読む。", value: "source"))
    package var keyFrom: SecretSource?

    package func validate() throws {
        try SecretSource.validate(keyFrom, "--key-from")
    }

    /// The key; `nil` when none was given.
    ///
    /// - Throws: ``CommandError``, without the data that was read.
    package func key() throws(CommandError) -> TripleDESKey? {
        guard let keyFrom else { return nil }
        let text = try keyFrom.read(tr("the key", "鍵"), reason: "noKey")
        guard let bytes = TagKeyOptions.bytes(text), let key = try? TripleDESKey(bytes) else {
            throw CommandError(
                .usage, "badKey", tr("the key is not 32 hexadecimal digits", "鍵が 16 進 32 桁ではありません"),
                hint: tr(
                    "write it as NXP does, K1 before K2; from the factory it is 49454D4B41455242214E4143554F5946",
                    "NXP の表記（K1、K2 の順）で書いてください。出荷時は 49454D4B41455242214E4143554F5946 です"))
        }
        return key
    }

    /// The bytes of hexadecimal digits, packed or with spaces, colons, hyphens or `0x` before bytes. No copy of them
    /// stays behind.
    static func bytes(_ text: SecretBytes) -> SecretBytes? {
        var key: [UInt8] = []
        // Reserved so that it never moves and leaves a copy.
        key.reserveCapacity(text.count)
        defer { key.wipe() }
        var high: UInt8?
        let isWhole = text.withUnsafeBytes { characters in
            characters.allSatisfy { character in
                if let digit = Hex.value(of: character) {
                    if let first = high { key.append(first << 4 | digit) }
                    high = high == nil ? digit : nil
                    return true
                }
                if high == 0, character | 0x20 == 0x78 {
                    high = nil
                    return true
                }
                return high == nil && [0x20, 0x2D, 0x3A].contains(character)
            }
        }
        return isWhole && high == nil ? SecretBytes(key) : nil
    }
}

/// The options for the message to write.
package struct TagMessageOptions: ParsableArguments {
    package init() {}

    @Option(name: .long, help: help("A link or another URI.", "リンクなどの URI。", value: "uri"))
    package var uri: [String] = []

    @Option(
        name: .long,
        help: help("A title for the --uri, making it a smart poster.", "--uri のタイトル（スマートポスターになる）。", value: "text"))
    package var title: String?

    @Option(name: .long, help: help("A text.", "テキスト。", value: "text"))
    package var text: [String] = []

    @Option(
        name: .long,
        help: help("The language of texts and titles.", "テキストとタイトルの言語。", value: "code"))
    package var language = "en"

    @Option(
        name: .long,
        help: help(
            "Data of a media type: TYPE=TEXT or TYPE=@FILE.", "メディアタイプとデータ: 型=テキスト または 型=@ファイル。", value: "type=data"))
    package var mime: [TypedData] = []

    @Option(
        name: .long,
        help: help(
            "Data of an external type: TYPE=TEXT or TYPE=@FILE.", "外部型とデータ: 型=テキスト または 型=@ファイル。",
            value: "type=data"))
    package var external: [TypedData] = []

    @Option(
        name: .long,
        help: help(
            "A whole message as bytes from a file; - is standard input.", "メッセージ全体のバイト列をファイルから（- は標準入力）。",
            value: "file"), completion: .file())
    package var raw: String?

    @Flag(name: .long, help: help("Erase the message.", "メッセージのない状態にする。"))
    package var empty = false

    /// The number of ways used to give the message: records, `--raw`, `--empty`.
    package var ways: Int {
        (uri.isEmpty && text.isEmpty && mime.isEmpty && external.isEmpty ? 0 : 1) + (raw == nil ? 0 : 1)
            + (empty ? 1 : 0)
    }

    package func validate() throws {
        if ways > 1 {
            throw ValidationError(
                raw == nil
                    ? tr(
                        "use only one of records and \(Caller.current.option("empty"))",
                        "レコードと \(Caller.current.option("empty")) はどちらか一方にしてください")
                    : tr("use only one of records, --raw and --empty", "レコード、--raw、--empty のどれか 1 つにしてください"))
        }
        if title != nil, uri.count != 1 {
            let (title, uri) = (Caller.current.option("title"), Caller.current.option("uri"))
            throw ValidationError(tr("\(title) requires exactly one \(uri)", "\(title) は \(uri) 1 つと一緒に指定してください"))
        }
    }

    /// The URIs without a scheme (RFC 3986, section 3.1), which no phone opens.
    package var urisWithoutScheme: [String] {
        uri.filter { $0.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:/) == nil }
    }

    /// The bytes of the message.
    package func bytes() throws(CommandError) -> [UInt8] {
        if empty { return [] }
        if let raw { return try Files.read(raw) }
        do {
            return try NDEFMessage(records()).encoded()
        } catch let error as NDEFError {
            throw CommandError(
                .usage, "usage", error.reason.words, hint: Caller.current.optionList(of: "kazasu tag write"))
        } catch let failure as CommandError {
            throw failure
        } catch {
            throw CommandError.bug("\(error)")
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

/// A record's type and data as a user types them. `text/plain=hello` or `text/vcard=@card.vcf`, `@-` for standard
/// input.
package struct TypedData: ExpressibleByArgument, Equatable, Sendable {
    package var type: String
    private var text: String

    package init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, (1...255).contains(parts[0].utf8.count),
            parts[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        type = String(parts[0])
        text = String(parts[1])
    }

    /// The data, read from the file where one is named.
    package func data() throws(CommandError) -> [UInt8] {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try Files.read(String(text.dropFirst()))
    }
}
