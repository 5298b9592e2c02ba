// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The code of a FeliCa command: one byte, or two for a few commands such as Echo (`F000`).
///
/// Sources of the codes: soltia48's unofficial user's manual, felica-tool, and proxmark3's `include/protocols.h`, which
/// agree.
public struct CommandCode: RawRepresentable, Hashable, Sendable {
    /// The code as a number: `0x06`, `0xF000`.
    public let rawValue: UInt16

    /// Makes a code from its number; above `FF` it takes two bytes on the wire, most significant first.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let polling = CommandCode(rawValue: 0x00)
    package static let requestService = CommandCode(rawValue: 0x02)
    package static let requestResponse = CommandCode(rawValue: 0x04)
    package static let readWithoutEncryption = CommandCode(rawValue: 0x06)
    package static let writeWithoutEncryption = CommandCode(rawValue: 0x08)
    package static let searchServiceCode = CommandCode(rawValue: 0x0A)
    package static let requestSystemCode = CommandCode(rawValue: 0x0C)
    package static let requestBlockInformation = CommandCode(rawValue: 0x0E)
    /// Authentication1 of DES.
    package static let authentication1 = CommandCode(rawValue: 0x10)
    /// Authentication2 of DES.
    package static let authentication2 = CommandCode(rawValue: 0x12)
    /// Read after mutual authentication with DES.
    package static let read = CommandCode(rawValue: 0x14)
    /// Write after mutual authentication with DES.
    package static let write = CommandCode(rawValue: 0x16)
    package static let requestCodeList = CommandCode(rawValue: 0x1A)
    package static let requestBlockInformationEx = CommandCode(rawValue: 0x1E)
    package static let setParameter = CommandCode(rawValue: 0x20)
    package static let getContainerIssueInformation = CommandCode(rawValue: 0x22)
    package static let getAreaInformation = CommandCode(rawValue: 0x24)
    package static let getNodeProperty = CommandCode(rawValue: 0x28)
    package static let getContainerProperty = CommandCode(rawValue: 0x2E)
    /// Request Service v2.
    package static let requestServiceV2 = CommandCode(rawValue: 0x32)
    package static let internalAuthenticateAndRead = CommandCode(rawValue: 0x34)
    package static let getSystemStatus = CommandCode(rawValue: 0x38)
    package static let requestProductInformation = CommandCode(rawValue: 0x3A)
    package static let requestSpecificationVersion = CommandCode(rawValue: 0x3C)
    package static let resetMode = CommandCode(rawValue: 0x3E)
    /// Authentication1 v2.
    package static let authentication1V2 = CommandCode(rawValue: 0x40)
    /// Authentication2 v2.
    package static let authentication2V2 = CommandCode(rawValue: 0x42)
    /// Read v2, after mutual authentication with AES.
    package static let readV2 = CommandCode(rawValue: 0x44)
    /// Write v2, after mutual authentication with AES.
    package static let writeV2 = CommandCode(rawValue: 0x46)
    package static let getContainerID = CommandCode(rawValue: 0x70)
    package static let registerIssueID = CommandCode(rawValue: 0x80)
    package static let registerArea = CommandCode(rawValue: 0x82)
    package static let registerService = CommandCode(rawValue: 0x84)
    package static let changeSystemBlock = CommandCode(rawValue: 0x8E)
    package static let echo = CommandCode(rawValue: 0xF000)

    /// The bytes on the wire, one or two.
    package var bytes: [UInt8] {
        let low = UInt8(truncatingIfNeeded: rawValue)
        return rawValue > 0xFF ? [UInt8(truncatingIfNeeded: rawValue >> 8), low] : [low]
    }

    /// The code of the answer: one more than the command's; for two-byte commands, the same.
    package var response: CommandCode {
        CommandCode(rawValue: rawValue > 0xFF ? rawValue : (rawValue &+ 1) & 0xFF)
    }
}

extension CommandCode: CustomStringConvertible {
    /// Two or four upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: rawValue > 0xFF ? 4 : 2) }
}

extension CommandCode {
    /// The name in the manual, always in English; `nil` for a code that no source names.
    public var name: String? {
        CommandCode.names.first { $0.code == self }?.name
    }

    /// The name in the manual, or the code.
    package var title: String { name ?? description }

    /// Codes and names, in the order of the codes.
    ///
    /// Sources: the unofficial user's manual, felica-tool, proxmark3 `include/protocols.h`.
    private static let names: [(code: CommandCode, name: String)] = [
        (polling, "Polling"),
        (requestService, "Request Service"),
        (requestResponse, "Request Response"),
        (readWithoutEncryption, "Read Without Encryption"),
        (writeWithoutEncryption, "Write Without Encryption"),
        (searchServiceCode, "Search Service Code"),
        (requestSystemCode, "Request System Code"),
        (requestBlockInformation, "Request Block Information"),
        (authentication1, "Authentication1"),
        (authentication2, "Authentication2"),
        (read, "Read"),
        (CommandCode(rawValue: 0x16), "Write"),
        (requestCodeList, "Request Code List"),
        (requestBlockInformationEx, "Request Block Information Ex"),
        (setParameter, "Set Parameter"),
        (getContainerIssueInformation, "Get Container Issue Information"),
        (getAreaInformation, "Get Area Information"),
        (getNodeProperty, "Get Node Property"),
        (getContainerProperty, "Get Container Property"),
        (requestServiceV2, "Request Service v2"),
        (internalAuthenticateAndRead, "Internal Authenticate and Read"),
        (CommandCode(rawValue: 0x36), "External Authenticate and Write"),
        (getSystemStatus, "Get System Status"),
        (requestProductInformation, "Request Product Information"),
        (requestSpecificationVersion, "Request Specification Version"),
        (resetMode, "Reset Mode"),
        (authentication1V2, "Authentication1 v2"),
        (authentication2V2, "Authentication2 v2"),
        (readV2, "Read v2"),
        (CommandCode(rawValue: 0x46), "Write v2"),
        (CommandCode(rawValue: 0x48), "Delete Key"),
        (CommandCode(rawValue: 0x4C), "Update Random ID"),
        (getContainerID, "Get Container ID"),
        (CommandCode(rawValue: 0x78), "Set Node Property"),
        (registerIssueID, "Register Issue ID"),
        (registerArea, "Register Area"),
        (registerService, "Register Service"),
        (CommandCode(rawValue: 0x86), "Register Issue ID Ex"),
        (changeSystemBlock, "Change System Block"),
        (echo, "Echo"),
    ]
}
