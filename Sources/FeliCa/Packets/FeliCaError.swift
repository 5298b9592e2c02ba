// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

/// Why a FeliCa command gave no result.
@nonexhaustive
public enum FeliCaError: Error, Hashable, Sendable {
    /// The exchange itself failed; a silent card is ``TransportError/noAnswer``.
    case transport(TransportError)
    /// The card's answer to this command breaks the rules of the packet; nothing of it was used.
    case malformed(CommandCode, FeliCaError.Reason)
    /// The card refused.
    case status(StatusFlags)
    /// The command cannot be sent like this; nothing was sent.
    case invalidArgument(FeliCaError.ArgumentReason)

    /// The card's status flags, when it refused.
    public var statusFlags: StatusFlags? {
        if case .status(let flags) = self { flags } else { nil }
    }

    /// Whether the card kept silent: it left, or it does not know the command, the mode or the IDm.
    public var isSilence: Bool { self == .transport(.noAnswer) }
}

extension FeliCaError {
    /// What is wrong with an answer.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// No byte at all.
        case empty
        /// The LEN byte and the number of bytes that came differ.
        case length(declared: Int, received: Int)
        /// It answers another command; the byte or two bytes where the response code is.
        case responseCode(UInt16)
        /// It came from another card, or another system of the card.
        case idm(IDm)
        /// A field is not there in full; `missing` bytes more were needed.
        case tooShort(missing: Int)
        /// `extra` bytes came after the last field.
        case trailingBytes(extra: Int)
        /// It contains a different number of entries than requested.
        case count(expected: Int, received: Int)
        /// A field has a value that its definition does not allow.
        case value(Field, UInt16)
        /// The bytes that came back are not those that were sent: Echo.
        case echo

        /// Fields that have few legal values.
        @nonexhaustive
        public enum Field: Hashable, Sendable {
            /// The mode in Request Response, 0 to 3.
            case mode
            /// The format version in Request Specification Version, 0.
            case formatVersion
        }
    }
}

extension FeliCaError {
    /// Why a command cannot be sent as asked.
    @nonexhaustive
    public enum ArgumentReason: Hashable, Sendable {
        /// Too few or too many entries in a list.
        case count(List, Int, allowed: ClosedRange<Int>)
        /// The command would be longer than LEN can say, 255 bytes.
        case packetTooLong(Int)
        /// The answer would be longer than LEN can say, 255 bytes.
        case answerTooLong(Int)
        /// Element `element` of the Block List names a service (counted from 0) that is not in the Service Code List.
        case serviceIndex(Int, element: Int)

        /// The lists that commands carry.
        @nonexhaustive
        public enum List: Hashable, Sendable {
            /// The Node Code List.
            case nodes
            /// The Service Code List.
            case services
            /// The Block List.
            case blocks
            /// The blocks to write, one for each element of the Block List.
            case blockData
            /// The bytes of an Echo.
            case echoData
        }
    }
}
