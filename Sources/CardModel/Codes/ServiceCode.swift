// SPDX-License-Identifier: Apache-2.0

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
    public var overlapGroup: UInt16 {
        kind == .purse ? rawValue & 0xFFF0 | 0x000F : rawValue & 0xFFFC
    }
}
