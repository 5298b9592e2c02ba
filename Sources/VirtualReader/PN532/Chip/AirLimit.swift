// SPDX-License-Identifier: Apache-2.0

/// How long the chip waits for an answer.
enum AirLimit: Hashable, Sendable {
    /// The window of a Polling with this time slot number.
    case polling(timeSlots: UInt8)
    /// The chip's time-out with this index.
    case timeout(UInt8)
    /// As long as the card asked for.
    case granted
    /// This long, air time included: the look for a card.
    case look(Duration)
}
