// SPDX-License-Identifier: Apache-2.0

/// The commands of ISO 14443-3 type A, and of ISO 14443-4 before the first block.
enum TypeACommand {
    /// REQA, seven bits: all cards that were not halted.
    static let request: UInt8 = 0x26
    /// WUPA, seven bits: all cards.
    static let wakeUp: UInt8 = 0x52
    /// The first byte of anticollision and SELECT at each cascade level.
    static let levels: [UInt8] = [0x93, 0x95, 0x97]
    /// NVB of an anticollision command without bits of the UID.
    static let noBits: UInt8 = 0x20
    /// NVB of a SELECT.
    static let allBits: UInt8 = 0x70
    /// HLTA, followed by 00.
    static let halt: UInt8 = 0x50
    /// RATS.
    static let requestAnswerToSelect: UInt8 = 0xE0
    /// The bit of a SAK that says that the UID goes on at the next cascade level.
    static let incomplete: UInt8 = 0x04
    /// The bit of a SAK that says that the card speaks ISO 14443-4.
    static let speaksISODEP: UInt8 = 0x20
}
