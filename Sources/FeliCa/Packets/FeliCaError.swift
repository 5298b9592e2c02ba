// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// Why a FeliCa command gave no result.
@nonexhaustive
public enum FeliCaError: Error, Hashable, Sendable {
    /// The exchange itself failed; a silent card is ``NFCTransport/TransportError/noAnswer``.
    case transport(TransportError)
    /// The card's answer to this command breaks the rules of the packet; nothing of it was used.
    case malformed(CommandCode, AnswerFlaw)
    /// The card refused.
    case status(StatusFlags)
    /// The command cannot be sent like this; nothing was sent.
    case invalidArgument(ArgumentFlaw)

    /// The card's status flags, when it refused.
    public var statusFlags: StatusFlags? {
        if case .status(let flags) = self { flags } else { nil }
    }

    /// Whether the card kept silent: it left, or it does not know the command, the mode or the IDm.
    public var isSilence: Bool { self == .transport(.noAnswer) }
}
