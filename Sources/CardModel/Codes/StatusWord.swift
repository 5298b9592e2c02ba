// SPDX-License-Identifier: Apache-2.0

/// The status word SW1 SW2 that ends every response APDU (ISO/IEC 7816-4 §5.6).
public struct StatusWord: FourDigitCode, ExpressibleByIntegerLiteral {
    /// SW1 in the high byte, SW2 in the low byte.
    public let rawValue: UInt16

    /// A status word from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A status word from its two bytes.
    public init(_ sw1: UInt8, _ sw2: UInt8) {
        rawValue = UInt16(sw1) << 8 | UInt16(sw2)
    }

    /// A status word from its number.
    public init(integerLiteral value: UInt16) {
        rawValue = value
    }

    /// 9000: done, nothing to add.
    public static let success: StatusWord = 0x9000
    /// 6282: the file or record ended before as many bytes as were asked for, or a search found nothing.
    public static let endOfFile: StatusWord = 0x6282
    /// 6283: the selected file is deactivated; on a driver's licence: locked.
    public static let fileDeactivated: StatusWord = 0x6283
    /// 6700: the length is wrong.
    public static let wrongLength: StatusWord = 0x6700
    /// 6982: the security status does not allow it; a PIN is missing.
    public static let securityStatusNotSatisfied: StatusWord = 0x6982
    /// 6983: the authentication method is blocked; a PIN is locked.
    public static let authenticationBlocked: StatusWord = 0x6983
    /// 6984: the reference data cannot be used; what a driver's licence answers for a locked PIN.
    public static let referenceDataUnusable: StatusWord = 0x6984
    /// 6A82: there is no such file or application.
    public static let fileNotFound: StatusWord = 0x6A82
    /// 6A83: there is no such record.
    public static let recordNotFound: StatusWord = 0x6A83
    /// 6B00: P1 P2 are wrong; with READ BINARY the offset lies outside of the file.
    public static let wrongParameters: StatusWord = 0x6B00

    /// The first byte.
    public var sw1: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }
    /// The second byte.
    public var sw2: UInt8 { UInt8(truncatingIfNeeded: rawValue) }

    /// Whether the command was carried out without a warning: 9000 or 61xx.
    public var isSuccess: Bool { self == .success || sw1 == 0x61 }

    /// Whether the command was carried out, with a warning: 62xx or 63xx.
    public var isWarning: Bool { sw1 == 0x62 || sw1 == 0x63 }

    /// How many bytes wait for GET RESPONSE, 1 to 256: 61xx, where 00 says 256 or more; else `nil`.
    public var bytesAvailable: Int? { sw1 == 0x61 ? (sw2 == 0 ? 256 : Int(sw2)) : nil }

    /// The length that should have been asked for, 1 to 256: 6Cxx; else `nil`.
    public var correctLength: Int? { sw1 == 0x6C ? (sw2 == 0 ? 256 : Int(sw2)) : nil }

    /// The counter of 63Cx, 0 to 15: after VERIFY the tries that are left; else `nil`.
    public var counter: Int? { rawValue & 0xFFF0 == 0x63C0 ? Int(sw2 & 0x0F) : nil }

    /// Whether the standard allows it: SW1 is 61 to 6F or 90 to 9F. Other values come from broken answers only.
    public var isValid: Bool { (0x61...0x6F).contains(sw1) || sw1 & 0xF0 == 0x90 }
}
