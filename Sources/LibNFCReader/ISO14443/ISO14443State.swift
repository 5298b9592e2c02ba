// SPDX-License-Identifier: Apache-2.0

/// What the chip was told of looking for cards, of type A and B most of all, and which one it has selected.
struct ISO14443State: Hashable, Sendable {
    /// Which frames the selected card takes.
    enum Selection: Hashable, Sendable {
        /// Packets as they are: FeliCa, or nothing was looked for yet.
        case packets
        /// Type A without ISO-DEP: the card's own commands, whose CRC the host checks.
        case commands
        /// APDUs, which the chip carries by ISO-DEP.
        case apdus
        /// None: it must be selected anew before anything is sent.
        case none
    }

    /// Which frames the selected card takes.
    var selection = Selection.packets
    /// Whether the chip sends RATS to a card of type A that speaks ISO-DEP, `nil` when that is not known; libnfc
    /// leaves it switched on.
    var sendsRATS: Bool? = true
    /// Whether a card may be in the state that follows its selection, in which it does not answer a new request.
    var hasSelected = false
    /// Whether the next request may switch the field on, so that a card may miss it.
    var fieldIsFresh = true
    /// How often the chip repeats a request that nobody answers, `nil` when that is not known.
    var repeats: UInt8?

    /// The chip may have been reset.
    mutating func forget() {
        selection = selection == .packets ? .packets : .none
        sendsRATS = nil
        fieldIsFresh = true
        repeats = nil
    }
}
