// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// A chip that carries single frames of ISO 14443 and knows nothing of what they mean.
public protocol RawFrameChannel: AnyObject {
    /// The longest frame in bytes, CRC included, that can be sent and received.
    var longestRawFrame: Int { get }

    /// Sends one frame and returns the card's answer. The field is on, and comes on when it is off.
    ///
    /// - Parameters:
    ///   - frame: what the card is to get.
    ///   - timeout: the longest time that the card may take; the channel adds what chip and computer need.
    /// - Throws: ``NFCTransport/TransportError/noAnswer`` when nothing came,
    ///   ``NFCTransport/TransportError/corrupted(status:)`` when it came damaged or cards collided, and other cases
    ///   when the reader failed.
    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer

    /// Selects a card of type A, where the chip does so itself.
    func selectTypeA() throws(TransportError) -> ChipSelection

    /// Switches the field off long enough for every card to forget its state, and on again.
    func resetField() throws(TransportError)

    /// Lets time pass, as a card may ask for before its first command.
    func wait(_ time: Duration) throws(TransportError)
}

/// What became of a chip's own search for a card of type A.
public enum ChipSelection: Hashable, Sendable {
    /// The chip selects no cards.
    case unsupported
    /// There is no card.
    case nothing
    /// The chip does not say whether it has selected one: one that it has selected takes the first request for an error,
    /// and answers the next.
    case unknown
    /// A card, which takes its own commands or RATS now.
    ///
    /// - Parameter sak: `nil` when the chip does not say.
    case card(uid: [UInt8], sak: UInt8?)
}

extension RawFrameChannel {
    /// Single frames only.
    public func selectTypeA() -> ChipSelection { .unsupported }
}
