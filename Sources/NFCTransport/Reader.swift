// SPDX-License-Identifier: Apache-2.0

/// An open reader, and the channel to the card that was activated last.
public protocol Reader: CardChannel, AnyObject {
    /// What is known of the reader without a card.
    var information: ReaderInformation { get }

    /// Looks once for a card and selects it; does not wait for one to come.
    ///
    /// - Returns: the card, or `nil` when none answered.
    /// - Throws: ``TransportError`` when the reader failed or work was cancelled.
    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC?

    /// Waits until a card may have come or left, for readers that are told of it.
    ///
    /// - Parameter time: how long at most; it may return sooner, without an event too.
    /// - Returns: `false`, at once, when the reader is not told: then it has to be asked now and then.
    /// - Throws: ``TransportError`` when the reader failed or work was cancelled.
    func waitForEvent(within time: Duration) throws(TransportError) -> Bool

    /// Switches the field off and gives the device back. Further calls do nothing.
    func close()
}

extension Reader {
    /// No event: the reader has to be asked.
    public func waitForEvent(within time: Duration) throws(TransportError) -> Bool { false }
}
