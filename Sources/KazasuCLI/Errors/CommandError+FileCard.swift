// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ISO7816
import NFCTransport

extension CommandError {
    /// Why a licence or a My Number card was not read, or not completely.
    init(_ error: FileCardReadingError) {
        switch error {
        case .otherCard:
            self.init(
                .otherCard, "otherCard",
                tr(
                    "wrong kind of card: it has none of the applications that this command reads",
                    "このカードには、このコマンドで読めるアプリケーションがありません"),
                hint: CommandError.whatItIs)
        case .pinSettingUnreadable(let status):
            let cause = status.map { ": \($0.words)" } ?? ""
            self.init(
                .refused, "pinGuard",
                tr(
                    "cannot read whether PINs are set\(cause); nothing else was done",
                    "暗証番号が設定されているかを読めない\(cause)ため、何もしませんでした"),
                hint: tr(
                    "put the card flat on the reader and try again; no try was used",
                    "カードを平らに置いて、もう一度試してください。回数は減っていません"))
        case .card(.transport(.cancelled)): self = .cancelled()
        case .card(let error): self.init(error)
        case .pin(let error): self.init(error)
        @unknown default: self.init(.bug, "unknown", "\(error)")
        }
    }
}

extension CommandError {
    /// Why a PIN was not sent, or was sent without success.
    init(_ error: PINGuardError) {
        let name = error.reference.name[Language.current]
        switch error {
        case .form(let reference):
            self.init(
                .refused, "pinForm",
                tr(
                    "\(name) must be \(reference.form.words); nothing was sent",
                    "\(name)は\(reference.form.words)ですが、入力が違います。何も送っていません"), hint: CommandError.tryAgain)
        case .alreadySent:
            self.init(
                .refused, "pinSentBefore",
                tr("\(name) was already sent in this run and is not sent again", "\(name)はこの実行で送信済みのため、再送しません"),
                hint: tr("verify each PIN once in a run", "1 回の実行での照合は 1 回だけにしてください"))
        case .earlierFailure:
            self.init(
                .refused, "pinNotSent",
                tr("\(name) was not sent, because an earlier PIN failed", "先の暗証番号が照合できなかったため、\(name)は送っていません"),
                hint: CommandError.tryAgain)
        case .locked:
            self.init(
                .refused, "pinLocked", tr("\(name) is locked; nothing was sent", "\(name)は閉塞しています。何も送っていません"),
                hint: tr("only the office that issued the card can unlock it", "解除できるのはカードの発行窓口だけです"))
        case .lastTry(_, let tries):
            self.init(
                .refused, "lastTry",
                tr("\(name) was not sent: \(tries.words)", "\(name)は送っていません: \(tries.words)"),
                hint: tr(
                    "if you are sure it is correct, add --allow-last-try and type yes on the terminal",
                    "確実に正しい場合だけ --allow-last-try を付け、端末で yes と入力してください"))
        case .triesUnreadable(_, let error):
            let cause = CommandError(error)
            self.init(
                cause.status, cause.reason,
                tr(
                    "\(name) was not sent, because the number of tries left cannot be read: \(cause.message)",
                    "残り回数を読めないため、\(name)は送っていません: \(cause.message)"), hint: cause.hint)
        case .notVerifiable(_, let status):
            self.init(
                .refused, "refused",
                tr("\(name) was not sent: the card says \(status.words)", "\(name)は送っていません: カードの応答 \(status.words)"),
                hint: CommandError.otherPIN)
        case .wrong(_, .locked):
            self.init(
                .refused, "pinLocked", tr("\(name) is wrong and is now locked", "\(name)が違います。閉塞しました"),
                hint: tr("only the office that issued the card can unlock it", "解除できるのはカードの発行窓口だけです"))
        case .wrong(_, let tries):
            self.init(
                .refused, "wrongPIN", tr("\(name) is wrong; \(tries.words)", "\(name)が違います。\(tries.words)"),
                hint: CommandError.tryAgain)
        case .refused(_, let status, let tries):
            self.init(
                .refused, "refused",
                tr(
                    "the card did not accept \(name): \(status.words)\(tries.map { "; \($0.words)" } ?? "")",
                    "カードが\(name)を受け付けません: \(status.words)\(tries.map { "。\($0.words)" } ?? "")"),
                hint: CommandError.otherPIN
            )
        case .interrupted(_, let error, let before, let after):
            self = .interrupted(name, CommandError(error), before, after)
        @unknown default: self.init(.bug, "unknown", "\(error)")
        }
    }

    private static let tryAgain = tr("check the PIN before the next try", "暗証番号を確かめてからやり直してください")
    private static let otherPIN = tr(
        "the card may not have this PIN, or may expect it in another application", "カードにこの暗証番号がないか、別の場所にある可能性があります")

    private static func interrupted(
        _ name: String, _ cause: CommandError, _ before: TriesLeft, _ after: TriesLeft?
    ) -> CommandError {
        let counted =
            switch (before, after) {
            case (_, nil): tr("the card's state could not be checked", "カードの状態は確認できませんでした")
            case (_, .locked?): tr("it counted as a wrong PIN and is now locked", "照合の誤りとして数えられ、閉塞しました")
            case (.count(let before), .count(let after)?) where after < before:
                tr(
                    "it counted as a wrong PIN: \(TriesLeft.count(after).words)",
                    "照合の誤りとして数えられました: \(TriesLeft.count(after).words)")
            case (.count, .count(let after)?):
                tr(
                    "no try was used: \(TriesLeft.count(after).words)",
                    "回数は減っていません: \(TriesLeft.count(after).words)")
            case (_, let after?):
                tr("its effect is unknown: \(after.words)", "照合されたかどうかは不明です: \(after.words)")
            }
        return CommandError(
            [.interrupted, .terminated].contains(cause.status) ? cause.status : .interruptedReading, "pinInterrupted",
            tr(
                "the exchange failed while \(name) was sent (\(cause.message)); \(counted); it is not sent again",
                "\(name)の送信中に通信が途切れました（\(cause.message)）。\(counted)。再送はしません"), hint: cause.hint)
    }
}

extension TriesLeft {
    /// The number of tries left, for display.
    var words: String {
        switch self {
        case .count(1): tr("1 try is left", "残り 1 回")
        case .count(let count): tr("\(count) tries are left", "残り \(count) 回")
        case .locked: tr("it is locked", "閉塞しています")
        case .notNeeded: tr("the card does not require it", "照合は不要です")
        case .unknown: tr("the number of tries left is unknown", "残り回数は分かりません")
        case .refused(let status): tr("the card says \(status.words)", "カードの応答 \(status.words)")
        }
    }
}

extension PINForm {
    /// The PIN's name, for display.
    var words: String {
        switch self {
        case .digits(let count): tr("\(count) digits", "数字 \(count) 桁")
        case .capitalsAndDigits(let counts):
            tr(
                "\(counts.lowerBound) to \(counts.upperBound) capital letters and digits",
                "英大文字と数字 \(counts.lowerBound)～\(counts.upperBound) 文字")
        case .printable(let counts):
            tr(
                "\(counts.lowerBound) to \(counts.upperBound) characters",
                "\(counts.lowerBound)～\(counts.upperBound) 文字")
        case .exactly: tr("the placeholder for a PIN that is not set", "未設定時の値")
        @unknown default: "\(self)"
        }
    }
}
