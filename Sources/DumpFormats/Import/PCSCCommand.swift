// SPDX-License-Identifier: Apache-2.0

import CardModel

/// A command APDU that PC/SC readers offer for FeliCa.
enum PCSCCommand: Equatable {
    /// `FF A4 00 01 02`, then a service code, low byte first.
    case selectService(ServiceCode)
    /// `FF B0`, then the number of the first block and the length of the answer.
    case readBlocks(from: UInt16)
    /// `FF CA 00 00`: the IDm.
    case readIDm
    /// `FF CA 01 00`: the PMm.
    case readPMm
    /// Some other command for the reader.
    case other

    /// `nil` for bytes that are no such command.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4, bytes[0] == 0xFF else { return nil }
        switch (bytes[1], bytes[2], bytes[3], bytes.count) {
        case (0xA4, 0x00, 0x01, 7...8) where bytes[4] == 2:
            self = .selectService(ServiceCode(rawValue: UInt16(bytes[6]) << 8 | UInt16(bytes[5])))
        case (0xB0, let high, let low, 5): self = .readBlocks(from: UInt16(high) << 8 | UInt16(low))
        case (0xCA, 0x00, 0x00, 4...5): self = .readIDm
        case (0xCA, 0x01, 0x00, 4...5): self = .readPMm
        // A block may begin with FF too; so may an answer of the length of a command.
        case (0x00...0xCF, _, _, 5...8): self = .other
        default: return nil
        }
    }
}
