// SPDX-License-Identifier: Apache-2.0

/// The frames of the PN53x host link.
///
/// Layouts and limits as in libnfc (`libnfc/chips/pn53x.c`) and nfcpy (`nfc/clf/pn53x.py`).
enum PN532Frame {
    /// The most bytes that a frame carries, the frame identifier included.
    static let longestData = 265

    /// The other side understood the frame; from the host it also ends a running command.
    static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]

    /// The other side shall send its last frame again.
    static let notAcknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]

    /// The chip's answer to a command that it cannot parse.
    static let syntaxError = encode([0x7F])

    /// Wraps frame identifier, command code and parameters; a normal frame up to 255 bytes, an extended one beyond.
    static func encode(_ data: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0x00, 0x00, 0xFF]
        if data.count <= 0xFF {
            let length = UInt8(truncatingIfNeeded: data.count)
            frame += [length, 0 &- length]
        } else {
            let high = UInt8(truncatingIfNeeded: data.count >> 8)
            let low = UInt8(truncatingIfNeeded: data.count)
            frame += [0xFF, 0xFF, high, low, 0 &- (high &+ low)]
        }
        return frame + data + [0 &- sum(data), 0x00]
    }

    /// The sum of bytes modulo 256; a field and its checksum give 0.
    static func sum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0, &+)
    }
}
