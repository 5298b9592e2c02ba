// SPDX-License-Identifier: Apache-2.0

/// What a simulated chip is about to do next, for tests that interfere at every possible moment.
public enum ChipMoment: Hashable, Sendable {
    /// A host command was received whole; nothing was done about it yet.
    case received
    /// The command was acknowledged and is about to be carried out.
    case acknowledged
    /// A frame is about to be sent to the cards.
    case exchange
    /// The command was carried out and its answer is about to be sent.
    case answer
    /// The answer was sent.
    case answered
}
