// SPDX-License-Identifier: Apache-2.0

extension CommandCode {
    /// What the manual calls the command, in English as everywhere; `nil` for a code that no source names.
    public var name: String? {
        CommandCode.names.first { $0.code == self }?.name
    }

    /// Codes and names, in the order of the codes. Sources: the unofficial user's manual, felica-tool, proxmark3
    /// `include/protocols.h`.
    private static let names: [(code: CommandCode, name: String)] = [
        (polling, "Polling"),
        (requestService, "Request Service"),
        (requestResponse, "Request Response"),
        (readWithoutEncryption, "Read Without Encryption"),
        (writeWithoutEncryption, "Write Without Encryption"),
        (searchServiceCode, "Search Service Code"),
        (requestSystemCode, "Request System Code"),
        (requestBlockInformation, "Request Block Information"),
        (CommandCode(rawValue: 0x10), "Authentication1"),
        (CommandCode(rawValue: 0x12), "Authentication2"),
        (CommandCode(rawValue: 0x14), "Read"),
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
        (CommandCode(rawValue: 0x42), "Authentication2 v2"),
        (CommandCode(rawValue: 0x44), "Read v2"),
        (CommandCode(rawValue: 0x46), "Write v2"),
        (CommandCode(rawValue: 0x48), "Delete Key"),
        (CommandCode(rawValue: 0x4C), "Update Random ID"),
        (getContainerID, "Get Container ID"),
        (CommandCode(rawValue: 0x78), "Set Node Property"),
        (CommandCode(rawValue: 0x80), "Register Issue ID"),
        (CommandCode(rawValue: 0x82), "Register Area"),
        (CommandCode(rawValue: 0x84), "Register Service"),
        (CommandCode(rawValue: 0x86), "Register Issue ID Ex"),
        (CommandCode(rawValue: 0x8E), "Change System Block"),
        (echo, "Echo"),
    ]
}
