// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// A card in a simulated field; it sees frames as a real card does, without preamble, sync code and CRC.
///
/// A field is used from the reader's thread and looked at from others, so cards guard what they remember.
public protocol VirtualCard: AnyObject, Sendable {
    /// What the card does with a frame that arrives at this speed; `nil` when it keeps silent.
    ///
    /// - Parameter frame: a whole FeliCa packet with its LEN byte. It may be anything: cards never trap.
    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer?

    /// The field was switched off, or the card was taken away: what is only kept under power is lost.
    func losePower()
}
