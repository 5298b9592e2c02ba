// SPDX-License-Identifier: Apache-2.0

internal import FeliCa

extension StatusFlags {
    /// Status flag 1 and 2 as one number.
    var value: UInt16 { UInt16(flag1) << 8 | UInt16(flag2.rawValue) }

    /// Whether the command asked for more services or blocks than the card gives at once.
    var isTooMany: Bool { flag2 == .wrongServiceCount || flag2 == .wrongBlockCount }
}
