// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu residence`
struct Residence: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "residence",
        abstract: tr("Read a residence card.", "在留カード・特別永住者証明書を読む。"),
        discussion: tr(
            """
            Without the number: the kind of card. With the number printed at the top right of the card (two letters, eight
            digits, two letters): everything on it. A wrong number locks nothing. Kazasu asks for it on the terminal, never as an argument.

            Cards issued before June 2026 have name, nationality and status only as a picture of their front. Residence cards
            inside a My Number card are recognized and not read. None of this was tried on a real card yet.

            --ca takes the ministry's certificates, DER or PEM. --check answers only whether the card is valid: 0 if its signature
            is valid, one of the ministry's authorities issued it, the typed number is the card's, and neither the card nor
            the period of stay has ended. See \(Documents.path("residence.md")).

            Examples:
              kazasu residence                            # asks for the number
              kazasu residence --number-from file:number --photo face.jp2
              kazasu residence --number-from file:number --ca authorities.pem --check
              kazasu residence --json --number-from file:number | jq -r .status.code
            """,
            """
            番号なし: カードの種類。カード右上の番号（英字 2、数字 8、英字 2）があれば、記録された内容すべて。
            番号を間違えてもカードは閉塞しません。番号は端末で尋ね、引数にはできません。

            2026 年 6 月より前のカードでは、氏名・国籍・在留資格は券面の画像にしかありません。マイナンバーカードと一体の
            在留カードは種類の判別だけを行います。いずれも実物のカードではまだ試していません。

            --ca には出入国在留管理庁の証明書（DER、PEM）を指定します。--check は有効かどうかだけを答えます。署名が正しく、
            同庁の認証局のもので、入力した番号のカードであり、カードの有効期間・在留期間とも過ぎていなければ 0 です。
            詳しくは \(Documents.path("residence.ja.md"))。

            例:
              kazasu residence                            # 番号を尋ねる
              kazasu residence --number-from file:number --photo face.jp2
              kazasu residence --number-from file:number --ca authorities.pem --check
              kazasu residence --json --number-from file:number | jq -r .status.code
            """))

    static let programAccess = CommandAccess.methods([
        .card(
            "card.residence", .get("residence"), needs: .ids, omitting: ["any-authority"], schema: "residence",
            LocalizedText(
                "What a residence card or a special permanent resident certificate says.", "在留カード・特別永住者証明書の記載。")),
        .card(
            "residence.check", .none(because: "the card's number is never taken from the network"),
            required: ["ca", "numberFrom"], fixed: ["--check"], schema: "check",
            LocalizedText("Whether a residence card is valid, and nothing else about it.", "在留カードが有効かどうかだけ。")),
    ])

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        reach: .secret, name: .customLong("number-from"),
        help: help(
            "Where to read the card's number: env:NAME, file:PATH or fd:NUMBER. Default: ask on the terminal.",
            "カード番号の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    var numberFrom: SecretSource?

    @Option(
        reach: .never, name: .long,
        help: help("Write the photo (JPEG 2000) to a file.", "写真（JPEG 2000）をファイルに書く。", value: "file"),
        completion: .file())
    var photo: String?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Write the picture of the front, or on newer cards of the name, to a file (TIFF).",
            "券面（表）の画像、新しいカードでは氏名の画像をファイルに書く（TIFF）。", value: "file"), completion: .file())
    var front: String?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Write the picture of the address to a file (TIFF; newer cards).", "住居地の画像をファイルに書く（TIFF、新しいカード）。",
            value: "file"), completion: .file())
    var addressImage: String?

    @Option(
        reach: .never, name: .joined("o"),
        help: help(
            "Save the data as a dump, which 'kazasu decode' shows again.",
            "読んだ内容をダンプとしてファイルに書く（'kazasu decode' で再び表示できる）。", value: "file"), completion: .file())
    var output: String?

    @Option(
        reach: .local, name: .customLong("ca"),
        help: help(
            "A trusted CA certificate (DER or PEM); may be repeated.",
            "署名を認める認証局の証明書（DER、PEM）。複数指定できる。", value: "file"), completion: .file())
    var authorityFiles: [String] = []

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Print only whether the card is valid, nothing personal; needs --ca.", "有効かどうかだけを表示し、個人情報は表示しない（--ca が必要）。")
    )
    var check = false

    @Flag(
        reach: .network, name: .long,
        help: help(
            "With --check, accept authorities that are not known as the ministry's.",
            "--check で、出入国在留管理庁のものと確認できない認証局も認める。",
            programs: LocalizedText(
                "Accept authorities that are not known as the ministry's.", "出入国在留管理庁のものと確認できない認証局も認める。")))
    var anyAuthority = false

    func validate() throws {
        try OutputEnding(output).check(isOneOf: ["json"])
        try SecretSource.validate(numberFrom, "--number-from")
        try DocumentCheck.validate(
            check, authorityFiles, writesPictures: photo != nil || front != nil || addressImage != nil)
        if anyAuthority, !check {
            throw ValidationError(tr("--any-authority belongs to --check", "--any-authority は --check と併用します"))
        }
    }

    func execute(_ context: Context) throws {
        let pictures = try PictureFiles(
            [
                ("--photo", photo, ["photo"]), ("--front", front, ["front", "name"]),
                ("--address-image", addressImage, ["address"]),
            ], context
        ) { path throws(CommandError) in try OutputFile(path) }
        let dumpFile = try output.map { path throws(CommandError) in try DumpOutput(path) }
        let authorities = try authorities(context)
        let given = try numberFrom.map { source throws(CommandError) in try number(from: source) }
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { session in
            let card = try session.find(.residence)
            if let given { return try card.residence(given) }
            // Nobody is asked about another card.
            try session.check(card, is: .residence, "residence")
            return try card.residence(asked(context))
        }
        let dump = result.dump.stamped(session)
        context.attempt { () throws(CommandError) in try dumpFile?.finish(dump, context) }
        let report = result.report
        let signature: CardSignature
        do throws(CryptoError) {
            let counting = check && !anyAuthority ? authorities.ministryOnly : authorities
            signature = try report.signature(of: dump, authorities: counting)
        } catch {
            throw CommandError(error)
        }
        if check { return try answer(report, signature, result.error, context) }
        var view = ResidenceView(report: report, signature: signature, redaction: context.redaction)
        if !report.type.isSpecified { view.paths = pictures.write(report, context) }
        try context.print(report, of: dump.card, view)
        if let error = result.error { throw CommandError(error) }
        if let failure = CommandError(signature, isAsked: !authorityFiles.isEmpty) { throw failure }
    }

    // MARK: Before the card

    private func number(from numberFrom: SecretSource) throws(CommandError) -> ResidenceNumber {
        let name = tr("the card's number", "カード番号")
        let text = try numberFrom.read(name, reason: "noNumber")
        guard let number = Self.number(text) else { throw Self.form }
        return number
    }

    private static func number(_ secret: SecretBytes) -> ResidenceNumber? {
        ResidenceNumber(secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    }

    private static var form: CommandError {
        CommandError(.documentCardNumberForm)
    }

    /// Asks until the number has the right form; an empty line reads what is free.
    private func asked(_ context: Context) throws(CommandError) -> ResidenceNumber? {
        guard let terminal = Terminal() else {
            let missing = CommandError(.documentNoCardNumber)
            if check { throw missing }
            if !context.json { context.note(missing.message) }
            return nil
        }
        let question = tr("Number at the top right of the card (press Enter to skip): ", "カード右上の番号（Enter で省略）: ")
        // The question says where it is printed.
        var form = Self.form
        form.hint = nil
        return try terminal.ask(question, tooLong: form) { text throws(CommandError) in
            guard let number = Self.number(text) else { throw form }
            return number
        }
    }

    private func authorities(_ context: Context) throws(CommandError) -> CertificateAuthorities {
        try CertificateAuthorities(paths: authorityFiles, context, areForResidence: true)
    }

    // MARK: Answering

    /// `--check`: one line without anything personal.
    private func answer(
        _ report: ResidenceReport, _ signature: CardSignature, _ error: KazasuError?, _ context: Context
    ) throws {
        if let error { throw CommandError(error) }
        var answer = DocumentCheck(signature)
        // Cards of the first generation have their dates only in a picture.
        answer.ends(report.type.generation == 2 ? report.validUntil : nil, DocumentCheck.expired)
        if report.type == .residence2, !report.isStayBlank {
            answer.ends(report.until, LocalizedText("the period of stay has ended", "在留期間が過ぎています"))
        }
        try answer.print(context)
    }
}

extension CertificateAuthorities {
    /// Reads the files of `--ca`.
    ///
    /// - Parameter areForResidence: whether those that are not known as the ministry's are named.
    init(paths: [String], _ context: Context, areForResidence: Bool) throws(CommandError) {
        var files: [[UInt8]] = []
        for path in paths { files.append(try Files.read(path, limit: CertificateList.longestFile)) }
        do throws(AuthorityError) {
            try self.init(files: files)
        } catch {
            throw CommandError(error, paths: paths)
        }
        for (path, list) in zip(paths, lists) {
            if let list { context.warn(of: list, path) }
        }
        if testAuthorities > 0 {
            context.warn(
                tr("the authority for test cards is left out: it proves nothing", "試験用カードの認証局は対象外です（何も証明しません）"))
        }
        // With --json, standard error is for one error alone.
        if areForResidence, !unlisted.isEmpty, !context.json {
            let names = unlisted.joined(separator: ", ")
            context.note(
                tr(
                    "\(names): not among the certificates that the Immigration Services Agency has published",
                    "出入国在留管理庁が公開している証明書ではありません: \(names)"))
        }
    }
}
