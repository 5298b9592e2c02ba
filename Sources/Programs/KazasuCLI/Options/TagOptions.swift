// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import ByteCodec
package import CardCiphers
package import Kazasu

/// The options for the key of an Ultralight C, Ultralight AES, NTAG 424 DNA or DESFire.
package struct TagKeyOptions: ParsableArguments {
    package init() {}

    @Option(
        reach: .secret, name: .long,
        help: help(
            "Authenticate with the key of an Ultralight C, Ultralight AES, NTAG 424 DNA or DESFire, 32 hexadecimal digits (DESFire also 16 or 48) from env:NAME, file:PATH or fd:NUMBER.",
            "Ultralight C・Ultralight AES・NTAG 424 DNA・DESFire を鍵で認証する。鍵は 16 進 32 桁（DESFire では 16 桁、48 桁も可）で、env:変数名、file:パス、fd:番号 から読む。",
            value: "source"))
    package var keyFrom: SecretSource?

    @Option(
        reach: .network, name: .long,
        help: help(
            "The number of the key: 0 to 4 of an NTAG 424 DNA, 0 (data) or 1 (UID) of an Ultralight AES, 0 to 13 of a DESFire.",
            "鍵の番号。NTAG 424 DNA は 0～4、Ultralight AES は 0（データ用）か 1（UID 用）、DESFire は 0～13。", value: "number"))
    package var keyNumber: KeyNumber?

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Use the password or key even if the tag may lock itself forever when it is wrong.",
            "間違えるとタグが永久にロックされるおそれがあっても、パスワードや鍵を使う。"))
    package var useLastTry = false

    @Flag(
        reach: .local, name: .long,
        help: help(
            "Use a password or key again that this tag did not accept before.", "前回このタグに拒否されたパスワードや鍵でも使う。"))
    package var retry = false

    package func validate() throws {
        try SecretSource.validate(keyFrom, "--key-from")
        guard keyNumber == nil || keyFrom != nil else {
            let (number, key) = (Caller.current.option("key-number"), Caller.current.option("key-from"))
            throw ValidationError(tr("\(number) requires \(key)", "\(number) は \(key) と一緒に指定してください"))
        }
    }

    /// The key and the rules for using it; `nil` when none was given.
    ///
    /// - Parameter otherKeys: whether keys of another kind were given, which may be tried again as well.
    /// - Throws: ``CommandError``, without the data that was read.
    package func credential(_ context: Context, otherKeys: Bool = false) throws(CommandError) -> TagCredential? {
        if !otherKeys || useLastTry { try checkRules(isGiven: keyFrom != nil, "key-from") }
        guard let keyFrom else { return nil }
        let text = try keyFrom.read(tr("the key", "鍵"), reason: "noKey")
        let number = keyNumber?.number ?? 0
        guard let bytes = TagKeyOptions.bytes(text) else { throw CommandError(.tagKeyForm) }
        if number <= TagKey.lastNumber, let key = TagKey(bytes, number: number) { return .key(key, rules(context)) }
        guard let key = DESFireKey(bytes, number: number) else { throw CommandError(.tagKeyForm) }
        return .desfire(key)
    }

    /// The rules for using a key or password.
    package func rules(_ context: Context) -> TagSecretRules {
        TagSecretRules(allowsLastTry: useLastTry, allowsRetry: retry, failures: TagPasswordFile(context))
    }

    /// Refuses rules without a secret that they are for.
    func checkRules(isGiven: Bool, _ options: String...) throws(CommandError) {
        let caller = Caller.current
        for (isSet, flag) in [(useLastTry, "use-last-try"), (retry, "retry")] where isSet && !isGiven {
            let name = caller.flag(flag)
            let names = options.map { caller.option($0) }.joined(separator: tr(" or ", " または "))
            throw CommandError(.tagRuleAlone, values: [name, names])
        }
    }

    /// A key's number on the tag.
    package struct KeyNumber: ExpressibleByArgument, Sendable {
        package static var example: LocalizedText? { LocalizedText("a number from 0 to 13", "0～13 の数字") }
        package static var pattern: String? { "^([0-9]|1[0-3])$" }

        package let number: UInt8

        package init?(argument: String) {
            guard let number = UInt8(argument), number <= 13 else { return nil }
            self.number = number
        }
    }

    /// The bytes of hexadecimal digits, packed or with spaces, colons, hyphens or `0x` before bytes. No copy of them
    /// stays behind.
    package static func bytes(_ text: SecretBytes) -> SecretBytes? {
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

    @Option(reach: .network, name: .long, help: help("A link or another URI.", "リンクなどの URI。", value: "uri"))
    package var uri: [String] = []

    @Option(
        reach: .network, name: .long,
        help: help("A title for the --uri, making it a smart poster.", "--uri のタイトル（スマートポスターになる）。", value: "text"))
    package var title: String?

    @Option(reach: .network, name: .long, help: help("A text.", "テキスト。", value: "text"))
    package var text: [String] = []

    @Option(
        reach: .network, name: .long,
        help: help("The language of texts and titles.", "テキストとタイトルの言語。", value: "code"))
    package var language = "en"

    @Option(
        reach: .network, name: .long,
        help: help(
            "Data of a media type: TYPE=TEXT or TYPE=@FILE.", "メディアタイプとデータ: 型=テキスト または 型=@ファイル。", value: "type=data"))
    package var mime: [TypedData] = []

    @Option(
        reach: .network, name: .long,
        help: help(
            "Data of an external type: TYPE=TEXT or TYPE=@FILE.", "外部型とデータ: 型=テキスト または 型=@ファイル。",
            value: "type=data"))
    package var external: [TypedData] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "A whole message as bytes from a file; - is standard input.", "メッセージ全体のバイト列をファイルから（- は標準入力）。",
            value: "file"), completion: .file())
    package var raw: String?

    @Flag(reach: .network, name: .long, help: help("Erase the message.", "メッセージのない状態にする。"))
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
                .messageUnencodable, error.reason.words, values: [Caller.current.optionList(of: "kazasu tag write")])
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
    package static var example: LocalizedText? { LocalizedText("TYPE=TEXT or TYPE=@FILE", "TYPE=TEXT、TYPE=@FILE") }

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
