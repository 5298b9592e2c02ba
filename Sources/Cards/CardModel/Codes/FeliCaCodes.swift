// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A 16-bit code written as four upper-case hexadecimal digits, most significant first.
public protocol FourDigitCode: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number that the four digits represent.
    var rawValue: UInt16 { get }
    /// Makes a code from the number that its four digits represent.
    init(rawValue: UInt16)
}

extension FourDigitCode {
    /// Makes a code from one to four hexadecimal digits with or without `0x`, as a user types them; otherwise `nil`.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        let digits = Array(text.utf8)
        self.init(digits: digits.span)
    }

    init?(digits utf8: Span<UInt8>) {
        let isPrefixed = utf8.count > 2 && utf8[0] == 0x30 && utf8[1] | 0x20 == 0x78
        let digits = utf8.extracting(droppingFirst: isPrefixed ? 2 : 0)
        guard digits.count <= 4, let value = Hex.number(digits) else { return nil }
        self.init(rawValue: UInt16(truncatingIfNeeded: value))
    }

    /// Four upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 4) }

    /// Compares by number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The code of a FeliCa system; big-endian on the wire. `FF` in either byte is a wildcard in a Polling.
public struct SystemCode: FourDigitCode {
    /// The number that the four digits represent: `0x0003` for `0003`.
    public let rawValue: UInt16

    /// Makes a system code from its number.
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

/// The code of a FeliCa service; little-endian on the wire, written as `090F`.
///
/// Bits 15–6 are the number, bits 5–0 the attribute: 08–0B random, 0C–0F cyclic, 10–17 purse. Bit 0 set means that no
/// key is needed; bit 5 marks the PIN variants on phones. Source: the attribute tables of felica-tool and of the
/// unofficial user's manual, which agree.
public struct ServiceCode: FourDigitCode {
    /// The number that the four digits represent: `0x090F` for `090F`.
    public let rawValue: UInt16

    /// Makes a service code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The same code as a node code.
    public var node: NodeCode { NodeCode(rawValue: rawValue) }

    /// Bits 15–6, 0 to 1023.
    public var number: UInt16 { rawValue >> 6 }

    /// Bits 5–0.
    public var attribute: UInt8 { UInt8(truncatingIfNeeded: rawValue & 0x3F) }

    /// The behavior of its blocks; `nil` for an attribute that no source names.
    public var kind: ServiceKind? {
        switch attribute & 0x1F {
        case 0x08...0x0B: .random
        case 0x0C...0x0F: .cyclic
        case 0x10...0x17: .purse
        default: nil
        }
    }

    /// The access to its blocks; `nil` for an attribute that no source names.
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

    /// The overlap group: services with equal groups open the same blocks with different rights.
    ///
    /// Random and cyclic services overlap if all but the last two bits agree, purse services if all but the last four
    /// do (felica-dumper, nfcpy).
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
    /// Purse: any value can be written.
    case direct
    /// Purse: deduct, and refund at most the last deduction.
    case cashback
    /// Purse: deduct only.
    case decrement
}

/// The behavior of a FeliCa service's blocks; the raw values are those of `kazasu.scan/1`.
public enum ServiceKind: String, Hashable, Sendable {
    /// Each block is read and written independently.
    case random
    /// A ring: block 0 is always the newest.
    case cyclic
    /// A counter with restrictions on how it may change.
    case purse
}

/// The code of a FeliCa area; little-endian on the wire.
public struct AreaCode: FourDigitCode {
    /// Bits 15–6 are the number, bits 5–0 the attribute.
    public let rawValue: UInt16

    /// Makes an area code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `0000`: the root area of every system.
    public static let root = AreaCode(rawValue: 0x0000)

    /// The same code as a node code.
    public var node: NodeCode { NodeCode(rawValue: rawValue) }

    /// Whether it can contain sub-areas: attribute 00 or 20, not 01 or 21.
    public var canHoldSubAreas: Bool { rawValue & 1 == 0 }
}

/// The code of a FeliCa node (an area or a service); little-endian on the wire. `FFFF` is the system itself.
public struct NodeCode: FourDigitCode {
    /// Bits 15–6 are the number, bits 5–0 the attribute.
    public let rawValue: UInt16

    /// Makes a node code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `FFFF`: the system node.
    public static let system = NodeCode(rawValue: 0xFFFF)
}

/// The version of a FeliCa node's key; little-endian on the wire.
///
/// `FFFF` on the wire means that the node does not exist; users of this type never see that value.
public struct KeyVersion: FourDigitCode {
    /// The version number.
    public let rawValue: UInt16

    /// Makes a key version from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}
