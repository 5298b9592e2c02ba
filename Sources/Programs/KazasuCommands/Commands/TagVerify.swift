// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import CardCrypto
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu tag verify`
struct TagVerify: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: tr("Check whether a tag is what it says.", "タグが本物か確かめる。"),
        discussion: tr(
            """
            Without a URL, checks the signature over the tag's UID with the public keys of NXP, ST and MIKRON. It shows that \
            the maker made a chip with this UID; a clone with a copied UID and signature would also pass. Status 0 only if \
            it is valid, 77 if it is not, 76 for a chip without one.

            With a URL that an NTAG 424 DNA made (SUN), checks that it was made with the key, and by which tag. The key has \
            32 hexadecimal digits; 64 are two keys, the one for the PICC data first. No reader is needed. The code in the URL \
            covers UID, counter and the part shown as covered; anybody can change the rest. --url-prefix checks how the URL \
            begins. The same URL is valid again and again unless --seen keeps the counters.

            Examples:
              kazasu tag verify
              kazasu tag verify --json | jq -r .originality.state
              kazasu tag verify "$URL" --key-from file:sun.key --seen counters.tsv
              kazasu tag verify "$URL" --key-from env:SUN_KEY --url-prefix "$SITE"
              kazasu tag verify "$URL" --key-from env:SUN_KEY --json | jq .counter
            """,
            """
            URL なしでは、タグの UID に対する署名を NXP・ST・MIKRON の公開鍵で検証します。この UID のチップをメーカーが作ったことは
            分かりますが、UID と署名を写した複製も通ります。署名が有効なら 0、無効なら 77、署名のないチップなら 76 で終わります。

            NTAG 424 DNA が作った URL（SUN）を指定すると、その鍵を持つどのタグが作ったものかを確かめます。鍵は 16 進 32 桁で、64 桁なら
            PICC データ用、ファイル用の順の 2 つの鍵です。リーダーは要りません。URL の認証コードが保証するのは UID、カウンター、「保証範囲」に
            表示する部分だけで、残りは誰でも書き換えられます。URL の始まりは --url-prefix で確かめられます。--seen でカウンターを記録しない
            かぎり、同じ URL は何度でも有効になります。

            例:
              kazasu tag verify
              kazasu tag verify --json | jq -r .originality.state
              kazasu tag verify "$URL" --key-from file:sun.key --seen counters.tsv
              kazasu tag verify "$URL" --key-from env:SUN_KEY --url-prefix "$SITE"
              kazasu tag verify "$URL" --key-from env:SUN_KEY --json | jq .counter
            """))

    static let programAccess = CommandAccess.methods([
        .card(
            "tag.verify", .get("tag/verify"), omitting: ["key-from", "after", "seen", "url-prefix"],
            schema: "tagVerify",
            LocalizedText(
                "Whether the maker signed the tag's UID; fails with notGenuine or noSignature if not.",
                "タグの UID にメーカーの署名があるかどうか。なければ notGenuine か noSignature で失敗する。")),
        .plain(
            "tag.verifyUrl", .none(because: "keys are never taken from the network"), argument: "url",
            required: ["url", "keyFrom"], schema: "sun",
            LocalizedText(
                "Whether an NTAG 424 DNA with this key made the URL (SUN); needs no reader.",
                "この鍵の NTAG 424 DNA が作った URL かどうか（SUN）。リーダーは不要。")),
    ])

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(reach: .network, help: help("A URL from an NTAG 424 DNA.", "NTAG 424 DNA が作った URL。"))
    var url: String?

    @Option(
        reach: .secret, name: .long,
        help: help(
            "The key of the URL's tag, 32 or 64 hexadecimal digits, from env:NAME, file:PATH or fd:NUMBER.",
            "URL を作ったタグの鍵（16 進 32 桁または 64 桁）。env:変数名、file:パス、fd:番号 から読む。", value: "source"))
    var keyFrom: SecretSource?

    @Option(
        reach: .network, name: .long,
        help: help(
            "Refuse a URL whose counter is not above this one.", "カウンターがこの値以下の URL を拒否する。", value: "count"))
    var after: UInt32?

    @Option(
        reach: .local, name: .long,
        help: help(
            "A file with the highest counter of each tag, made if missing: refuse a URL that is not newer.",
            "タグごとに最大のカウンターを記録するファイル（なければ作る）。それより新しくない URL を拒否する。", value: "file"),
        completion: .file())
    var seen: String?

    @Option(
        reach: .network, name: .long,
        help: help("Refuse a URL that begins otherwise.", "この文字列で始まらない URL を拒否する。", value: "url"))
    var urlPrefix: String?

    func validate() throws {
        try SecretSource.validate(keyFrom, "--key-from")
        let key = Caller.current.option("key-from")
        guard url == nil else {
            guard keyFrom != nil else {
                throw ValidationError(tr("a URL requires \(key)", "URL は \(key) と一緒に指定してください"))
            }
            guard urlPrefix?.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\/?#]+/) != nil || urlPrefix == nil else {
                let option = Caller.current.option("url-prefix")
                throw ValidationError(
                    tr(
                        "\(option) begins with scheme and host, as in https://example.com/",
                        "\(option) は https://example.com/ のように、スキームとホストから書いてください"))
            }
            return
        }
        let options = [
            (keyFrom != nil, "key-from"), (after != nil, "after"), (seen != nil, "seen"),
            (urlPrefix != nil, "url-prefix"),
        ]
        for (isGiven, option) in options where isGiven {
            let name = Caller.current.option(option)
            throw ValidationError(tr("\(name) requires a URL", "\(name) は URL と一緒に指定してください"))
        }
    }

    func execute(_ context: Context) throws {
        if let url, let keyFrom { return try check(url, keyFrom, context) }
        let session = try ReaderSession(readerOptions, context)
        let (card, type, product, result) = try closing(session) { session in
            let tag = try session.find(.tag).forumTag()
            return (tag.identity, tag.type, try tag.product(), try tag.originality())
        }
        if context.json {
            try context.print([
                "schema": "kazasu.tagVerify/1", "card": context.redaction.apply(card).json, "product": .text(product),
                "originality": result.json,
            ])
        } else {
            let rows = [product.map { [tr("Product", "製品"), $0] }, [tr("Signature", "署名"), result.message[.current]]]
            try context.print(
                Columns.values(rows.compactMap { $0 }) { _, value in
                    value == result.message[.current] ? result.state.color : nil
                })
        }
        if let failure = Self.failure(result, type) { throw failure }
    }

    /// Why the chip is not proved to be its maker's.
    ///
    /// - Parameter type: the tag's type; `nil` if it cannot hold a message.
    private static func failure(_ result: Originality, _ type: Int?) -> CommandError? {
        let message = result.message[.current]
        switch result.state {
        case .valid: return nil
        case .wrong:
            return CommandError(.originalityWrong, message)
        case .absent:
            return CommandError(type == 2 ? .originalityAbsentType2 : .originalityAbsent, message)
        case .unknownProduct:
            return CommandError(.originalityUnknownProduct, message)
        case .notChecked:
            switch result.obstacle {
            case .randomUID: return CommandError(.originalityRandomUID, message)
            case .reader:
                return CommandError(.originalityReader, message)
            case .library, nil:
                return CommandError(.originalityLibrary, message)
            }
        }
    }

    // MARK: Messages of NTAG 424 DNA

    private func check(_ url: String, _ source: SecretSource, _ context: Context) throws {
        let keys = try Self.keys(source)
        guard let message = SecureUniqueMessage(url: url) else {
            throw CommandError(.sunIncomplete)
        }
        let contents: SecureUniqueMessage.Contents?
        do throws(CryptoError) {
            contents = try message.contents(metaKey: keys.meta, fileKey: keys.file)
        } catch {
            throw CommandError(error)
        }
        guard let contents else {
            try answer(nil, .wrong, [], keys.areFactory, context)
            throw CommandError(.sunOtherKey)
        }
        guard let notCovered = message.partsNotCovered(contents, prefix: urlPrefix ?? "") else {
            try answer(nil, .wrong, [], keys.areFactory, context)
            throw CommandError(.sunOtherPrefix)
        }
        let isNew = try isNew(contents)
        try answer(contents, isNew ? .valid : .replayed, notCovered, keys.areFactory, context)
        guard isNew else {
            throw CommandError(.sunReplayed)
        }
        if keys.areFactory {
            context.warn(
                tr(
                    "this is the key that tags leave the factory with: anybody can make such a URL",
                    "これは出荷時の鍵です。同じ URL は誰にでも作れます"))
        }
        if !notCovered.isEmpty {
            context.note(
                tr(
                    "anybody can change the part that is not covered"
                        + (urlPrefix == nil ? "; --url-prefix checks how the URL begins" : ""),
                    "保証範囲外は誰でも書き換えられます"
                        + (urlPrefix == nil ? "（URL の始まりは --url-prefix で確かめられます）" : "")))
        }
    }

    /// Whether the counter is higher than those given and kept; keeps it then.
    private func isNew(_ contents: SecureUniqueMessage.Contents) throws(CommandError) -> Bool {
        guard after != nil || seen != nil else { return true }
        guard let counter = contents.counter else {
            throw CommandError(.sunNoCounter)
        }
        if let after, counter <= after { return false }
        guard let seen else { return true }
        return try SeenCounters.accept(counter, of: contents.uid, in: seen)
    }

    /// The results of a check; the raw values are those of documents.
    private enum State: String {
        case valid, wrong, replayed

        var words: String {
            switch self {
            case .valid: tr("valid", "有効")
            case .wrong: tr("wrong", "無効")
            case .replayed: tr("replayed", "使用済み")
            }
        }
    }

    /// Prints what the tag said.
    private func answer(
        _ contents: SecureUniqueMessage.Contents?, _ state: State, _ notCovered: [String], _ isFactoryKey: Bool,
        _ context: Context
    ) throws {
        let redaction = context.redaction
        if context.json {
            try context.print([
                "schema": "kazasu.sun/1",
                "uid": .text(contents.map { redaction.apply(Hex.encode($0.uid)) }),
                "counter": .optional(contents?.counter), "state": .string(state.rawValue),
                "covered": .text(contents.map { redaction.apply($0.covered) }),
                "notCovered": contents == nil
                    ? .null : .array(notCovered.map { .string(redaction.apply($0)) }),
                "factoryKey": .bool(isFactoryKey),
                "cipher": .text(contents.map { $0.isLRP ? "LRP" : "AES" }),
                "fileData": .text(contents?.fileData.flatMap { redaction.isOn ? nil : Hex.encode($0) }),
            ])
            return
        }
        guard let contents else { return }
        var rows = [
            [tr("State", "結果"), state.words], ["UID", redaction.apply(Hex.encode(contents.uid, uppercase: true))],
        ]
        if let counter = contents.counter { rows.append([tr("Counter", "カウンター"), "\(counter)"]) }
        if let data = contents.fileData, !redaction.isOn {
            rows.append([tr("File data", "ファイルデータ"), Hex.encode(data, uppercase: true)])
        }
        let own =
            contents.counter == nil ? tr("the UID only", "UID だけ") : tr("UID and counter only", "UID とカウンターだけ")
        rows.append([
            tr("Covered", "保証範囲"), contents.covered.isEmpty ? own : redaction.apply(contents.covered),
        ])
        for part in notCovered {
            rows.append([tr("Not covered", "保証範囲外"), redaction.apply(part)])
        }
        try context.print(Columns.values(rows))
    }

    /// The keys for the PICC data and for the file.
    private static func keys(
        _ source: SecretSource
    ) throws(CommandError) -> (meta: SecretBytes, file: SecretBytes, areFactory: Bool) {
        let text = try source.read(tr("the key", "鍵"), reason: "noKey")
        guard let bytes = TagKeyOptions.bytes(text), [16, 32].contains(bytes.count) else {
            throw CommandError(.sunKeyForm)
        }
        return bytes.withUnsafeBytes { bytes in
            (SecretBytes(bytes.prefix(16)), SecretBytes(bytes.suffix(16)), bytes.suffix(16).allSatisfy { $0 == 0 })
        }
    }
}
