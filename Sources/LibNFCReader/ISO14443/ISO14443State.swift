// SPDX-License-Identifier: Apache-2.0

/// What the chip was told of cards of type A and B, and which one it has selected.
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
    /// Whether the field may have been switched on by the last request, so that a card may have missed it.
    var fieldIsFresh = true

    /// The chip may have been reset.
    mutating func forget() {
        selection = selection == .packets ? .packets : .none
        sendsRATS = nil
        fieldIsFresh = true
    }
}
