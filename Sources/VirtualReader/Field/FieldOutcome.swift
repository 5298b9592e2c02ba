// SPDX-License-Identifier: Apache-2.0

/// What came back through the air after a reader sent one frame.
public enum FieldOutcome: Hashable, Sendable {
    /// Nothing.
    case silence
    /// A card's answer.
    case answer(CardAnswer)
    /// Something that the chip reports with this PN53x status (02 CRC, 03 parity, 05 framing, 06 collision).
    case damaged(status: UInt8)
}
