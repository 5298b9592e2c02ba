// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What Glibc's Swift overlay lacks of terminals.
enum Terminal {
    private static let setExclusive: UInt = 0x540C
    private static let clearExclusive: UInt = 0x540D
    private static let getExclusive: UInt = 0x8004_5440

    /// Sets or clears the mark (TIOCEXCL) with which every further open fails with EBUSY, but for root's.
    ///
    /// - Returns: whether it is a terminal.
    @discardableResult
    static func mark(_ descriptor: Int32, exclusive: Bool) -> Bool {
        ioctl(descriptor, exclusive ? setExclusive : clearExclusive) == 0
    }

    /// Whether the mark is set.
    static func isMarked(_ descriptor: Int32) -> Bool {
        var value: Int32 = 0
        return unsafe ioctl(descriptor, getExclusive, &value) == 0 && value != 0
    }

    /// Whether the descriptor is one end of a pseudo-terminal (Linux's device numbers 136 to 143).
    static func isPseudoTerminal(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return (136...143).contains((status.st_rdev >> 8) & 0xFFF)
    }
}
