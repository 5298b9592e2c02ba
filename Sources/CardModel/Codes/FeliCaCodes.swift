// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A 16-bit code that people write as four upper-case hexadecimal digits, most significant first.
public protocol FourDigitCode: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number that the four digits write.
    var rawValue: UInt16 { get }
    /// A code from the number that its four digits write.
    init(rawValue: UInt16)
}

extension FourDigitCode {
    /// A code from one to four hexadecimal digits with or without `0x`, as a user types it; else `nil`.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        self.init(digits: text.utf8.span)
    }

    init?(digits utf8: Span<UInt8>) {
        let isPrefixed = utf8.count > 2 && utf8[0] == 0x30 && utf8[1] | 0x20 == 0x78
        let digits = utf8.extracting(droppingFirst: isPrefixed ? 2 : 0)
        guard digits.count <= 4, let value = Hex.number(digits) else { return nil }
        self.init(rawValue: UInt16(truncatingIfNeeded: value))
    }

    /// Four upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 4) }

    /// By number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The code of a FeliCa system; big-endian on the wire. `FF` in either byte is a wildcard in a Polling.
public struct SystemCode: FourDigitCode {
    /// The number that the four digits write: `0x0003` for `0003`.
    public let rawValue: UInt16

    /// A system code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `FFFF`: any system.
    public static let any = SystemCode(rawValue: 0xFFFF)
    /// `0003`: the mutual-use transit cards (Suica, PASMO, ICOCA, …).
    public static let transit = SystemCode(rawValue: 0x0003)
    /// `FE00`: the common area (Edy, nanaco, WAON, …).
    public static let commonArea = SystemCode(rawValue: 0xFE00)
    /// `12FC`: NDEF, the NFC Forum Type 3 Tag.
    public static let ndef = SystemCode(rawValue: 0x12FC)
    /// `88B4`: FeliCa Lite and Lite-S.
    public static let lite = SystemCode(rawValue: 0x88B4)
    /// `957A`: FeliCa Secure ID.
    public static let secureID = SystemCode(rawValue: 0x957A)
    /// `8008`: Octopus.
    public static let octopus = SystemCode(rawValue: 0x8008)
    /// `8005`: Shenzhen Tong (legacy).
    public static let shenzhenTong = SystemCode(rawValue: 0x8005)
}

/// The code of a FeliCa service; little-endian on the wire, `090F` for people.
///
/// Bits 15–6 are the number, bits 5–0 the attribute: 08–0B random, 0C–0F cyclic, 10–17 purse; bit 0 set means
/// no key is needed; bit 5 marks the PIN variants of phones. Source: the attribute tables of felica-tool and the
/// unofficial user's manual, which agree.
public struct ServiceCode: FourDigitCode {
    /// The number that the four digits write: `0x090F` for `090F`.
    public let rawValue: UInt16

    /// A service code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The same code as a node.
    public var node: NodeCode { NodeCode(rawValue: rawValue) }

    /// Bits 15–6, 0 to 1023.
    public var number: UInt16 { rawValue >> 6 }

    /// Bits 5–0.
    public var attribute: UInt8 { UInt8(truncatingIfNeeded: rawValue & 0x3F) }

    /// How its blocks behave, or `nil` for an attribute that no source names.
    public var kind: ServiceKind? {
        switch attribute & 0x1F {
        case 0x08...0x0B: .random
        case 0x0C...0x0F: .cyclic
        case 0x10...0x17: .purse
        default: nil
        }
    }

    /// What may be done with its blocks, or `nil` for an attribute that no source names.
    public var access: ServiceAccess? {
        switch attribute & 0x1E {
        case 0x08, 0x0C: .readWrite
        case 0x0A, 0x0E, 0x16: .readOnly
        case 0x10: .direct
        case 0x12: .cashback
        case 0x14: .decrement
        default: nil
        }
    }

    /// Whether a key is needed: bit 0 is clear.
    public var requiresAuthentication: Bool { rawValue & 1 == 0 }

    /// Whether it is a PIN variant (attributes 28–37, phones only).
    public var requiresPIN: Bool { (0x28...0x37).contains(attribute) }

    /// Services with equal groups are overlapped: they open the same blocks with other rights.
    ///
    /// Random and cyclic services overlap when all but the last two bits agree, purse services when all but the
    /// last four do (felica-dumper, nfcpy).
    package var overlapGroup: UInt16 {
        kind == .purse ? rawValue & 0xFFF0 | 0x000F : rawValue & 0xFFFC
    }
}

/// The access that a FeliCa service gives to its blocks; the raw values are those of `kazasu.scan/1`.
public enum ServiceAccess: String, Hashable, Sendable {
    /// Read and write.
    case readWrite
    /// Read only.
    case readOnly
    /// Purse: any value may be written.
    case direct
    /// Purse: take off, and give back at most what was taken last.
    case cashback
    /// Purse: take off only.
    case decrement
}

/// How the blocks of a FeliCa service behave; the raw values are those of `kazasu.scan/1`.
public enum ServiceKind: String, Hashable, Sendable {
    /// Each block is read and written on its own.
    case random
    /// A ring: block 0 is always the newest.
    case cyclic
    /// A counter with checks on how it may change.
    case purse
}

/// The code of a FeliCa area; little-endian on the wire.
public struct AreaCode: FourDigitCode {
    /// Bits 15–6 are the number, bits 5–0 the attribute.
    public let rawValue: UInt16

    /// An area code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `0000`: the root area of every system.
    public static let root = AreaCode(rawValue: 0x0000)

    /// The same code as a node.
    public var node: NodeCode { NodeCode(rawValue: rawValue) }

    /// Whether sub-areas may be made in it: attribute 00 or 20, not 01 or 21.
    public var canHoldSubAreas: Bool { rawValue & 1 == 0 }
}

/// The code of a FeliCa node (an area or a service); little-endian on the wire. `FFFF` is the system itself.
public struct NodeCode: FourDigitCode {
    /// Bits 15–6 are the number, bits 5–0 the attribute.
    public let rawValue: UInt16

    /// A node code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `FFFF`: the system node.
    public static let system = NodeCode(rawValue: 0xFFFF)
}

/// The version of the key of a FeliCa node; little-endian on the wire. `FFFF` on the wire says that the node is
/// not there and never becomes a value of this type's users.
public struct KeyVersion: FourDigitCode {
    /// The version number.
    public let rawValue: UInt16

    /// A key version from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}
