// SPDX-License-Identifier: Apache-2.0

/// A card in a simulated field; it sees frames as a real card does, without preamble, sync code and CRC.
///
/// A field is used from the reader's thread and looked at from others, so cards guard what they remember.
public protocol VirtualCard: AnyObject, Sendable {
    /// What the card does with a frame; `nil` when it keeps silent, as to every frame of a technology that is not its
    /// own.
    ///
    /// - Parameter frame: it may hold anything: cards never trap.
    func answer(_ frame: RadioFrame) -> CardAnswer?

    /// The field was switched off, or the card was taken away: what is only kept under power is lost.
    func losePower()
}
