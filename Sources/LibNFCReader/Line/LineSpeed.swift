// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A speed that a PN532's serial line and the host's port both know.
///
/// The chip's codes are those of SetSerialBaudRate, as in nfcpy's `pn532.py`.
struct LineSpeed: Hashable, Sendable {
    /// Bits a second.
    let bitsPerSecond: Int
    /// What the chip calls it.
    let code: UInt8
    /// What the terminal calls it.
    let terminalCode: speed_t

    /// What a PN532 starts with, and libnfc when nobody asks for another.
    static let normal = LineSpeed(bitsPerSecond: 115_200, code: 4, terminalCode: speed_t(B115200))
    /// What a long job is worth: a byte takes 11 µs instead of 87.
    static let fast = LineSpeed(bitsPerSecond: 921_600, code: 7, terminalCode: speed_t(B921600))

    private static let all = [
        LineSpeed(bitsPerSecond: 9600, code: 0, terminalCode: speed_t(B9600)),
        LineSpeed(bitsPerSecond: 19_200, code: 1, terminalCode: speed_t(B19200)),
        LineSpeed(bitsPerSecond: 38_400, code: 2, terminalCode: speed_t(B38400)),
        LineSpeed(bitsPerSecond: 57_600, code: 3, terminalCode: speed_t(B57600)),
        normal,
        LineSpeed(bitsPerSecond: 230_400, code: 5, terminalCode: speed_t(B230400)),
        LineSpeed(bitsPerSecond: 460_800, code: 6, terminalCode: speed_t(B460800)),
        fast,
    ]

    private init(bitsPerSecond: Int, code: UInt8, terminalCode: speed_t) {
        self.bitsPerSecond = bitsPerSecond
        self.code = code
        self.terminalCode = terminalCode
    }

    /// The speed of so many bits a second, `nil` when one of the two ends does not know it.
    init?(bitsPerSecond: Int) {
        guard let speed = Self.all.first(where: { $0.bitsPerSecond == bitsPerSecond }) else { return nil }
        self = speed
    }
}
