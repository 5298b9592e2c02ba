// SPDX-License-Identifier: Apache-2.0

/// The port pins, as the host left them.
struct GPIOPins: Sendable {
    /// P30 to P35; high until something pulls them down.
    var p3: UInt8 = 0x3F
    /// P71 and P72.
    var p7: UInt8 = 0x06

    /// Takes WriteGPIO's parameters: a byte counts when its bit 7 is set.
    mutating func write(p3 first: UInt8, p7 second: UInt8) {
        if first & 0x80 != 0 { p3 = first & 0x3F }
        if second & 0x80 != 0 { p7 = second & 0x06 }
    }
}
