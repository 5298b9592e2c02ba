// SPDX-License-Identifier: Apache-2.0

import ByteCodec

/// The CCID messages that an ACR122U and its hosts exchange: ten bytes of header, then data.
///
/// Source: USB's "Specification for Integrated Circuit(s) Cards Interface Devices", revision 1.1, chapter 6.
struct CCIDMessage: Hashable, Sendable {
    /// PC_to_RDR_IccPowerOn, PC_to_RDR_XfrBlock and RDR_to_PC_DataBlock.
    static let (powerOn, transfer, dataBlock): (UInt8, UInt8, UInt8) = (0x62, 0x6F, 0x80)
    /// bError ICC_MUTE: the card did not answer in time.
    static let mute: UInt8 = 0xFE

    let kind: UInt8
    let sequence: UInt8
    let data: [UInt8]

    /// Reads a host's message; `nil` when its length is not the one that it says.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let kind = try? reader.readUInt8(), let length = try? reader.readUInt32(.little), bytes.count >= 10,
            Int(length) == bytes.count - 10
        else { return nil }
        self.kind = kind
        sequence = bytes[6]
        data = Array(bytes.dropFirst(10))
    }

    /// A reader's answer: length little-endian, slot 0, status 00 as in published traces (libnfc#263, #691).
    static func answer(_ sequence: UInt8, _ data: [UInt8], error: UInt8 = 0x81) -> [UInt8] {
        let count = UInt16(truncatingIfNeeded: data.count)
        let length = [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8), 0, 0]
        return [dataBlock] + length + [0x00, sequence, 0x00, error, 0x00] + data
    }
}
