// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CommandDescription
import Kazasu
import KazasuCLI

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
            failure = CommandError(.documentEndUnknown)
            return
        }
        if day.description < today { failure = CommandError(.documentExpired, past[Language.current]) }
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

extension Terminal {
    /// Asks for what opens a document until the answer has the right form.
    ///
    /// - Parameters:
    ///   - tooLong: what is wrong with an answer that is longer than any form.
    ///   - value: the answer's value, or what is wrong with it.
    /// - Returns: `nil` for an empty answer.
    func ask<Value>(
        _ question: String, tooLong: CommandError, _ value: (SecretBytes) throws(CommandError) -> Value
    ) throws(CommandError) -> Value? {
        var objection = ""
        while true {
            switch try line(objection + question) {
            case .empty: return nil
            case .tooLong: objection = tooLong.message + "\n"
            case .secret(let text):
                do throws(CommandError) { return try value(text) } catch {
                    objection = error.message + "\n" + (error.hint.map { $0 + "\n" } ?? "")
                }
            }
        }
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
        switch signature.state {
        case .otherDocument: self.init(.signatureOtherDocument, signature)
        case .incomplete: self.init(.signatureIncomplete, signature)
        case .unknownAuthority: self.init(.signatureUnknownAuthority, signature, values: [page[Language.current]])
        case .absent, .unsupported, .notChecked: self.init(.signatureAbsent, signature)
        default: self.init(.signatureWrong, signature)
        }
    }

    /// The state of a chip as a failure; `nil` where it is none.
    ///
    /// - Parameter isRequired: whether somebody wants proof that it is not a copy.
    init?(_ chip: ChipCheck, isRequired: Bool) {
        guard !chip.state.isSuccess(whenRequired: isRequired) else { return nil }
        switch chip.state {
        case .copied, .hidden: self.init(.chipCopied, chip)
        default:
            self.init(.chipNotProved, chip)
        }
    }

    /// A picture was wanted, and no file was written.
    ///
    /// - Parameters:
    ///   - isWithheld: the number that opens the card was not given.
    ///   - isRefused: the card refused to read a file.
    static func noPicture(_ path: String, isWithheld: Bool, isRefused: Bool) -> CommandError {
        if isWithheld {
            return CommandError(.pictureNotOpened, values: [path])
        }
        if isRefused {
            return CommandError(.pictureRefused, values: [path])
        }
        return CommandError(.pictureAbsent, values: [path])
    }
}
