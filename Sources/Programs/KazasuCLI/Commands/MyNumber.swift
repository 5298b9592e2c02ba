// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Kazasu

/// `kazasu mynumber`
struct MyNumber: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "mynumber",
        abstract: tr("Read a My Number card.", "マイナンバーカードを読む。"),
        discussion: tr(
            """
            Without a PIN: the kind of card, the tries left for each PIN, and three certificates.
            With the PIN of four digits for card information input (券面事項入力補助用):
            name, address, birth date and sex. The personal number is not read, and nothing is signed.

            Wrong PINs lock the card; the same PIN guard as in 'kazasu license' applies. See \(Documents.path("my-number.md")).

            Examples:
              kazasu mynumber --free
              kazasu mynumber                             # asks for the PIN
              kazasu mynumber --free --certificates certs
              kazasu mynumber --json --pin-from file:pin | jq -r .address
            """,
            """
            暗証番号なし: カードの種類、各暗証番号の残り回数、3 枚の証明書。券面事項入力補助用の暗証番号（数字 4 桁）で
            氏名・住所・生年月日・性別。個人番号は読みません。署名もしません。

            間違えると閉塞するため、'kazasu license' と同じ仕組みで誤送信を防ぎます。詳しくは \(Documents.path("my-number.ja.md"))。

            例:
              kazasu mynumber --free
              kazasu mynumber                             # 暗証番号を尋ねる
              kazasu mynumber --free --certificates certs
              kazasu mynumber --json --pin-from file:pin | jq -r .address
            """))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        name: .customLong("pin-from"),
        help: help(
            "Where to read the PIN (券面事項入力補助用): env:NAME, file:PATH or fd:NUMBER. Default: ask on the terminal.",
            "数字 4 桁の暗証番号（券面事項入力補助用）の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    var pinFrom: SecretSource?

    /// The former name of `--pin-from`, as licenses have it; still accepted.
    @Option(name: .customLong("pin1-from"), help: .hidden)
    var pin1From: SecretSource?

    private var source: SecretSource? { pinFrom ?? pin1From }

    @Flag(
        name: .long,
        help: help(
            "Send the PIN even if only one try is left or the number is unknown; asks for confirmation first.",
            "残り 1 回、または残り回数が不明でも照合する（先に端末で確認する）。"))
    var allowLastTry = false

    @Flag(name: .long, help: help("Read only what needs no PIN, without asking for one.", "暗証番号なしで読めるものだけを、尋ねずに読む。"))
    var free = false

    @Option(
        name: .long,
        help: help(
            "Write the certificates to this folder, as DER and PEM.", "証明書をこのフォルダーに書く（DER と PEM）。", value: "folder"),
        completion: .directory)
    var certificates: String?

    @Option(
        name: .joined("o"),
        help: help(
            "Save the data to a file for 'kazasu decode'; it contains no PIN.",
            "読んだ内容をファイルに書く（'kazasu decode' で読める。暗証番号は含まない）。", value: "file"), completion: .file())
    var output: String?

    func validate() throws {
        try OutputEnding(output).check(isOneOf: ["json"])
        try SecretSource.validate(pinFrom, "--pin-from")
        try SecretSource.validate(pin1From, "--pin1-from")
        if pinFrom != nil, pin1From != nil {
            throw ValidationError(
                tr("--pin1-from is the former name of --pin-from", "--pin1-from は --pin-from の以前の名前です"))
        }
        if free, source != nil {
            throw ValidationError(tr("--free cannot be combined with a PIN", "--free は暗証番号と併用できません"))
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--certificates", isGiven: certificates != nil)
        let dumpFile = try output.map { path throws(CommandError) in try DumpOutput(path) }
        let folder = try certificates.map { path throws(CommandError) in try CertificateFolder(path) }
        let given = try source.map { source throws(CommandError) in
            try source.readPIN(MyNumberPIN.cardInput.name[Language.current])
        }
        let dialog = PINDialog(context, allowLastTry: allowLastTry)
        let pins = free ? .none : dialog.source(given.map { [$0] } ?? [], options: ["--pin-from"])
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { try $0.find(.myNumber).myNumber(pins) }
        try dialog.check()
        let dump = result.dump.stamped(session)
        context.attempt { () throws(CommandError) in try dumpFile?.finish(dump, context) }
        var view = MyNumberView(report: result.report, redaction: context.redaction)
        for (file, der) in result.report.certificates {
            context.attempt { () throws(CommandError) in view.paths[file] = try folder?.write(der, file) }
        }
        if context.json {
            let card = context.redaction.card(dump.card, kind: "mynumber")
            var document = JSONObject([("schema", "kazasu.mynumber/1"), ("card", card)])
            document.merge(view.members)
            try context.print(.object(document))
        } else {
            try context.print(view.text)
        }
        if let error = result.error { throw MyNumber.failure(error) }
    }

    /// The error that ended it; a locked PIN is reset by the municipal office.
    private static func failure(_ error: KazasuError) -> CommandError {
        var failure = CommandError(error)
        if failure.reason == "pinLocked" {
            failure.hint = tr(
                "only the municipal office can unlock it; \(Caller.current.flag("free")) reads what needs no PIN",
                "解除できるのは市区町村の窓口だけです。暗証番号なしの項目は \(Caller.current.flag("free")) で読めます")
        }
        return failure
    }
}
