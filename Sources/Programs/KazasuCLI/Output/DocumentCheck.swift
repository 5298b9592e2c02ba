// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu

/// The answer of `--check`: one line, or `kazasu.check/1`, with nothing personal in it.
struct DocumentCheck {
    private let signature: CardSignature
    /// Why the document is not valid; `nil` if it is.
    private var failure: CommandError?

    /// - Parameter page: says where the authorities' certificates are published.
    init(_ signature: CardSignature, page: LocalizedText = CommandError.residencePage) {
        self.signature = signature
        failure = CommandError(signature, isAsked: true, page: page)
    }

    /// Takes the check of the chip into account. That the document is another one counts first, then that the chip is a copy.
    mutating func add(_ chip: ChipCheck, isRequired: Bool) {
        guard failure?.reason != "otherDocument", let found = CommandError(chip, isRequired: isRequired),
            failure == nil || found.reason == "copy"
        else { return }
        failure = found
    }

    /// Says what `--check` needs and what it cannot be combined with.
    static func validate(_ isOn: Bool, _ authorityFiles: [String], writesPictures: Bool) throws {
        guard isOn else { return }
        let caller = Caller.current
        if authorityFiles.isEmpty {
            throw ValidationError(
                tr(
                    "--check needs the authority's certificate: add \(caller.option("ca"))",
                    "--check には認証局の証明書が必要です。\(caller.option("ca")) で指定してください"))
        }
        try validate(isOn, writesPictures: writesPictures)
    }

    static func validate(_ isOn: Bool, writesPictures: Bool) throws {
        if isOn, writesPictures {
            throw ValidationError(
                tr(
                    "--check prints nothing personal: it cannot be combined with pictures or certificates",
                    "--check は個人情報を出力しないため、画像や証明書の書き出しとは併用できません"))
        }
    }

    static let expired = LocalizedText("expired", "有効期間が過ぎています")

    /// Takes a last day into account: it must be known, and not have passed, by default in Japan. The first failure counts.
    mutating func ends(_ day: CalendarDate?, _ past: LocalizedText, today: String = JapaneseTime.today) {
        guard failure == nil else { return }
        guard let day else {
            failure = CommandError(
                .badFile, "expiryUnknown",
                tr("signature valid, expiry not readable", "署名は有効。有効期間は読めません"),
                hint: tr("check the date printed on the card", "カードに印刷された日付を確かめてください"))
            return
        }
        if day.description < today { failure = CommandError(.badFile, "expired", past[Language.current]) }
    }

    /// Prints it. The words are said once: as the line, or with `--json` as the error on standard error.
    func print(_ context: Context) throws(CommandError) {
        guard !context.json else {
            try context.print([
                "schema": "kazasu.check/1", "valid": .bool(failure == nil), "state": .string(signature.state.rawValue),
                "reason": .text(failure?.reason),
            ])
            if let failure { throw failure }
            return
        }
        try context.print((failure?.message ?? tr("valid", "有効")) + "\n")
        guard var failure else { return }
        if let hint = failure.hint { context.note(hint) }
        failure.message = ""
        throw failure
    }
}

/// The present in Japan, where the dates on cards of the state are meant.
enum JapaneseTime {
    /// `YYYY-MM-DD`.
    static var today: String { day(.now) }

    /// The day of a moment, `YYYY-MM-DD`; Japan is nine hours ahead and has no summer time.
    static func day(_ moment: Timestamp) -> String {
        String(Timestamp(milliseconds: moment.milliseconds &+ 9 * 3_600_000).text(.utc, .seconds).prefix(10))
    }
}

extension CommandError {
    /// Where the authorities of residence cards are published.
    static var residencePage: LocalizedText {
        LocalizedText(Documents.path("residence.md"), Documents.path("residence.ja.md"))
    }

    /// The state of a signature as a failure; `nil` where it is none.
    ///
    /// - Parameters:
    ///   - isAsked: whether somebody wants to know if the document is genuine.
    ///   - page: says where the authorities' certificates are published.
    init?(_ signature: CardSignature, isAsked: Bool, page: LocalizedText = CommandError.residencePage) {
        guard !signature.state.isSuccess(whenAsked: isAsked) else { return nil }
        let untrusted = tr("do not rely on what this card says", "このカードの内容を信用しないでください")
        let option = Caller.current.option("ca")
        switch signature.state {
        case .otherDocument:
            self.init(
                .badFile, "otherDocument", signature,
                hint: tr(
                    "what opened the chip is not what it says: do not accept this document",
                    "IC を開いた番号・日付と IC の内容が違います。この文書を受け入れないでください"))
        case .incomplete:
            self.init(
                .refused, "refused", signature,
                hint: tr("nothing vouches for what this card says", "このカードの内容を保証するものがありません"))
        case .unknownAuthority:
            self.init(
                .badFile, "signature", signature,
                hint: tr(
                    "\(option) gives the certificate of the card's authority; \(page.english) says where it is published",
                    "カードの認証局の証明書を \(option) で指定してください（公開場所は \(page.japanese)）"))
        case .absent, .unsupported, .notChecked:
            self.init(
                .badFile, "signature", signature,
                hint: tr("nothing vouches for what this card says", "このカードの内容を保証するものがありません"))
        default: self.init(.badFile, "signature", signature, hint: untrusted)
        }
    }

    /// The state of a chip as a failure; `nil` where it is none.
    ///
    /// - Parameter isRequired: whether somebody wants proof that it is not a copy.
    init?(_ chip: ChipCheck, isRequired: Bool) {
        guard !chip.state.isSuccess(whenRequired: isRequired) else { return nil }
        switch chip.state {
        case .copied, .hidden:
            self.init(
                .badFile, "copy", chip,
                hint: tr("do not accept this document", "この文書を受け入れないでください"))
        default:
            self.init(
                .badFile, "chipNotProved", chip,
                hint: tr(
                    "nothing shows that this chip is not a copy; \(Documents.path("passport.md")) says when it can be shown",
                    "複製でないことは確認できません。確認できる場合は \(Documents.path("passport.ja.md")) を見てください"))
        }
    }

    /// A picture was wanted, and no file was written.
    ///
    /// - Parameters:
    ///   - isWithheld: the number that opens the card was not given.
    ///   - isRefused: the card refused to read a file.
    static func noPicture(_ path: String, isWithheld: Bool, isRefused: Bool) -> CommandError {
        if isWithheld {
            return CommandError(
                .refused, "noNumber",
                tr(
                    "\(path): the picture was not read without the card's number; no file was written",
                    "\(path): カード番号がないため画像を読めず、ファイルは書いていません"))
        }
        if isRefused {
            return CommandError(
                .refused, "refused",
                tr(
                    "\(path): the card refused to read the picture; no file was written",
                    "\(path): カードが画像の読み取りを拒否したため、ファイルは書いていません"))
        }
        return CommandError(
            .otherCard, "noPicture",
            tr(
                "\(path): the card has no such picture; no file was written", "\(path): カードにこの画像がないため、ファイルは書いていません"))
    }
}
