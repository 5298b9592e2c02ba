// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// An application identifier (ISO 7816-5): the name of an application on a card, 1 to 16 bytes.
///
/// Complete identifiers have 5 or more.
public struct AID: Hashable, Sendable {
    /// The bytes in wire order.
    public let bytes: [UInt8]

    /// Makes an identifier of 1 to 16 bytes; otherwise `nil`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard (1...16).contains(bytes.count) else { return nil }
        self.bytes = Array(bytes)
    }

    /// Makes an identifier of 1 to 16 bytes that a source lists.
    init(known bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes an identifier from hexadecimal digits as a user types them; otherwise `nil`.
    public init?(_ text: some StringProtocol) {
        guard let bytes = try? Hex.decode(String(text)) else { return nil }
        self.init(bytes)
    }
}

extension AID: CustomStringConvertible {
    /// Lower-case hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}

/// The identifier of a file on an ISO 7816 card, such as `2F01`.
public struct FileIdentifier: FourDigitCode {
    /// The identifier as a big-endian number.
    public let rawValue: UInt16

    /// Makes an identifier from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The master file, 3F00.
    package static let masterFile = FileIdentifier(rawValue: 0x3F00)
}

/// INS, the instruction byte of a command APDU (ISO/IEC 7816-4 §5.4.2).
///
/// The odd code of a pair carries its parameters in BER-TLV.
public struct Instruction: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The byte.
    public let rawValue: UInt8

    /// Makes an instruction from its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Makes an instruction from its byte.
    public init(integerLiteral value: UInt8) {
        rawValue = value
    }

    package static let verify: Instruction = 0x20
    /// MANAGE SECURITY ENVIRONMENT.
    public static let manageSecurityEnvironment: Instruction = 0x22
    package static let changeReferenceData: Instruction = 0x24
    /// DISABLE VERIFICATION REQUIREMENT.
    package static let disableVerification: Instruction = 0x26
    /// ENABLE VERIFICATION REQUIREMENT.
    package static let enableVerification: Instruction = 0x28
    /// PERFORM SECURITY OPERATION.
    public static let performSecurityOperation: Instruction = 0x2A
    package static let resetRetryCounter: Instruction = 0x2C
    /// MANAGE CHANNEL.
    public static let manageChannel: Instruction = 0x70
    /// EXTERNAL AUTHENTICATE.
    public static let externalAuthenticate: Instruction = 0x82
    /// GET CHALLENGE.
    public static let getChallenge: Instruction = 0x84
    /// GENERAL AUTHENTICATE.
    public static let generalAuthenticate: Instruction = 0x86
    /// INTERNAL AUTHENTICATE.
    public static let internalAuthenticate: Instruction = 0x88
    /// SELECT.
    public static let select: Instruction = 0xA4
    /// READ BINARY.
    public static let readBinary: Instruction = 0xB0
    /// READ BINARY with the offset in a data object.
    package static let readBinaryWithOffsetObject: Instruction = 0xB1
    /// READ RECORD.
    public static let readRecord: Instruction = 0xB2
    /// GET RESPONSE.
    public static let getResponse: Instruction = 0xC0
    package static let envelope: Instruction = 0xC2
    /// GET DATA.
    public static let getData: Instruction = 0xCA
    /// WRITE BINARY.
    public static let writeBinary: Instruction = 0xD0
    /// UPDATE BINARY.
    public static let updateBinary: Instruction = 0xD6
    /// UPDATE RECORD.
    public static let updateRecord: Instruction = 0xDC

    /// Whether it carries, changes or spends a PIN, or may hide a command that does.
    ///
    /// Only the PIN guard sends such commands, and no transcript shows their data: VERIFY, CHANGE REFERENCE DATA,
    /// DISABLE and ENABLE VERIFICATION REQUIREMENT, RESET RETRY COUNTER (also their odd codes), and ENVELOPE.
    package var needsGuard: Bool {
        switch Instruction(rawValue: rawValue & 0xFE) {
        case .verify, .changeReferenceData, .disableVerification, .enableVerification, .resetRetryCounter, .envelope:
            true
        default: false
        }
    }

    /// The standard's name, always in English; `nil` for a code not listed here.
    public var name: String? { Instruction.names[self] }

    private static let names: [Instruction: String] = [
        .verify: "VERIFY", 0x21: "VERIFY", .manageSecurityEnvironment: "MANAGE SECURITY ENVIRONMENT",
        .changeReferenceData: "CHANGE REFERENCE DATA", 0x25: "CHANGE REFERENCE DATA",
        .disableVerification: "DISABLE VERIFICATION REQUIREMENT",
        .enableVerification: "ENABLE VERIFICATION REQUIREMENT",
        .performSecurityOperation: "PERFORM SECURITY OPERATION", .resetRetryCounter: "RESET RETRY COUNTER",
        0x2D: "RESET RETRY COUNTER", .manageChannel: "MANAGE CHANNEL", .externalAuthenticate: "EXTERNAL AUTHENTICATE",
        .getChallenge: "GET CHALLENGE", .generalAuthenticate: "GENERAL AUTHENTICATE",
        0x87: "GENERAL AUTHENTICATE", .internalAuthenticate: "INTERNAL AUTHENTICATE", .select: "SELECT",
        .readBinary: "READ BINARY", .readBinaryWithOffsetObject: "READ BINARY", .readRecord: "READ RECORD",
        0xB3: "READ RECORD", .getResponse: "GET RESPONSE", .envelope: "ENVELOPE", 0xC3: "ENVELOPE",
        .getData: "GET DATA", 0xCB: "GET DATA", .writeBinary: "WRITE BINARY", 0xD1: "WRITE BINARY",
        .updateBinary: "UPDATE BINARY", 0xD7: "UPDATE BINARY", .updateRecord: "UPDATE RECORD",
    ]
}

extension Instruction: CustomStringConvertible {
    /// Two upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 2) }
}

/// The status word SW1 SW2 that ends every response APDU (ISO/IEC 7816-4 §5.6).
public struct StatusWord: FourDigitCode, ExpressibleByIntegerLiteral {
    /// SW1 in the high byte, SW2 in the low byte.
    public let rawValue: UInt16

    /// Makes a status word from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Makes a status word from its two bytes.
    public init(_ sw1: UInt8, _ sw2: UInt8) {
        rawValue = UInt16(sw1) << 8 | UInt16(sw2)
    }

    /// Makes a status word from its number.
    public init(integerLiteral value: UInt16) {
        rawValue = value
    }

    /// 9000: success, with no further information.
    package static let success: StatusWord = 0x9000
    /// 6282: end of file or record reached before the requested number of bytes, or unsuccessful search.
    package static let endOfFile: StatusWord = 0x6282
    /// 6283: the selected file is deactivated; on a driver's license: locked.
    package static let fileDeactivated: StatusWord = 0x6283
    /// 6700: the length is wrong.
    package static let wrongLength: StatusWord = 0x6700
    /// 6982: security status not satisfied; a PIN is missing.
    package static let securityStatusNotSatisfied: StatusWord = 0x6982
    /// 6983: the authentication method is blocked; a PIN is locked.
    package static let authenticationBlocked: StatusWord = 0x6983
    /// 6984: the reference data cannot be used; a driver's license returns this for a locked PIN.
    package static let referenceDataUnusable: StatusWord = 0x6984
    /// 6A82: file or application not found.
    package static let fileNotFound: StatusWord = 0x6A82
    /// 6A83: record not found.
    package static let recordNotFound: StatusWord = 0x6A83
    /// 6B00: wrong P1 P2; for READ BINARY, the offset is outside the file.
    package static let wrongParameters: StatusWord = 0x6B00

    /// The first byte.
    public var sw1: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }
    /// The second byte.
    public var sw2: UInt8 { UInt8(truncatingIfNeeded: rawValue) }

    /// Whether the command completed without a warning: 9000 or 61xx.
    public var isSuccess: Bool { self == .success || sw1 == 0x61 }

    /// Whether the command completed with a warning: 62xx or 63xx.
    public var isWarning: Bool { sw1 == 0x62 || sw1 == 0x63 }

    /// The number of bytes available to GET RESPONSE, 1 to 256: 61xx, where 00 means 256 or more; otherwise `nil`.
    package var bytesAvailable: Int? { sw1 == 0x61 ? (sw2 == 0 ? 256 : Int(sw2)) : nil }

    /// The correct length to request, 1 to 256: 6Cxx; otherwise `nil`.
    package var correctLength: Int? { sw1 == 0x6C ? (sw2 == 0 ? 256 : Int(sw2)) : nil }

    /// The counter of 63Cx, 0 to 15: after VERIFY, the remaining tries; otherwise `nil`.
    public var counter: Int? { rawValue & 0xFFF0 == 0x63C0 ? Int(sw2 & 0x0F) : nil }

    /// Whether the standard allows it: SW1 is 61 to 6F or 90 to 9F. Other values occur only in corrupt answers.
    package var isValid: Bool { (0x61...0x6F).contains(sw1) || sw1 & 0xF0 == 0x90 }
}
