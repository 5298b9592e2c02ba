// SPDX-License-Identifier: Apache-2.0

/// The commands of a Port-100 that Kazasu sends; an answer has the code plus one.
///
/// Source: nfcpy's `rcs380.py`, the kernel's `drivers/nfc/port100.c`.
enum Port100Command: UInt8, Sendable {
    /// Which modulation is sent and received.
    case inSetRF = 0x00
    /// How frames are made and checked, as pairs of number and value.
    case inSetProtocol = 0x02
    /// A frame to the card, and its answer.
    case inCommRF = 0x04
    /// The field off or on.
    case switchRF = 0x06
    /// The firmware's version, two bytes BCD, the low one first.
    case getFirmwareVersion = 0x20
    /// Which set of commands is used.
    case setCommandType = 0x2A
}
