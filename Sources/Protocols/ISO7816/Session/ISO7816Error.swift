// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import ReaderCore

/// Why a command to an ISO 7816 card gave no result.
@nonexhaustive
public enum ISO7816Error: Error, Hashable, Sendable {
    /// The exchange itself failed. Nothing is selected any more: activate the card again.
    case transport(TransportError)
    /// The card's answer violates the format of a response APDU; none of it was used.
    case malformed(Instruction, ISO7816Error.Reason)
    /// The card refused with this status word, or the operation cannot continue after it.
    case status(Instruction, StatusWord)
    /// The command cannot be sent in this form; nothing was sent.
    case invalidCommand(APDUError)
    /// The instruction carries or spends a PIN; nothing was sent.
    ///
    /// Only `Card.license` and `Card.myNumber` send PINs.
    case guarded(Instruction)
    /// An earlier exchange failed, so the card was activated again and its current file is the MF.
    ///
    /// The command was not sent, since it would have reached another file. SELECT the application again.
    case selectionLost
    /// After a failed exchange, another card is on the reader.
    case otherCard

    /// The card's status word, if it refused.
    public var statusWord: StatusWord? {
        if case .status(_, let status) = self { status } else { nil }
    }
}

extension ISO7816Error {
    /// The faults of a response APDU.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// Fewer than the two bytes of the status word.
        case tooShort(length: Int)
        /// GET RESPONSE returned no byte, more than was promised in all, or never came to an end.
        case endlessResponse
        /// The length of the data field is not the one that the command requested.
        case dataLength(expected: Int, received: Int)
        /// The data field is not the data object that the command requested.
        case notADataObject
    }
}

extension ISO7816Error: SelfDescribing {
    /// What failed, with the name of the command.
    public var message: LocalizedText { message(about: nil) }

    /// Returns the same for a command with a purpose, as in "the application".
    package func message(about what: LocalizedText?) -> LocalizedText {
        switch self {
        case .transport(let error): return error.message
        case .malformed(let instruction, let fault):
            let what = what ?? LocalizedText(instruction.title, instruction.title)
            return LocalizedText(
                "the card's answer to \(what.english) violates the protocol (\(fault.message.english))",
                "\(what.japanese) へのカードの応答が規格に合いません（\(fault.message.japanese)）")
        case .status(let instruction, let status):
            let what = what ?? LocalizedText(instruction.title, instruction.title)
            return LocalizedText(
                "the card refused \(what.english): \(status.text.english)",
                "\(what.japanese) はカードに拒否されました: \(status.text.japanese)")
        case .invalidCommand(let error):
            return LocalizedText(
                "this command cannot be sent: \(error.message.english)", "このコマンドは送れません: \(error.message.japanese)")
        case .guarded(let instruction):
            return LocalizedText(
                "\(instruction.title) is not sent: it could lock or change a PIN",
                "\(instruction.title) は送りません（暗証番号の閉塞や変更のおそれがあります）")
        case .selectionLost:
            return LocalizedText("contact with the card was lost for a moment", "カードとの通信が一度途切れました")
        case .otherCard:
            return LocalizedText("a different card is now on the reader", "リーダー上のカードが替わりました")
        }
    }
}

extension ISO7816Error.Reason: SelfDescribing {
    /// The fault of the answer.
    public var message: LocalizedText {
        switch self {
        case .tooShort: LocalizedText("it is too short", "短すぎる")
        case .endlessResponse: LocalizedText("it has no end", "終わりがない")
        case .dataLength: LocalizedText("its length is wrong", "長さの誤り")
        case .notADataObject: LocalizedText("it is not a data object", "データオブジェクトではない")
        }
    }
}

extension Instruction {
    /// The standard's name, or the code.
    package var title: String { name ?? "INS \(self)" }
}
