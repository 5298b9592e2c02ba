// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import NFCTransport

extension CommandError {
    /// Why a command to an ISO 7816 card gave no result.
    ///
    /// - Parameter what: the object of the command, as in "the application"; the instruction by default.
    init(_ error: ISO7816Error, _ what: String? = nil) {
        switch error {
        case .transport(let error): self.init(error)
        case .malformed(let instruction, let flaw):
            let what = what ?? instruction.title
            self.init(
                .interruptedReading, "badAnswer",
                tr(
                    "the card's answer to \(what) violates the protocol (\(flaw.words))",
                    "\(what) へのカードの応答が規格に合いません（\(flaw.words)）"),
                hint: tr(
                    "move the card a little, away from metal and other cards", "カードの位置をずらし、金属や他のカードから離してください"))
        case .status(let instruction, let status):
            let what = what ?? instruction.title
            self.init(
                .refused, "refused",
                tr("the card refused \(what): \(status.words)", "\(what) はカードに拒否されました: \(status.words)"),
                hint: CommandError.whatItIs)
        case .invalidCommand:
            self.init(
                .usage, "invalidCommand", tr("this command cannot be sent", "このコマンドは送れません"),
                hint: tr("its data or the requested length is too long", "データまたは要求する長さが大きすぎます"))
        case .guarded(let instruction): self = .guarded(instruction)
        case .selectionLost:
            self.init(
                .interruptedReading, "cardLost",
                tr("contact with the card was lost for a moment", "カードとの通信が一度途切れました"),
                hint: tr("leave it on the reader until the command ends", "終わるまでカードを置いたままにしてください"))
        case .otherCard:
            self.init(
                .interruptedReading, "cardChanged",
                tr("a different card is now on the reader", "リーダー上のカードが替わりました"),
                hint: tr("leave one card on the reader until the command ends", "終わるまで同じカードを置いたままにしてください"))
        @unknown default: self.init(.bug, "unknown", "\(error)")
        }
    }

    /// A hint at how to identify the card.
    static var whatItIs: String {
        tr("'kazasu poll --applications' identifies the card", "'kazasu poll --applications' で種類を確認できます")
    }

    /// A command or answer that is longer than the reader can carry.
    ///
    /// - Parameters:
    ///   - error: any error of an exchange.
    ///   - what: the object of the command.
    ///   - limits: those of the reader.
    /// - Returns: `nil` for other errors.
    static func tooLong(_ error: ISO7816Error, _ what: String, limits: APDULimits) -> CommandError? {
        switch error {
        case .transport(.frameTooLong(let length, let limit)):
            CommandError(
                .usage, "frameTooLong",
                tr(
                    "\(what) has \(length) bytes; this reader can send \(limit)",
                    "\(what) は \(length) バイトで、このリーダーが送れる \(limit) バイトを超えます"),
                hint: tr(
                    "send its data in parts of 255 bytes, all but the last with CLA 10 (chaining), or use another reader",
                    "データを 255 バイト以下に分け、最後以外を CLA 10（チェイニング）で送るか、別のリーダーを使ってください"))
        case .transport(.answerTooLong):
            CommandError(
                .interruptedReading, "answerTooLong",
                tr(
                    "the answer to \(what) is longer than the \(limits.longestResponse) bytes that this reader can pass on",
                    "\(what) への応答が、このリーダーの上限 \(limits.longestResponse) バイトを超えます"),
                hint: tr("read less at a time, with a smaller Le", "Le を小さくして、少しずつ読んでください"))
        default: nil
        }
    }

    /// A command for the reader itself, which could carry anything to the card past the guard.
    static func forReader() -> CommandError {
        CommandError(
            .refused, "pinGuard",
            tr(
                "of the class FF commands, only FF CA, FF A4, FF B0 and FF D6 are sent: others could carry a PIN",
                "クラス FF のコマンドのうち、送るのは FF CA・FF A4・FF B0・FF D6 だけです（ほかは暗証番号を含むおそれがあります）"),
            hint: tr("send the command for the card itself", "カード自身へのコマンドを指定してください"))
    }

    /// A PIN command that only the guard may send.
    static func guarded(_ instruction: Instruction) -> CommandError {
        CommandError(
            .refused, "pinGuard",
            tr(
                "\(instruction.title) is not sent: it could lock or change a PIN",
                "\(instruction.title) は送りません（暗証番号の閉塞や変更のおそれがあります）"),
            hint: tr(
                "to verify a PIN, write 00200081PIN and add --pin1-from; 00200081 alone returns the tries left",
                "照合するには 00200081PIN と書いて --pin1-from を付けてください。00200081 だけなら残り回数を調べます"))
    }
}

extension Instruction {
    /// The standard's name, or the code.
    var title: String { name ?? "INS \(self)" }
}

extension StatusWord {
    /// The number and what it means.
    var words: String { meaning.map { "\(self) (\($0[Language.current]))" } ?? description }
}

extension ISO7816Error.Reason {
    /// The fault in an answer, for display.
    var words: String {
        switch self {
        case .tooShort: tr("it is too short", "短すぎる")
        case .endlessResponse: tr("it has no end", "終わりがない")
        case .dataLength: tr("its length is wrong", "長さの誤り")
        case .notADataObject: tr("it is not a data object", "データオブジェクトではない")
        @unknown default: tr("it is wrong", "誤った応答")
        }
    }
}
