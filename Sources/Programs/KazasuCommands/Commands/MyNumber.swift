// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu mynumber`
struct MyNumber: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "mynumber",
        abstract: tr("Read a My Number card.", "マイナンバーカードを読む。"),
        discussion: tr(
            """
            Without a PIN: the kind of card, each PIN's remaining tries, and three certificates.
            With the PIN of four digits for card information input (券面事項入力補助用):
            name, address, birth date and sex. The personal number is not read, and nothing is signed.

            --face reads the front of the card instead: birth date, sex, expiry, photo, and
            pictures of name and address. It is opened by check number B (照合番号B),
            14 digits, all printed on the front: the birth date as YYMMDD in the Japanese
            era, the four digits of the year in which the card expires, and the security
            code of four digits.

            The signature is checked by the keys of J-LIS; --ca adds keys, or certificates of authorities (DER, PEM).
            --face --check answers only whether the card is valid: 0 if the signature is, the chip says what was typed, and
            the card has not expired.
            Wrong PINs and numbers lock the card; the same PIN guard as in 'kazasu license'
            applies. None of this was tried on a real card yet. See \(Documents.path("my-number.md")).

            Examples:
              kazasu mynumber --free
              kazasu mynumber                             # asks for the PIN
              kazasu mynumber --free --certificates certs
              kazasu mynumber --face --photo face.jp2     # asks for check number B
              kazasu mynumber --face --number-from file:b --check
              kazasu mynumber --json --pin-from file:pin | jq -r .address
            """,
            """
            暗証番号なし: カードの種類、各暗証番号の残り回数、3 つの証明書。券面事項入力補助用の暗証番号（数字 4 桁）で
            氏名・住所・生年月日・性別。個人番号は読みません。署名もしません。

            --face では、代わりに券面の表面の情報（生年月日、性別、有効期限、顔写真、氏名と住所の画像）を読みます。照合番号B
            （数字 14 桁）で開きます。和暦の生年月日 YYMMDD、有効期限の西暦 4 桁、セキュリティコード 4 桁を続けたもので、
            すべて表面に印刷されています。

            署名は J-LIS の鍵で検証します。--ca で鍵や認証局の証明書（DER、PEM）を追加できます。--face --check は有効かどうか
            だけを答えます。署名が正しく、入力した内容と IC が一致し、有効期間内なら 0 です。暗証番号や照合番号を間違えると
            閉塞するため、'kazasu license' と同じ仕組みで誤送信を防ぎます。実物のカードではまだ試していません。
            詳しくは \(Documents.path("my-number.ja.md"))。

            例:
              kazasu mynumber --free
              kazasu mynumber                             # 暗証番号を尋ねる
              kazasu mynumber --free --certificates certs
              kazasu mynumber --face --photo face.jp2     # 照合番号B を尋ねる
              kazasu mynumber --face --number-from file:b --check
              kazasu mynumber --json --pin-from file:pin | jq -r .address
            """))

    static let programAccess = CommandAccess.methods([
        .card(
            "card.mynumber", .get("mynumber"), networkFixed: ["--free"], schema: "mynumber",
            LocalizedText("What a My Number card says.", "マイナンバーカードの記載。")),
        .card(
            "mynumber.check", .none(because: "check number B is never taken from the network"),
            required: ["numberFrom"], omitting: ["free", "pin-from"], fixed: ["--face", "--check"], schema: "check",
            LocalizedText("Whether a My Number card is valid, and nothing else about it.", "マイナンバーカードが有効かどうかだけ。")),
    ])

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Option(
        reach: .secret, name: .customLong("pin-from"),
        help: help(
            "Where to read the PIN (券面事項入力補助用): env:NAME, file:PATH or fd:NUMBER. Default: ask on the terminal.",
            "数字 4 桁の暗証番号（券面事項入力補助用）の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    var pinFrom: SecretSource?

    /// The former name of `--pin-from`, as licenses have it; still accepted.
    @Option(reach: .secret, name: .customLong("pin1-from"), help: .hidden)
    var pin1From: SecretSource?

    private var source: SecretSource? { pinFrom ?? pin1From }

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Send the PIN even if only one try is left or the number is unknown; asks for confirmation first.",
            "残り 1 回、または残り回数が不明でも照合する（先に端末で確認する）。"))
    var allowLastTry = false

    @Flag(
        reach: .network, name: .long,
        help: help("Read only what needs no PIN, without asking for one.", "暗証番号なしで読めるものだけを、尋ねずに読む。"))
    var free = false

    @Flag(
        reach: .local, name: .long,
        help: help("Read the front of the card, by check number B.", "照合番号B で券面の表面の情報を読む。"))
    var face = false

    @Option(
        reach: .secret, name: .customLong("number-from"),
        help: help(
            "Where to read check number B: env:NAME, file:PATH or fd:NUMBER. Default: ask on the terminal.",
            "照合番号B の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    var numberFrom: SecretSource?

    @Option(
        reach: .never, name: .long,
        help: help("Write the photo (JPEG 2000) to a file.", "顔写真（JPEG 2000）をファイルに書く。", value: "file"),
        completion: .file())
    var photo: String?

    @Option(
        reach: .never, name: .long,
        help: help("Write the picture of the name (PNG) to a file.", "氏名の画像（PNG）をファイルに書く。", value: "file"),
        completion: .file())
    var nameImage: String?

    @Option(
        reach: .never, name: .long,
        help: help("Write the picture of the address (PNG) to a file.", "住所の画像（PNG）をファイルに書く。", value: "file"),
        completion: .file())
    var addressImage: String?

    @Option(
        reach: .local, name: .customLong("ca"),
        help: help(
            "An additional trusted key or CA certificate (DER or PEM); may be repeated.",
            "署名を認める鍵、または認証局の証明書（DER、PEM）。複数指定できる。", value: "file"), completion: .file())
    var authorityFiles: [String] = []

    @Flag(
        reach: .never, name: .long,
        help: help(
            "With --face: print only whether the card is valid, nothing personal.",
            "--face と併用: 有効かどうかだけを表示し、個人情報は表示しない。"))
    var check = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "Write the certificates to this folder, as DER and PEM.", "証明書をこのフォルダーに書く（DER と PEM）。", value: "folder"),
        completion: .directory)
    var certificates: String?

    @Option(
        reach: .never, name: .joined("o"),
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
        try SecretSource.validate(numberFrom, "--number-from")
        let caller = Caller.current
        let writes = photo != nil || nameImage != nil || addressImage != nil || certificates != nil
        try DocumentCheck.validate(check, writesPictures: writes)
        guard face else {
            if check {
                throw ValidationError(
                    tr(
                        "--check needs the front of the card, where its expiry is: add \(caller.flag("face"))",
                        "--check には有効期限のある券面の表面が必要です。\(caller.flag("face")) を付けてください"))
            }
            guard numberFrom == nil, photo == nil, nameImage == nil, addressImage == nil else {
                throw ValidationError(
                    tr(
                        "check number B and pictures belong to the front of the card: add \(caller.flag("face"))",
                        "照合番号B や画像は券面の表面のためのものです。\(caller.flag("face")) を付けてください"))
            }
            return
        }
        if free || source != nil {
            throw ValidationError(
                tr(
                    "\(caller.flag("face")) is opened by check number B; it cannot be combined with a PIN or \(caller.flag("free"))",
                    "\(caller.flag("face")) は照合番号B で開きます。暗証番号や \(caller.flag("free")) と併用できません"))
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--certificates", isGiven: certificates != nil)
        let pictures = try PictureFiles(
            [
                ("--photo", photo, ["photo"]), ("--name-image", nameImage, ["name"]),
                ("--address-image", addressImage, ["address"]),
            ], context)
        let dumpFile = try output.map { path throws(CommandError) in try DumpOutput(path) }
        let folder = try certificates.map { path throws(CommandError) in try CertificateFolder(path) }
        let authorities = try CertificateAuthorities(paths: authorityFiles, context, areForResidence: false)
        let given = try secret()
        let dialog = PINDialog(context, allowLastTry: allowLastTry)
        let pins =
            free ? .none : dialog.source(given.map { [$0] } ?? [], options: [face ? "--number-from" : "--pin-from"])
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { session in
            let card = try session.find(.myNumber)
            return try face ? card.myNumberFace(pins) : card.myNumber(pins)
        }
        try dialog.check()
        let dump = result.dump.stamped(session)
        context.attempt { () throws(CommandError) in try dumpFile?.finish(dump, context) }
        if check { return try answer(result, dump, authorities, context) }
        var view = MyNumberView(report: result.report, redaction: context.redaction)
        view.offersPictures = face
        check(result.report, dump, authorities, context, &view)
        view.pictures = pictures.write(result.report, from: .face, context)
        for (file, der) in result.report.certificates {
            context.attempt { () throws(CommandError) in view.paths[file] = try folder?.write(der, file) }
        }
        try context.print(result.report, of: dump.card, view)
        if let error = result.error { throw failure(error) }
        let page = LocalizedText(Documents.path("my-number.md"), Documents.path("my-number.ja.md"))
        // Of a certificate, only a wrong signature counts: it may have expired on a card that is valid.
        let chains = MyNumberFile.allCases.compactMap { view.chains[$0] }.filter {
            [.wrong, .malformed, .certificateUnfit].contains($0.state)
        }
        for signature in [view.signature].compactMap(\.self) + chains {
            guard var failure = CommandError(signature, isAsked: true, page: page) else { continue }
            if signature.state == .unknownAuthority { failure.hint = Self.unknownAuthority(page) }
            throw failure
        }
    }

    private static func unknownAuthority(_ page: LocalizedText) -> String {
        tr(
            "a test card, or keys newer than this version; \(Caller.current.option("ca")) adds a key (\(page.english))",
            "試験用カードか、この版より新しい鍵です。\(Caller.current.option("ca")) で鍵を追加できます（\(page.japanese)）")
    }

    // MARK: Before the card

    /// The PIN or 照合番号B, from the source that the options name.
    private func secret() throws(CommandError) -> PIN? {
        guard face else {
            return try source.map { source throws(CommandError) in
                try source.readPIN(MyNumberPIN.cardInput.name[Language.current])
            }
        }
        guard let numberFrom else { return nil }
        let text = try numberFrom.read(MyNumberPIN.cardSurfaceNumberB.name[Language.current], reason: "noNumber")
        // Its three parts may be written apart.
        let number = text.withUnsafeBytes { text in
            PIN(
                SecretBytes(capacity: text.count) { digits in
                    var count = 0
                    for byte in text where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
                        digits[count] = byte
                        count += 1
                    }
                    return count
                })
        }
        guard number.matches(.digits(14)) else {
            throw CommandError(.documentCheckNumberForm)
        }
        return number
    }

    // MARK: Answering

    /// `--check`.
    private func answer(
        _ result: FileCardResult<MyNumberReport>, _ dump: CardDump, _ authorities: CertificateAuthorities,
        _ context: Context
    ) throws {
        if let error = result.error { throw failure(error) }
        guard !result.report.withheld.contains(.face) else {
            throw CommandError(.documentNoCheckNumber)
        }
        let signature: CardSignature
        do throws(CryptoError) {
            signature = try result.report.faceSignature(of: dump, authorities: authorities)
        } catch {
            throw CommandError(error)
        }
        var check = DocumentCheck(
            signature, page: LocalizedText(Documents.path("my-number.md"), Documents.path("my-number.ja.md")))
        check.ends(result.report.face?.expiryDate, DocumentCheck.expired)
        try check.print(context)
    }

    private func check(
        _ report: MyNumberReport, _ dump: CardDump, _ authorities: CertificateAuthorities, _ context: Context,
        _ view: inout MyNumberView
    ) {
        do throws(CryptoError) {
            if face, !report.withheld.contains(.face) {
                view.signature = try report.faceSignature(of: dump, authorities: authorities)
            } else if !face, !report.withheld.contains(.attributes) {
                view.signature = try report.itemsSignature(of: dump, authorities: authorities)
            }
            for file in report.certificates.keys {
                view.chains[file] = try report.chain(of: file, authorities: authorities)
            }
        } catch {
            // The keys are built in: signed data is always checked. What is free has only certificates.
            guard report.face == nil, report.attributes == nil else {
                return context.attempt { () throws(CommandError) in throw CommandError(error) }
            }
            context.note(
                tr("no signature was checked: ", "署名は検証していません: ") + error.message[Language.current])
        }
    }

    /// The error that ended it; a locked PIN is reset by the municipal office, and a number is printed on the card.
    private func failure(_ error: KazasuError) -> CommandError {
        var failure = CommandError(error)
        if face, failure.hint == Remedy.checkPIN.text() {
            failure.hint = Remedy.compareFront.text()
        }
        if failure.reason == "pinLocked" {
            failure.hint = Remedy.unlockAtCityHall.text()
        }
        return failure
    }
}
