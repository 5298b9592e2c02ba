// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ByteCodec
import CardCiphers
import CardCrypto
import Kazasu

/// `kazasu tag verify`
struct TagVerify: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: tr("Check whether a tag is what it says.", "タグが本物か確かめる。"),
        discussion: tr(
            """
            Without a URL, checks the signature over the tag's UID with the public keys of NXP, ST and MIKRON. It shows that \
            the maker made a chip with this UID; a copy of UID and signature passes, too. Status 0 only if it is valid, 77 \
            if it is not, 76 for a chip without one.

            With a URL that an NTAG 424 DNA made (SUN), checks that it was made with the key, and by which tag. The key has \
            32 hexadecimal digits; 64 are two keys, that for the PICC data first. No reader is needed. The same URL passes \
            again and again: keep the counter, and give it as --after next time.

            Examples:
              kazasu tag verify
              kazasu tag verify --json | jq -r .originality.state
              kazasu tag verify "$URL" --key-from file:sun.key
              kazasu tag verify "$URL" --key-from env:SUN_KEY --after 5 --json | jq .counter
            """,
            """
            URL なしでは、タグの UID に対する署名を NXP・ST・MIKRON の公開鍵で検証します。この UID のチップをメーカーが作ったことは
            分かりますが、UID と署名を写した複製も通ります。署名が有効なら 0、無効なら 77、署名のないチップなら 76 で終わります。

            NTAG 424 DNA が作った URL（SUN）を指定すると、その鍵を持つどのタグが作ったものかを確かめます。鍵は 16 進 32 桁で、64 桁なら
            PICC データ用、ファイル用の順の 2 つの鍵です。リーダーは要りません。同じ URL は何度でも通るので、カウンターを保存して次回
            --after に指定してください。

            例:
              kazasu tag verify
              kazasu tag verify --json | jq -r .originality.state
              kazasu tag verify "$URL" --key-from file:sun.key
              kazasu tag verify "$URL" --key-from env:SUN_KEY --after 5 --json | jq .counter
            """))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(help: help("A URL from an NTAG 424 DNA.", "NTAG 424 DNA が作った URL。"))
    var url: String?

    @Option(
        name: .long,
        help: help(
            "The key of the URL's tag, 32 or 64 hexadecimal digits, from env:NAME, file:PATH or fd:NUMBER.",
            "URL を作ったタグの鍵（16 進 32 桁または 64 桁）。env:変数名、file:パス、fd:番号 から読む。", value: "source"))
    var keyFrom: SecretSource?

    @Option(
        name: .long,
        help: help(
            "Refuse a URL whose counter is not above this one.", "カウンターがこの値以下の URL を拒否する。", value: "count"))
    var after: UInt32?

    func validate() throws {
        try SecretSource.validate(keyFrom, "--key-from")
        let (key, counter) = (Caller.current.option("key-from"), Caller.current.option("after"))
        guard url == nil else {
            guard keyFrom != nil else {
                throw ValidationError(tr("a URL requires \(key)", "URL は \(key) と一緒に指定してください"))
            }
            return
        }
        for (isGiven, name) in [(keyFrom != nil, key), (after != nil, counter)] where isGiven {
            throw ValidationError(tr("\(name) requires a URL", "\(name) は URL と一緒に指定してください"))
        }
    }

    func execute(_ context: Context) throws {
        if let url, let keyFrom { return try check(url, keyFrom, context) }
        let session = try ReaderSession(readerOptions, context)
        let (card, product, result) = try closing(session) { session in
            let tag = try session.find(.tag).forumTag()
            return (tag.identity, try tag.product(), try tag.originality())
        }
        if context.json {
            try context.print([
                "schema": "kazasu.tagVerify/1", "card": context.redaction.apply(card).json, "product": .text(product),
                "originality": result.json,
            ])
        } else {
            let rows = [product.map { [tr("Product", "製品"), $0] }, [tr("Signature", "署名"), result.message[.current]]]
            try context.print(Columns.text(rows.compactMap { $0 }))
        }
        if let failure = Self.failure(result) { throw failure }
    }

    /// Why the chip is not proved to be its maker's.
    private static func failure(_ result: Originality) -> CommandError? {
        let message = result.message[.current]
        switch result.state {
        case .valid: return nil
        case .wrong:
            return CommandError(
                .refused, "notGenuine", message,
                hint: tr("compare it with a tag from a maker's distributor", "正規の流通品と比べてください"))
        case .absent:
            return CommandError(
                .otherCard, "noSignature", message,
                hint: tr(
                    "Ultralight, Ultralight C, NTAG203 and MIFARE Classic have none, and many copies give zeros",
                    "Ultralight、Ultralight C、NTAG203、MIFARE Classic にはありません。複製品にもゼロを返すものがあります"))
        case .unknownProduct:
            return CommandError(
                .otherCard, "unknownProduct", message,
                hint: tr("please report its product and version", "製品名とバージョンをお知らせください"))
        case .notChecked:
            switch result.obstacle {
            case .randomUID: return CommandError(.otherCard, "randomUID", message, hint: Remedy.identify)
            case .reader:
                return CommandError(
                    .noReader, "unsupported", message,
                    hint: tr("use another reader: 'kazasu readers' lists them", "別のリーダーを使ってください: 'kazasu readers'"))
            case .library, nil:
                return CommandError(.noReader, "unsupported", message, hint: Remedy.installOpenSSL)
            }
        }
    }

    // MARK: Messages of NTAG 424 DNA

    private func check(_ url: String, _ source: SecretSource, _ context: Context) throws {
        let keys = try Self.keys(source)
        guard let message = SecureUniqueMessage(url: url) else {
            throw CommandError(
                .usage, "notSUN",
                tr(
                    "the URL is not a complete message of an NTAG 424 DNA", "NTAG 424 DNA が作った URL としては不完全です"),
                hint: tr(
                    "it needs 32 or 48 digits of PICC data, or UID (14) and counter (6), and 16 digits of MAC at the end",
                    "PICC データ（32 桁か 48 桁）または UID（14 桁）とカウンター（6 桁）に続けて、最後に MAC（16 桁）が必要です"))
        }
        let contents: SecureUniqueMessage.Contents?
        do throws(CryptoError) {
            contents = try message.contents(metaKey: keys.meta, fileKey: keys.file)
        } catch {
            throw CommandError(error)
        }
        let isReplayed = contents.map { contents in after.map { (contents.counter ?? 0) <= $0 } ?? false } ?? false
        let state = contents == nil ? "wrong" : isReplayed ? "replayed" : "valid"
        let redaction = context.redaction
        if context.json {
            try context.print([
                "schema": "kazasu.sun/1",
                "uid": .text(contents.map { redaction.apply(Hex.encode($0.uid)) }),
                "counter": .optional(contents?.counter), "state": .string(state),
                "factoryKey": .bool(keys.areFactory),
                "cipher": .text(contents.map { $0.isLRP ? "LRP" : "AES" }),
                "fileData": .text(contents?.fileData.flatMap { redaction.isOn ? nil : Hex.encode($0) }),
            ])
        } else if let contents {
            var rows = [["UID", redaction.apply(Hex.encode(contents.uid, uppercase: true))]]
            if let counter = contents.counter { rows.append([tr("Counter", "カウンター"), "\(counter)"]) }
            if let data = contents.fileData, !redaction.isOn {
                rows.append([tr("File data", "ファイルデータ"), Hex.encode(data, uppercase: true)])
            }
            try context.print(Columns.text(rows))
        }
        if state == "valid", keys.areFactory {
            context.warn(
                tr(
                    "this is the key that tags leave the factory with: anybody can make such a URL",
                    "これは出荷時の鍵です。同じ URL は誰にでも作れます"))
        }
        switch state {
        case "valid": return
        case "replayed":
            throw CommandError(
                .refused, "replayed", tr("this URL was used before", "この URL は使用済みです"),
                hint: tr("read the tag again for a new one", "タグをもう一度読み取って、新しい URL を使ってください"))
        default:
            throw CommandError(
                .refused, "notGenuine",
                tr("no tag with this key made this URL", "この鍵を持つタグが作った URL ではありません"),
                hint: tr(
                    "the key may be another tag's, or two keys are needed: that for the PICC data, then that for the file",
                    "別のタグの鍵か、PICC データ用とファイル用の 2 つの鍵が必要な可能性があります"))
        }
    }

    /// The keys for the PICC data and for the file.
    private static func keys(
        _ source: SecretSource
    ) throws(CommandError) -> (meta: SecretBytes, file: SecretBytes, areFactory: Bool) {
        let text = try source.read(tr("the key", "鍵"), reason: "noKey")
        guard let bytes = TagKeyOptions.bytes(text), [16, 32].contains(bytes.count) else {
            throw CommandError(
                .usage, "badKey",
                tr("the key is not 32 hexadecimal digits, or 64 for two keys", "鍵が 16 進 32 桁（2 つなら 64 桁）ではありません"),
                hint: tr(
                    "with two keys, that for the PICC data (SDMMetaReadKey) comes first",
                    "2 つのときは、PICC データ用（SDMMetaReadKey）が先です"))
        }
        return bytes.withUnsafeBytes { bytes in
            (SecretBytes(bytes.prefix(16)), SecretBytes(bytes.suffix(16)), bytes.suffix(16).allSatisfy { $0 == 0 })
        }
    }
}
