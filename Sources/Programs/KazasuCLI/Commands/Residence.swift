// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardCiphers
import Kazasu

/// `kazasu residence`
struct Residence: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "residence",
        abstract: tr("Read a residence card.", "在留カード・特別永住者証明書を読む。"),
        discussion: tr(
            """
            Without the number: the kind of card. With the number printed at the top right of the card (two letters, eight
            digits, two letters): everything on it. The number locks nothing; it is asked for on the terminal, never an argument.

            Cards issued before June 2026 have name, nationality and status only as a picture of their front. Residence cards
            inside a My Number card are recognized and not read. None of this was tried on a real card yet.

            --ca takes the ministry's certificates, DER or PEM. --check answers only whether the card is valid: 0 if its signature
            is right, one of these authorities issued it, and the card has not expired. See \(Documents.path("residence.md")).

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
            指定した認証局のもので、カードの有効期間内なら 0 です。詳しくは \(Documents.path("residence.ja.md"))。

            例:
              kazasu residence                            # 番号を尋ねる
              kazasu residence --number-from file:number --photo face.jp2
              kazasu residence --number-from file:number --ca authorities.pem --check
              kazasu residence --json --number-from file:number | jq -r .status.code
            """))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        name: .customLong("number-from"),
        help: help(
            "Where to read the card's number: env:NAME, file:PATH or fd:NUMBER. Default: ask on the terminal.",
            "カード番号の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    var numberFrom: SecretSource?

    @Option(
        name: .long, help: help("Write the photo (JPEG 2000) to a file.", "写真（JPEG 2000）をファイルに書く。", value: "file"),
        completion: .file())
    var photo: String?

    @Option(
        name: .long,
        help: help(
            "Write the picture of the front, or on newer cards of the name, to a file (TIFF).",
            "券面（表）の画像、新しいカードでは氏名の画像をファイルに書く（TIFF）。", value: "file"), completion: .file())
    var front: String?

    @Option(
        name: .long,
        help: help(
            "Write the picture of the address to a file (TIFF; newer cards).", "住居地の画像をファイルに書く（TIFF、新しいカード）。",
            value: "file"), completion: .file())
    var addressImage: String?

    @Option(
        name: .customLong("ca"),
        help: help(
            "A certificate of an authority whose signatures count, DER or PEM; may be repeated.",
            "署名を認める認証局の証明書（DER、PEM）。複数指定できる。", value: "file"), completion: .file())
    var authorityFiles: [String] = []

    @Flag(
        name: .long,
        help: help(
            "Print only whether the card is valid, nothing personal; needs --ca.", "有効かどうかだけを表示し、個人情報は表示しない（--ca が必要）。")
    )
    var check = false

    func validate() throws {
        try SecretSource.validate(numberFrom, "--number-from")
        guard check else { return }
        let caller = Caller.current
        if authorityFiles.isEmpty {
            throw ValidationError(
                tr(
                    "--check needs the authority's certificate: add \(caller.option("ca"))",
                    "--check には認証局の証明書が必要です。\(caller.option("ca")) で指定してください"))
        }
        if photo != nil || front != nil || addressImage != nil || common.json {
            throw ValidationError(
                tr(
                    "--check prints one line and nothing personal: it cannot be combined with pictures or --json",
                    "--check は 1 行だけを表示するため、画像や --json と併用できません"))
        }
    }

    func execute(_ context: Context) throws {
        let files = try pictureFiles(context)
        let authorities = try authorities(context)
        let number = try number(context)
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { try $0.find(.residence).residence(number) }
        let dump = result.dump.stamped(session)
        let report = result.report
        let signature: CardSignature
        do throws(CryptoError) {
            signature = try report.signature(of: dump, authorities: authorities, at: JapaneseTime.utc)
        } catch {
            throw CommandError(error)
        }
        if check { return try answer(report, signature, result.error, context) }
        var view = ResidenceView(report: report, signature: signature, redaction: context.redaction)
        for (picture, file) in files where report.type.isSpecified == false {
            write(picture, file, report, context, &view)
        }
        let card = context.redaction.card(dump.card, kind: .residence)
        try context.print("kazasu.residence/1", card: card, view.members, else: view.text)
        if let error = result.error { throw CommandError(error) }
        if let failure = CommandError(signature) { throw failure }
    }

    // MARK: Before the card

    private func number(_ context: Context) throws(CommandError) -> ResidenceNumber? {
        let name = tr("the card's number", "カード番号")
        guard let numberFrom else { return try asked(context) }
        let text = try numberFrom.read(name, reason: "noNumber")
        guard let number = Self.number(text) else { throw Self.form }
        return number
    }

    private static func number(_ secret: SecretBytes) -> ResidenceNumber? {
        ResidenceNumber(secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    }

    private static var form: CommandError {
        CommandError(
            .refused, "numberForm",
            tr(
                "a card's number has two letters, eight digits and two letters; nothing was sent",
                "カード番号は英字 2、数字 8、英字 2 の 12 文字です。カードには送っていません"),
            hint: tr("it is printed at the top right of the card", "カードの右上に印刷されています"))
    }

    /// Asks until the number has the right form; an empty line reads what is free.
    private func asked(_ context: Context) throws(CommandError) -> ResidenceNumber? {
        guard let terminal = Terminal() else {
            if check { throw CommandError(.usage, "noNumber", Self.noTerminal, hint: nil) }
            context.note(Self.noTerminal)
            return nil
        }
        var objection = ""
        while true {
            let question = tr(
                "Number at the top right of the card (press Enter to skip): ", "カード右上の番号（Enter で省略）: ")
            switch try terminal.line(objection + question) {
            case .empty: return nil
            case .tooLong: break
            case .secret(let text):
                if let number = Self.number(text) { return number }
            }
            objection = Self.form.message + "\n"
        }
    }

    private static var noTerminal: String {
        let option = Caller.current.option("number-from")
        return tr(
            "the card's number could not be asked for: no terminal. \(option) gives it",
            "対話できる端末ではないためカード番号を尋ねられません。\(option) で指定できます")
    }

    private func authorities(_ context: Context) throws(CommandError) -> CertificateAuthorities {
        try CertificateAuthorities(paths: authorityFiles, context, areForResidence: true)
    }

    /// The files of pictures, opened before the card is read.
    private func pictureFiles(
        _ context: Context
    ) throws(CommandError) -> [(picture: [ResidenceReport.Picture], file: OutputFile)] {
        var files: [(picture: [ResidenceReport.Picture], file: OutputFile)] = []
        let wanted: [(String, String?, [ResidenceReport.Picture])] = [
            ("--photo", photo, [.photo]), ("--front", front, [.front, .name]),
            ("--address-image", addressImage, [.address]),
        ]
        for (option, path, pictures) in wanted {
            try context.check(option, isGiven: path != nil)
            if let path { files.append((pictures, try OutputFile(path))) }
        }
        return files
    }

    // MARK: Answering

    private func write(
        _ pictures: [ResidenceReport.Picture], _ file: OutputFile, _ report: ResidenceReport, _ context: Context,
        _ view: inout ResidenceView
    ) {
        guard let picture = pictures.first(where: { report.pictures[$0] != nil }), let bytes = report.pictures[picture]
        else {
            context.note(
                tr(
                    "\(file.path): the card has no such picture, or it was not read; no file was written",
                    "\(file.path): 画像がないか読めなかったため、ファイルは書いていません"))
            return
        }
        if file.finish(picture: bytes, context) { view.paths.append((picture, file.path)) }
    }

    /// `--check`: one line without anything personal.
    private func answer(
        _ report: ResidenceReport, _ signature: CardSignature, _ error: KazasuError?, _ context: Context
    ) throws {
        if let error { throw CommandError(error) }
        guard signature.state == .valid else {
            try context.print(signature.state.words + "\n")
            throw CommandError(signature) ?? CommandError(.badFile, "signature", signature.state, hint: nil)
        }
        guard report.type.generation == 2, let last = report.validUntil else {
            let words = tr("signature valid, expiry not readable", "署名は正しい。有効期間は読めません")
            try context.print(words + "\n")
            throw CommandError(
                .badFile, "expiryUnknown", words,
                hint: tr("look at the date that is printed on the card", "カードに印刷された日付を確かめてください"))
        }
        guard last.description >= JapaneseTime.today else {
            let words = tr("expired", "有効期間が過ぎています")
            try context.print(words + "\n")
            throw CommandError(.badFile, "expired", words, hint: nil)
        }
        try context.print(tr("valid", "有効") + "\n")
    }
}

/// The present in Japan, where the dates on cards of the state are meant.
enum JapaneseTime {
    /// `YYYYMMDDHHMMSS`, UTC, as certificates are compared.
    static var utc: String {
        String(Timestamp.now.text(.utc, .seconds).filter { ("0"..."9").contains($0) })
    }

    /// `YYYY-MM-DD`; Japan is nine hours ahead and has no summer time.
    static var today: String {
        String(Timestamp(milliseconds: Timestamp.now.milliseconds + 9 * 3_600_000).text(.utc, .seconds).prefix(10))
    }
}

extension CertificateAuthorities {
    /// Reads the files of `--ca`.
    ///
    /// - Parameter areForResidence: whether those that are not known as the ministry's are named.
    init(paths: [String], _ context: Context, areForResidence: Bool) throws(CommandError) {
        var files: [[UInt8]] = []
        // Master lists of all countries have a megabyte.
        for path in paths { files.append(try Files.read(path, limit: 1 << 23)) }
        do throws(AuthorityError) {
            try self.init(files: files)
        } catch {
            switch error {
            case .crypto(let error): throw CommandError(error)
            case .notACertificate(let index):
                let name = Files.name(paths[index])
                throw CommandError(
                    .badFile, "notACertificate",
                    tr("\(name) is not a certificate", LineBreaker.joined(name, "は証明書ではありません")),
                    hint: tr("give an X.509 certificate, DER or PEM", "X.509 証明書（DER または PEM）を指定してください"))
            case .damagedList(let index):
                let name = Files.name(paths[index])
                throw CommandError(
                    .badFile, "badFile",
                    tr(
                        "\(name): the signature of the master list is wrong",
                        LineBreaker.joined(name, "のマスターリストの署名が正しくありません")),
                    hint: tr("download the list again", "もう一度入手してください"))
            @unknown default: throw .bug("authorities")
            }
        }
        if testAuthorities > 0 {
            context.warn(
                tr("the authority for test cards is left out: it proves nothing", "試験用カードの認証局は対象外です（何も証明しません）"))
        }
        if areForResidence, !unlisted.isEmpty {
            let names = unlisted.joined(separator: ", ")
            context.note(
                tr(
                    "not known as a certificate of the Immigration Services Agency: \(names)",
                    "出入国在留管理庁の証明書として確認できません: \(names)"))
        }
    }
}

extension CommandError {
    /// The state of a signature as a failure; `nil` where it is none.
    ///
    /// - Parameter page: says where the authorities' certificates are published.
    init?(
        _ signature: CardSignature,
        page: LocalizedText = LocalizedText(Documents.path("residence.md"), Documents.path("residence.ja.md"))
    ) {
        switch signature.state {
        case .valid, .absent, .notChecked: return nil
        case .unknownAuthority:
            self.init(
                .badFile, "signature", signature.state,
                hint: tr(
                    "\(Caller.current.option("ca")) gives the certificate of the card's authority; \(page.english) says where it is published",
                    "カードの認証局の証明書を \(Caller.current.option("ca")) で指定してください（公開場所は \(page.japanese)）")
            )
        case .wrong, .certificateExpired, .malformed:
            self.init(
                .badFile, "signature", signature.state,
                hint: tr("do not rely on what this card says", "このカードの内容を信用しないでください"))
        }
    }
}
