// SPDX-License-Identifier: Apache-2.0

/// What goes over the USB between a Port-100 and its host.
///
/// `00 00 FF FF FF LEN LCS data DCS 00`: LEN is two bytes, little-endian; LCS makes LEN's bytes zero when added up, DCS
/// the data's. Sources: the kernel's `drivers/nfc/port100.c`, nfcpy's `rcs380.py`.
enum Port100Frame: Hashable, Sendable {
    /// From the reader: it has the command. From the host: give up what you are doing.
    case acknowledge
    /// The reader could not read the command.
    case error
    /// A command or an answer, from D6 or D7 on.
    case data([UInt8])

    /// The bytes of ``acknowledge``.
    static let acknowledgeBytes: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// The bytes of ``error``.
    static let errorBytes: [UInt8] = [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00]
    /// How ``data`` begins.
    static let dataStart: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0xFF]

    /// The frame around data of at most 65535 bytes.
    static func encode(_ data: [UInt8]) -> [UInt8] {
        let length = [UInt8(truncatingIfNeeded: data.count), UInt8(truncatingIfNeeded: data.count >> 8)]
        return dataStart + length + [checksum(length)] + data + [checksum(data), 0x00]
    }

    /// What makes the sum of bytes zero.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        0 &- bytes.reduce(0, &+)
    }
}
