// SPDX-License-Identifier: Apache-2.0

/// What the PC/SC service knows of a reader at one moment.
struct CardPresence: Hashable, Sendable {
    /// The state as the service gives it: flags below, a count of events above bit 16.
    var state: UInt
    /// The ATR of the card, empty when there is none.
    var atr: [UInt8]

    /// Nothing is known yet: whatever is the case counts as an event.
    static let unknown = CardPresence(state: 0, atr: [])

    private static let unknownReader: UInt = 0x0004
    private static let unavailable: UInt = 0x0008
    private static let present: UInt = 0x0020
    private static let mute: UInt = 0x0200

    /// Whether a card is there and answers.
    var hasCard: Bool { state & Self.present != 0 && state & Self.mute == 0 }
    /// Whether the reader is gone.
    var readerIsGone: Bool { state & (Self.unknownReader | Self.unavailable) != 0 }
}
