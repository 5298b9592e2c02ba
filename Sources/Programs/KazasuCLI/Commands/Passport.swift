// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardCiphers
import Kazasu

/// `kazasu passport`
struct Passport: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "passport",
        abstract: tr("Read a passport.", "パスポートを読む。"),
        discussion: tr(
            """
            Document number, birth date and expiry open the chip (BAC). They are asked for on the terminal, never an argument;
            --mrz-from reads them as NUMBER,YYMMDD,YYMMDD or as the two lines printed at the bottom of the page. Wrong ones are
            not counted. Passports that open by PACE only are recognized and not read. This was not tried on a real passport yet.

            --ca takes country certificates (DER, PEM) or a master list, such as the one of the German BSI: the signature then
            says whether the data is as that country signed it, not whether the chip is a copy. See \(Documents.path("passport.md")).

            Examples:
              kazasu passport                             # asks for number and dates
              kazasu passport --mrz-from file:mrz --photo face.jpg
              kazasu passport --mrz-from file:mrz --ca countries.pem
              kazasu passport --json --mrz-from file:mrz | jq -r .expiryDate
            """,
            """
            旅券番号・生年月日・有効期間満了日で IC を開きます（BAC）。端末で尋ね、引数にはできません。--mrz-from では
            「旅券番号,YYMMDD,YYMMDD」または顔写真ページ下部の 2 行を読みます。間違えても回数は数えられません。
            PACE でしか開けない旅券は判別だけを行います。実物の旅券ではまだ試していません。

            --ca には国の証明書（DER、PEM）またはマスターリスト（ドイツ BSI など）を指定します。署名の検証で分かるのは、
            内容がその国の署名どおりかどうかです。IC が複製でないことは分かりません。詳しくは \(Documents.path("passport.ja.md"))。

            例:
              kazasu passport                             # 旅券番号と日付を尋ねる
              kazasu passport --mrz-from file:mrz --photo face.jpg
              kazasu passport --mrz-from file:mrz --ca countries.pem
              kazasu passport --json --mrz-from file:mrz | jq -r .expiryDate
            """))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        name: .customLong("mrz-from"),
        help: help(
            "Where to read number, birth date and expiry: env:NAME, file:PATH or fd:NUMBER. Default: ask on the terminal.",
            "旅券番号・生年月日・有効期間満了日の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    var zoneFrom: SecretSource?

    @Option(
        name: .long,
        help: help(
            "Write the photo (JPEG or JPEG 2000) to a file.", "顔写真（JPEG または JPEG 2000）をファイルに書く。",
            value: "file"), completion: .file())
    var photo: String?

    @Option(
        name: .customLong("ca"),
        help: help(
            "Country certificates whose signatures count, DER, PEM or a master list; may be repeated.",
            "署名を認める国の証明書（DER、PEM、マスターリスト）。複数指定できる。", value: "file"), completion: .file())
    var authorityFiles: [String] = []

    func validate() throws {
        try SecretSource.validate(zoneFrom, "--mrz-from")
    }

    func execute(_ context: Context) throws {
        try context.check("--photo", isGiven: photo != nil)
        let photoFile = try photo.map { path throws(CommandError) in try OutputFile(picture: path) }
        let authorities = try CertificateAuthorities(paths: authorityFiles, context, areForResidence: false)
        let key = try key()
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { try $0.find(.passport).passport(key) }
        let dump = result.dump.stamped(session)
        let signature: CardSignature
        do throws(CryptoError) {
            signature = try result.report.signature(of: dump, authorities: authorities, at: JapaneseTime.utc)
        } catch {
            throw CommandError(error)
        }
        var view = PassportView(report: result.report, signature: signature, redaction: context.redaction)
        if let photoFile { write(photoFile, context, &view) }
        let card = context.redaction.card(dump.card, kind: .passport)
        try context.print("kazasu.passport/1", card: card, view.members, else: view.text)
        if let error = result.error { throw CommandError(error) }
        let page = LocalizedText(Documents.path("passport.md"), Documents.path("passport.ja.md"))
        if let failure = CommandError(signature, page: page) { throw failure }
    }

    private func write(_ file: OutputFile, _ context: Context, _ view: inout PassportView) {
        guard let bytes = view.report.photo else {
            context.note(
                tr(
                    "\(file.path): the passport has no photo, or it was not read; no file was written",
                    "\(file.path): 顔写真がないか読めなかったため、ファイルは書いていません"))
            return
        }
        if file.finish(picture: bytes, context) { view.path = file.path }
    }

    // MARK: What opens it

    private func key() throws(CommandError) -> PassportKey {
        guard let zoneFrom else { return try asked() }
        let name = tr("the machine-readable zone", "機械読取領域")
        let text = try zoneFrom.read(name, reason: "noNumber", longest: 100) { text in
            Self.key(text) != nil || text.count { $0 == UInt8(ascii: "\n") } >= 2
        }
        guard let key = text.withUnsafeBytes({ Self.key($0) }) else { throw Self.form }
        return key
    }

    /// Of several lines all, or only the first.
    private static func key(_ text: some Collection<UInt8>) -> PassportKey? {
        PassportKey(String(decoding: text, as: UTF8.self))
            ?? PassportKey(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    private static var form: CommandError {
        CommandError(
            .refused, "numberForm",
            tr(
                "not number, birth date and expiry of a passport, or a check digit does not fit; nothing was sent",
                "旅券番号・生年月日・有効期間満了日の形式ではないか、検査数字が合いません。旅券には送っていません"),
            hint: tr(
                "write NUMBER,YYMMDD,YYMMDD, or the two lines printed at the bottom of the page as they are",
                "「旅券番号,YYMMDD,YYMMDD」、または顔写真ページ下部の 2 行をそのまま書いてください"))
    }

    /// Asks until the answer has the right form.
    private func asked() throws(CommandError) -> PassportKey {
        let missing = CommandError(
            .usage, "noNumber",
            tr(
                "number, birth date and expiry could not be asked for: no terminal",
                "対話できる端末ではないため旅券番号などを尋ねられません"),
            hint: tr(
                "\(Caller.current.option("mrz-from")) gives them", "\(Caller.current.option("mrz-from")) で指定できます"))
        guard let terminal = Terminal() else { throw missing }
        var objection = ""
        while true {
            let question = tr(
                "Number, birth date and expiry (NUMBER,YYMMDD,YYMMDD), or the second line at the bottom of the page: ",
                "旅券番号,生年月日,有効期間満了日（番号,YYMMDD,YYMMDD）、または顔写真ページの最下行: ")
            switch try terminal.line(objection + question) {
            case .empty: throw .cancelled()
            case .tooLong: break
            case .secret(let text):
                if let key = text.withUnsafeBytes({ Self.key($0) }) { return key }
            }
            objection = Self.form.message + "\n"
        }
    }
}
