// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu license`
struct License: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "license",
        abstract: tr("Read a Japanese driver's license.", "運転免許証を読む。"),
        discussion: tr(
            """
            Without a PIN: edition, dates of issue and expiry, remaining tries. With PIN 1: the printed items. With both \
            PINs: the registered domicile and the photo as well. Also reads the license on a My Number card.

            Three wrong PINs in a row lock a license, and only the police can unlock it. Kazasu therefore reads the \
            remaining tries before it sends anything, sends a PIN only once, and does not send it at all with one try left \
            unless you add --allow-last-try. \(Documents.path("license.md")) explains the details.

            Examples:
              kazasu license --free
              kazasu license                              # asks for the PINs
              kazasu license --photo face.jp2 -o license.json
              kazasu license --json --pin1-from file:pin1 | jq -r .name
            """,
            """
            暗証番号なし: 仕様書バージョン、交付年月日、有効期間の末日、残り回数。暗証番号1で記載事項、
            両方で本籍と写真。マイナ免許証も読めます。

            暗証番号を 3 回続けて間違えると閉塞し、解除できるのは警察だけです。そのため、送る前に必ず残り回数を読み、
            1 回だけ送り、再送しません。残り 1 回なら、--allow-last-try がない限り送りません。詳しくは \(Documents.path("license.ja.md"))。

            例:
              kazasu license --free
              kazasu license                              # 暗証番号を尋ねる
              kazasu license --photo face.jp2 -o license.json
              kazasu license --json --pin1-from file:pin1 | jq -r .name
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.license", .get("license"), networkFixed: ["--free"], schema: "license",
            LocalizedText("What a Japanese driver's license says.", "運転免許証の記載。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup(title: ReaderOptions.title) var readerOptions: ReaderOptions
    @OptionGroup var pinOptions: PINOptions

    @Flag(
        reach: .network, name: .long,
        help: help("Read only what needs no PIN, without asking for one.", "暗証番号なしで読めるものだけを、尋ねずに読む。"))
    var free = false

    @OptionGroup var photoOptions: PhotoOptions

    @Option(
        reach: .never, name: .joined("o"),
        help: help(
            "Save the data to a file for 'kazasu decode'; it contains no PIN.",
            "読んだ内容をファイルに書く（'kazasu decode' で読める。暗証番号は含まない）。", value: "file"), completion: .file())
    var output: String?

    func validate() throws {
        try OutputEnding(output).check(isOneOf: ["json"])
        if free, pinOptions.pin1From != nil || pinOptions.pin2From != nil || photoOptions.photo != nil {
            throw ValidationError(
                photoOptions.photo == nil
                    ? tr(
                        "\(Caller.current.option("free")) cannot be combined with PINs",
                        "\(Caller.current.option("free")) は暗証番号と併用できません")
                    : tr("--free cannot be combined with PIN options or --photo", "--free は暗証番号や --photo と併用できません"))
        }
        if pinOptions.pin2From != nil, pinOptions.pin1From == nil {
            throw ValidationError(
                tr(
                    "PIN 2 alone unlocks nothing: add \(Caller.current.option("pin1-from"))",
                    "暗証番号2だけでは読めません。\(Caller.current.option("pin1-from")) も必要です"))
        }
    }

    func execute(_ context: Context) throws {
        let photoFile = try photoOptions.file(context)
        let dumpFile = try output.map { path throws(CommandError) in try DumpOutput(path) }
        let dialog = PINDialog(context, allowLastTry: pinOptions.allowLastTry)
        let pins = free ? .none : dialog.source(try pinsFromSources(), options: ["--pin1-from", "--pin2-from"])
        let session = try ReaderSession(readerOptions, context)
        let result = try closing(session) { try $0.find(.license).license(pins) }
        try dialog.check()
        if !free, result.report.arePINsSet == false {
            context.note(tr("no PINs are set on this license, so none are needed", "暗証番号は未設定のため尋ねません"))
        }
        let dump = result.dump.stamped(session)
        context.attempt { () throws(CommandError) in try dumpFile?.finish(dump, context) }
        try show(result.report, dump.card, photoFile, context)
        if let error = result.error { throw License.failure(error, result.report.kind) }
    }

    /// The error that ended it; only a license itself is unlocked by the police.
    private static func failure(_ error: KazasuError, _ kind: LicenseKind) -> CommandError {
        var failure = CommandError(error)
        guard kind == .license else { return failure }
        switch failure.reason {
        case "pinLocked":
            failure.hint = Remedy.unlockAtPolice.text()
        case "lastTry":
            failure.hint = Remedy.lastTryOfLicense.text()
        case "wrongPIN":
            failure.hint = Remedy.notSentAgain.text()
        default: break
        }
        return failure
    }

    /// The PINs that `--pin1-from` and `--pin2-from` name, read before the card is looked for.
    private func pinsFromSources() throws -> [PIN] {
        var pins: [PIN] = []
        for (pin, source) in [(LicensePIN.pin1, pinOptions.pin1From), (.pin2, pinOptions.pin2From)] {
            guard let source else { continue }
            pins.append(try source.readPIN(pin.name[Language.current]))
        }
        return pins
    }

    // MARK: Answering

    private func show(
        _ report: LicenseReport, _ card: CardIdentity, _ photoFile: PhotoFile?, _ context: Context
    ) throws {
        let view = LicenseView(
            report: report, redaction: context.redaction,
            photoPath: photoFile?.write(report.photo, context, isWithheld: !report.withheldFiles.isEmpty))
        try context.print(report, of: card, view)
    }
}

/// The option that saves the photo of a license.
struct PhotoOptions: ParsableArguments {
    @Option(
        reach: .never, name: .long,
        help: help("Write the photo (JPEG 2000) to a file.", "写真（JPEG 2000）をファイルに書く。", value: "file"),
        completion: .file())
    var photo: String?

    /// Opens the file, before a card or dump is read.
    func file(_ context: Context) throws(CommandError) -> PhotoFile? { try PhotoFile(photo, context) }
}

/// The file of `--photo` of a license, and of a document in a dump.
struct PhotoFile {
    let path: String
    let file: OutputFile

    /// Opens the file; `nil` if the option was not given.
    init?(_ path: String?, _ context: Context) throws(CommandError) {
        try context.check("--photo", isGiven: path != nil)
        guard let path else { return nil }
        (self.path, file) = (path, try OutputFile(path))
    }

    /// Writes the photo. If there is none, the command ends with the reason.
    ///
    /// - Parameter isWithheld: whether a PIN was missing.
    /// - Returns: the path; `nil` when nothing was written.
    func write(_ photo: [UInt8]?, _ context: Context, isWithheld: Bool = false) -> String? {
        guard let photo else {
            context.attempt { () throws(CommandError) in
                guard isWithheld else { throw .noPicture(path, isWithheld: false, isRefused: false) }
                throw CommandError(.photoNotOpened, values: [path])
            }
            return nil
        }
        var written: String?
        context.attempt { () throws(CommandError) in
            try file.finish(photo)
            written = path
        }
        return written
    }
}
