// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

/// Why a command to an ISO 7816 card gave no result.
@nonexhaustive
public enum ISO7816Error: Error, Hashable, Sendable {
    /// The exchange itself failed. The card has to be selected anew; see ``ISO7816Session/reselect()``.
    case transport(TransportError)
    /// The card's answer breaks the rules of a response APDU; nothing of it was used.
    case malformed(Instruction, ISO7816Error.Reason)
    /// The card answered with a status word that says no, or that the operation cannot go on with.
    case status(Instruction, StatusWord)
    /// The command cannot be sent like this; nothing was sent.
    case invalidCommand(APDUError)
    /// The instruction carries or spends a PIN; nothing was sent, since only ``PINGuard`` may.
    case guarded(Instruction)
    /// An earlier exchange failed, so the card was selected anew and its current file is the MF again: the command was
    /// not sent, since it would have met another file. SELECT the application again.
    case selectionLost
    /// After a failed exchange another card lies on the reader.
    case otherCard

    /// The card's status word, when it said no.
    public var statusWord: StatusWord? {
        if case .status(_, let status) = self { status } else { nil }
    }
}

extension ISO7816Error {
    /// What is wrong with a response APDU.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// Fewer than the two bytes of the status word.
        case tooShort(length: Int)
        /// GET RESPONSE gave no byte, more than was promised in all, or never came to an end.
        case endlessResponse
        /// The data field has another length than the command asked for.
        case dataLength(expected: Int, received: Int)
        /// The data field is not the data object that the command asks for.
        case notADataObject
    }
}
