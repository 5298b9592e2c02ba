// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu passport`
struct Passport: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "passport",
        abstract: tr("Read a passport.", "パスポートを読む。"),
        discussion: tr(
            """
            Document number, birth date and expiry open the chip, by PACE if it lists that, else by BAC. Kazasu asks for them on the
            terminal, never as arguments; --mrz-from reads them as NUMBER,YYMMDD,YYMMDD or as the two lines printed at the bottom
            of the page. --can-from reads the six digits of a card access number instead. Both are sent once. This was not
            tried on a real passport yet.

            --ca takes country certificates or lists of them, such as the German BSI's; 'kazasu passport lists' shows whose.
            The signature then shows whether the country signed this data, and the chip whether it is a copy, if the country
            put a key on it; --require-chip insists on that proof. --check only reports whether the passport is valid: 0 if the
            signature is, the chip matches the typed data and is not a copy, and the passport has not expired.
            --save keeps every file and what replays the check of the chip; FILE… and folders are read the same way without a
            reader, including what Proxmark3, NFCPassportReader and JMRTD save. See \(Documents.path("passport.md")).

            Examples:
              kazasu passport                             # asks for number and dates
              kazasu passport --mrz-from file:mrz --photo face.jpg
              kazasu passport --mrz-from file:mrz --ca countries.pem
              kazasu passport --mrz-from file:mrz --ca countries.pem --check --require-chip
              kazasu passport --can-from env:CAN --json
              kazasu passport --json --mrz-from file:mrz | jq -r .expiryDate
              kazasu passport --mrz-from file:mrz --save evidence
              kazasu passport evidence --ca countries.pem --at 2026-11-28
            """,
            """
            旅券番号・生年月日・有効期間満了日で IC を開きます（PACE、なければ BAC）。端末で尋ね、引数にはできません。
            --mrz-from では「旅券番号,YYMMDD,YYMMDD」または顔写真ページ下部の 2 行を読みます。--can-from では代わりに
            カードアクセス番号（6 桁）を読みます。どちらも 1 回だけ送ります。実物の旅券ではまだ試していません。

            --ca には国の証明書、またはそのリスト（ドイツ BSI など）を指定します（中身は kazasu passport lists で分かります）。内容が
            その国の署名どおりか、また国が IC に鍵を入れていれば IC が複製かどうかが分かります。--require-chip はその確認を必須に
            します。--check は有効かどうかだけを答えます。署名が正しく、入力した内容と IC が一致し、複製ではなく、有効期間内なら
            0 です。--save は、読んだファイルと IC の確認を再現できる記録を保存します。ファイルやフォルダーを指定すると、リーダーなしで
            同じように読みます（Proxmark3・NFCPassportReader・JMRTD のファイルも可）。詳しくは \(Documents.path("passport.ja.md"))。

            例:
              kazasu passport                             # 旅券番号と日付を尋ねる
              kazasu passport --mrz-from file:mrz --photo face.jpg
              kazasu passport --mrz-from file:mrz --ca countries.pem
              kazasu passport --mrz-from file:mrz --ca countries.pem --check --require-chip
              kazasu passport --can-from env:CAN --json
              kazasu passport --json --mrz-from file:mrz | jq -r .expiryDate
              kazasu passport --mrz-from file:mrz --save evidence
              kazasu passport evidence --ca countries.pem --at 2026-11-28
            """),
        subcommands: [PassportLists.self])

    static let programAccess = CommandAccess.methods([
        .card(
            "card.passport", .none(because: "what opens it is never taken from the network, and nothing is free"),
            omitting: ["at"], schema: "passport",
            LocalizedText("What a passport says.", "パスポートの記載。")),
        .card(
            "passport.check", .none(because: "what opens it is never taken from the network"),
            required: ["ca"], omitting: ["at"], fixed: ["--check"], schema: "check",
            LocalizedText("Whether a passport is valid, and nothing else about it.", "パスポートが有効かどうかだけ。")),
        .dump(
            "passport.files", .post("passport/files"), needs: .ids, omitting: ["can-from"], schema: "passport",
            LocalizedText(
                "What the saved files of a passport say: one file, a dump, or a JSON object of Base64 by name; needs no reader.",
                "保存したパスポートのファイルの記載。ファイル 1 つ、ダンプ、または名前ごとの Base64 の JSON オブジェクトを渡す。リーダーは不要。")),
    ])

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions

    @Argument(
        reach: .never,
        help: help(
            "Saved files of a passport, or a folder of them; no reader is used.", "保存した旅券のファイル、またはフォルダー（リーダー不要）。",
            value: "file"), completion: .file())
    var files: [String] = []

    @Option(
        reach: .secret, name: .customLong("mrz-from"),
        help: help(
            "Where to read number, birth date and expiry: env:NAME, file:PATH or fd:NUMBER. Default: ask on the terminal.",
            "旅券番号・生年月日・有効期間満了日の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    var zoneFrom: SecretSource?

    @Option(
        reach: .secret, name: .customLong("can-from"),
        help: help(
            "Where to read the six digits of the card access number: env:NAME, file:PATH or fd:NUMBER.",
            "カードアクセス番号（6 桁）の入力元: env:変数名、file:パス、fd:番号。", value: "source"))
    var accessFrom: SecretSource?

    @Flag(
        reach: .never, name: .customLong("use-last-try"),
        help: help(
            "Send the number even if the chip says that one try is left.", "残り 1 回と IC が答えても送る。"))
    var useLastTry = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "Write the photo (JPEG or JPEG 2000) to a file.", "顔写真（JPEG または JPEG 2000）をファイルに書く。",
            value: "file"), completion: .file())
    var photo: String?

    @Option(
        reach: .local, name: .customLong("ca"),
        help: help(
            "Trusted country certificates (CSCA): DER, PEM, PKCS #7, a master list or LDIF; may be repeated.",
            "署名を認める国の証明書（DER、PEM、PKCS #7、マスターリスト、LDIF）。複数指定できる。", value: "file"), completion: .file())
    var authorityFiles: [String] = []

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Print only whether the passport is valid, nothing personal; needs --ca.",
            "有効かどうかだけを表示し、個人情報は表示しない（--ca が必要）。"))
    var check = false

    @Flag(
        reach: .network, name: .customLong("require-chip"),
        help: help(
            "Fail unless the chip proves that it is not a copy.", "IC が複製でないと確認できなければ失敗にする。"))
    var requireChip = false

    @Option(
        reach: .never, name: .long,
        help: help(
            "Save the chip's files, and the evidence of its check, in this new folder.",
            "読んだファイルと IC の確認の記録を、この新しいフォルダーに保存する。", value: "folder"), completion: .directory)
    var save: String?

    @Option(
        reach: .never, name: .joined("o"),
        help: help(
            "Save the data as a dump, which 'kazasu passport' reads again.",
            "読んだ内容をダンプとしてファイルに書く（'kazasu passport' で再び読める）。", value: "file"), completion: .file())
    var output: String?

    @Option(
        reach: .network, name: .long,
        help: help(
            "With files: judge certificates and expiry as of this day.", "ファイルを指定した場合、証明書と有効期限をこの日付で判定する。",
            value: "date"))
    var at: CalendarDate?

    func validate() throws {
        try validateFiles()
        try OutputEnding(output).check(isOneOf: ["json"])
        try SecretSource.validate(zoneFrom, "--mrz-from")
        try SecretSource.validate(accessFrom, "--can-from")
        if zoneFrom != nil, accessFrom != nil {
            let caller = Caller.current
            let (zone, access) = (caller.option("mrz-from"), caller.option("can-from"))
            throw ValidationError(
                tr("\(zone) and \(access) cannot be combined", "\(zone) と \(access) は併用できません"))
        }
        try DocumentCheck.validate(check, authorityFiles, writesPictures: photo != nil)
    }

    /// Says which options belong to a card, and which to files.
    private func validateFiles() throws {
        let caller = Caller.current
        guard !files.isEmpty else {
            if at != nil {
                throw ValidationError(
                    tr("\(caller.option("at")) belongs to saved files", "\(caller.option("at")) は保存したファイルと併用します"))
            }
            return
        }
        let given = [
            ("reader", readerOptions.reader != nil), ("trace", readerOptions.trace != nil),
            ("can-from", accessFrom != nil), ("save", save != nil), ("output", output != nil),
            ("use-last-try", useLastTry),
        ]
        for (name, isGiven) in given where isGiven {
            let option = caller.option(name)
            throw ValidationError(
                tr("\(option) belongs to a passport on a reader, not to files", "\(option) はファイルと併用できません（リーダー用です）"))
        }
    }

    func execute(_ context: Context) throws {
        try context.check("--save", isGiven: save != nil)
        let pictures = try PictureFiles([("--photo", photo, ["photo"])], context)
        let authorities = try CertificateAuthorities(paths: authorityFiles, context, areForResidence: false)
        let found: Found
        if files.isEmpty {
            let dumpFile = try output.map { path throws(CommandError) in try DumpOutput(path) }
            let folder = try save.map { path throws(CommandError) in try EvidenceFolder(path) }
            found = try read(context)
            if found.report.access != nil {
                context.attempt { () throws(CommandError) in try dumpFile?.finish(found.dump, context) }
            }
            if let folder, found.report.access != nil {
                let evidence = PassportEvidence(
                    readAt: found.dump.readAt, access: found.report.access,
                    chip: found.report.evidence ?? ChipEvidence())
                context.attempt { () throws(CommandError) in try folder.finish(found.dump, evidence, context) }
            }
        } else {
            found = try readFiles(context)
        }
        try answer(found, pictures, authorities, context)
    }

    /// What was read from a chip or from files.
    private struct Found {
        var dump: CardDump
        var report: PassportReport
        var error: KazasuError?
    }

    private func read(_ context: Context) throws -> Found {
        let given = try given()
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { session in
            let card = try session.find(.passport)
            // Nobody is asked about another card.
            if given == nil { try session.check(card, is: .passport, "passport") }
            return try card.passport(try given ?? .zone(asked()), allowsLastTry: useLastTry)
        }
        return Found(dump: result.dump.stamped(session), report: result.report, error: result.error)
    }

    private func readFiles(_ context: Context) throws -> Found {
        let given = try given()
        let saved = try PassportPaths(paths: files).read(context)
        RedactionGate.shared.learn(saved.dump)
        guard var report = saved.report else {
            throw CommandError(.documentEvidenceAlone)
        }
        if case .zone(let key)? = given { report.compare(with: key) }
        return Found(dump: saved.dump, report: report)
    }

    private func answer(
        _ found: Found, _ pictures: PictureFiles, _ authorities: CertificateAuthorities, _ context: Context
    ) throws {
        let (dump, report) = (found.dump, found.report)
        let time = at.flatMap { Timestamp("\($0)T12:00:00Z") } ?? .now
        let signature: CardSignature
        let chip: ChipCheck
        do throws(CryptoError) {
            signature = try report.signature(of: dump, authorities: authorities, at: time)
            chip = try report.chip(of: dump, signature: signature, authorities: authorities, at: time)
        } catch {
            throw CommandError(error)
        }
        if !report.isFromFiles { note(report.access, context) }
        let page = LocalizedText(Documents.path("passport.md"), Documents.path("passport.ja.md"))
        guard !check else {
            if let failure = failure(found, signature) { throw failure }
            var answer = DocumentCheck(signature, page: page)
            answer.add(chip, isRequired: requireChip)
            answer.ends(report.expiryDate, DocumentCheck.expired, today: at?.description ?? JapaneseTime.today)
            return try answer.print(context)
        }
        var view = PassportView(
            report: report, signature: signature, chip: chip, redaction: context.redaction, at: at)
        view.pictures = pictures.write(report, context)
        try context.print(report, of: report.isFromFiles ? nil : dump.card, view)
        if let failure = failure(found, signature) { throw failure }
        let isAsked = !authorityFiles.isEmpty
        var copy = CommandError(chip, isRequired: requireChip)
        if report.isFromFiles, copy?.reason == "copy" {
            copy?.hint = Remedy.unlessChanged.text()
        }
        let unsigned = CommandError(signature, isAsked: isAsked, page: page)
        // Another document counts first, then a copy, then the signature, then that nothing was proved.
        for failure in [unsigned, copy] where failure?.reason == "otherDocument" || failure?.reason == "copy" {
            if let failure { throw failure }
        }
        if let failure = unsigned ?? copy { throw failure }
    }

    /// Notes what is not as usual about how the passport was opened.
    private func note(_ access: PassportAccess?, _ context: Context) {
        guard let access else { return }
        if access.isFallback {
            context.note(
                tr("the chip refused PACE; it was opened by BAC", "IC が PACE を拒否したため、BAC で開きました"))
        }
        if access.way == .none {
            context.note(tr("the chip asks for nothing; anyone can read it", "この IC は誰でも読めます（何も求めません）"))
        }
        if access.password == .can {
            context.note(
                tr(
                    "compare the name and number with the printed ones: a card access number shows nothing about them",
                    "氏名と番号を印字と比べてください。カードアクセス番号では確かめられません"))
        }
    }

    /// Why not everything was read; a document that is another's is that first.
    private func failure(_ result: Found, _ signature: CardSignature) -> CommandError? {
        if let error = result.error { return CommandError(error) }
        guard signature.state != .otherDocument else { return nil }
        let listed = result.report.dataGroups + (signature.list?.listed ?? [])
        for warning in result.report.warnings {
            guard case .refused = warning.reason,
                warning.file.dataGroup.map(listed.contains) ?? (warning.file == .security)
            else { continue }
            return CommandError(.passportFileRefused, warning)
        }
        return nil
    }

    // MARK: What opens it

    /// What the options name.
    private func given() throws(CommandError) -> PassportPassword? {
        if let accessFrom { return .accessNumber(try number(from: accessFrom)) }
        return try zoneFrom.map { source throws(CommandError) in .zone(try key(from: source)) }
    }

    private func number(from source: SecretSource) throws(CommandError) -> CardAccessNumber {
        let name = tr("the card access number", "カードアクセス番号")
        let text = try source.read(name, reason: "noNumber", longest: 32) { $0.contains(UInt8(ascii: "\n")) }
        guard
            let number = text.withUnsafeBytes({
                CardAccessNumber(String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
            })
        else {
            throw CommandError(.documentAccessNumberForm)
        }
        return number
    }

    private func key(from zoneFrom: SecretSource) throws(CommandError) -> PassportKey {
        let name = tr("the machine-readable zone", "機械読取領域")
        let text = try zoneFrom.read(name, reason: "noNumber", longest: 100) { text in
            Self.key(text) != nil || text.count { $0 == UInt8(ascii: "\n") } >= 2
        }
        guard let key = text.withUnsafeBytes({ Self.key($0) }) else { throw text.withUnsafeBytes { Self.form($0) } }
        return key
    }

    /// Of several lines all, or only the first.
    private static func key(_ text: some Collection<UInt8>) -> PassportKey? {
        PassportKey(String(decoding: text, as: UTF8.self))
            ?? PassportKey(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    /// What is wrong with a text that gives no key.
    private static func form(_ text: some Collection<UInt8>) -> CommandError {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        let mistaken = lines.lazy.compactMap { PassportKey.mistaken(in: $0) }.first
        guard let (place, written, fits) = mistaken else { return CommandError(.passportKeyForm) }
        return CommandError(.passportKeyMistaken, values: ["\(place)", "\(written)", "\(fits)"])
    }

    /// Asks until the answer has the right form.
    private func asked() throws(CommandError) -> PassportKey {
        guard let terminal = Terminal() else { throw CommandError(.documentNoZone) }
        let question = tr(
            "Number, birth date and expiry (NUMBER,YYMMDD,YYMMDD), or the second line at the bottom of the page: ",
            "旅券番号,生年月日,有効期間満了日（番号,YYMMDD,YYMMDD）、または顔写真ページの最下行: ")
        let key = try terminal.ask(question, tooLong: Self.form([])) { text throws(CommandError) in
            guard let key = text.withUnsafeBytes({ Self.key($0) }) else {
                throw text.withUnsafeBytes { Self.form($0) }
            }
            return key
        }
        guard let key else { throw .cancelled() }
        return key
    }
}
