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

    /// Switches the field off and gives the device back. Further calls do nothing.
    func close()
}
