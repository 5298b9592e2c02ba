// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
public import CardReading
internal import FeliCa
public import ISO7816
public import NFCForumTags
public import NFCTransport

/// An error of a reader, a card or a decoder.
@nonexhaustive
public enum KazasuError: Error, Hashable, Sendable {
    /// No connected reader can be used; each listing gives the reason.
    case noReader([ReaderListing])
    /// No driver knows this ID.
    case unknownReader(String)
    /// The reader cannot be opened, or failed.
    case reader(TransportError, id: String)
    /// The file of a `virtual:` or `replay:` reader cannot be read.
    case unreadableFile(String, errno: Int32)
    /// The file of a `virtual:` or `replay:` reader is not a card or a recording.
    case badFile(String, DocumentError)
    /// The system has no pseudo-terminal or no thread for a simulated reader.
    case noSimulatedReader(errno: Int32)
    /// The link to a simulated reader cannot be made at this path.
    case cannotLink(String, errno: Int32)
    /// No card arrived in time.
    case noCard
    /// A card is on the reader, but not of the requested kind.
    case wrongCard(WrongCard)
    /// Reading ended early: the card left, its answers were damaged, or the reader failed.
    case reading(ReadingError)
    /// The card refused to let a service be read.
    case refused(ServiceCode, RefusalReason)
    /// The bytes were read, but do not contain the requested data.
    case decoding(CardDecodingError)
    /// Reading a licence or a My Number card ended early, or a PIN was not accepted.
    case fileCard(FileCardReadingError)
    /// An exchange of APDUs failed.
    case apdu(ISO7816Error)
    /// A tag could not be read or written.
    case tag(TagError)
    /// The work was cancelled.
    case cancelled
}

/// A card that is on the reader but cannot be used for the request.
public struct WrongCard: Hashable, Sendable {
    /// The card.
    public let card: PICC
    /// The names of what it was recognised as, most specific first; empty if only its technology is known.
    public let names: [LocalizedText]
    /// The ids of what it was recognised as, such as `licence`, in the order of ``names``; empty for FeliCa.
    package let kinds: [String]
    /// The reason why it cannot be used.
    public let reason: Reason

    /// Makes a card that cannot be used, with what it was recognised as.
    package init(_ card: PICC, names: [LocalizedText] = [], kinds: [String] = [], _ reason: Reason) {
        self.card = card
        self.names = names
        self.kinds = kinds
        self.reason = reason
    }

    /// Whether it appears to be the same card: its UID may differ at each activation.
    func isLike(_ other: WrongCard) -> Bool {
        card.technology == other.card.technology && names == other.names && reason == other.reason
    }

    /// The reasons why a card cannot be used.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// It is not of the wanted kind.
        case kind(wanted: CardQuery.Kind)
        /// It is a FeliCa card without any of these systems.
        case noSystem([SystemCode])
        /// It does not accept APDUs.
        case noISODEP
        /// It has the system of a known card, but none of its services; holds the system and the decoders' ids.
        case noService(SystemCode?, decoders: [String])
    }
}

extension KazasuError {
    /// Converts to an error of this layer; a cancellation stays a cancellation.
    package init(_ error: ReadingError) {
        self = error == .cancelled ? .cancelled : .reading(error)
    }
}
