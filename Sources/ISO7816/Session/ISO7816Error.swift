// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

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
