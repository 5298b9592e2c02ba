// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Status Flag 1 and Status Flag 2: whether the card did what it was asked, and why not.
public struct StatusFlags: Hashable, Sendable {
    /// Status Flag 1: 00 success, FF an error that belongs to no list entry, else which entry is wrong.
    public let flag1: UInt8
    /// Status Flag 2: what is wrong.
    public let flag2: StatusFlag2

    /// Flags from their bytes.
    public init(_ flag1: UInt8, _ flag2: UInt8) {
        self.flag1 = flag1
        self.flag2 = StatusFlag2(rawValue: flag2)
    }

    /// Whether both are 00.
    public var isSuccess: Bool { flag1 == 0 && flag2.rawValue == 0 }

    /// Whether data was written although a warning came: `71`, with 00 or FF before it depending on the product.
    public var isWarning: Bool { flag2 == .rewriteCountExceeded }

    /// Which entries (counted from 0) of a list of `count` entries Status Flag 1 may mean, in a style.
    ///
    /// One value does not tell the style; a card keeps to one.
    public func candidates(_ style: StatusFlagStyle, count: Int) -> [Int] {
        guard flag1 != 0, flag1 != 0xFF, count > 0 else { return [] }
        return switch style {
        case .ordinal: Int(flag1) <= count ? [Int(flag1) - 1] : []
        case .bitmap: (0..<min(count, 16)).filter { flag1 >> UInt8($0 & 7) & 1 == 1 }
        case .alwaysFF: []
        }
    }
}

extension StatusFlags: CustomStringConvertible {
    /// Four upper-case hexadecimal digits: `01A8`.
    public var description: String {
        Hex.encode(flag1, digits: 2) + Hex.encode(flag2.rawValue, digits: 2)
    }
}
