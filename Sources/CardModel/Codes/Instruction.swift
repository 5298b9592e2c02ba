// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// INS, the instruction byte of a command APDU (ISO/IEC 7816-4 §5.4.2). The odd code of a pair carries its parameters
/// in BER-TLV.
public struct Instruction: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The byte.
    public let rawValue: UInt8

    /// An instruction from its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// An instruction from its byte.
    public init(integerLiteral value: UInt8) {
        rawValue = value
    }

    /// VERIFY.
    public static let verify: Instruction = 0x20
    /// MANAGE SECURITY ENVIRONMENT.
    public static let manageSecurityEnvironment: Instruction = 0x22
    /// CHANGE REFERENCE DATA.
    public static let changeReferenceData: Instruction = 0x24
    /// DISABLE VERIFICATION REQUIREMENT.
    public static let disableVerification: Instruction = 0x26
    /// ENABLE VERIFICATION REQUIREMENT.
    public static let enableVerification: Instruction = 0x28
    /// PERFORM SECURITY OPERATION.
    public static let performSecurityOperation: Instruction = 0x2A
    /// RESET RETRY COUNTER.
    public static let resetRetryCounter: Instruction = 0x2C
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
    public static let readBinaryWithOffsetObject: Instruction = 0xB1
    /// READ RECORD.
    public static let readRecord: Instruction = 0xB2
    /// GET RESPONSE.
    public static let getResponse: Instruction = 0xC0
    /// ENVELOPE.
    public static let envelope: Instruction = 0xC2
    /// GET DATA.
    public static let getData: Instruction = 0xCA
    /// WRITE BINARY.
    public static let writeBinary: Instruction = 0xD0
    /// UPDATE BINARY.
    public static let updateBinary: Instruction = 0xD6
    /// UPDATE RECORD.
    public static let updateRecord: Instruction = 0xDC

    /// Whether it carries, changes or spends a PIN, or may hide a command that does: such commands are sent by the PIN
    /// guard alone, and no transcript shows their data.
    ///
    /// VERIFY, CHANGE REFERENCE DATA, DISABLE and ENABLE VERIFICATION REQUIREMENT, RESET RETRY COUNTER (also their odd
    /// codes), and ENVELOPE.
    public var needsGuard: Bool {
        switch Instruction(rawValue: rawValue & 0xFE) {
        case .verify, .changeReferenceData, .disableVerification, .enableVerification, .resetRetryCounter, .envelope:
            true
        default: false
        }
    }

    /// What the standard calls it, in English as everywhere; `nil` for a code that it does not name here.
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
