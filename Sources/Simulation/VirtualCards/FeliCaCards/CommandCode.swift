// SPDX-License-Identifier: Apache-2.0

/// The command codes that virtual cards support. Any other command gets no answer.
package enum CommandCode: UInt8, Hashable, Sendable, CaseIterable {
    case polling = 0x00
    case requestService = 0x02
    case requestResponse = 0x04
    case readWithoutEncryption = 0x06
    case writeWithoutEncryption = 0x08
    case searchServiceCode = 0x0A
    case requestSystemCode = 0x0C
    case requestBlockInformation = 0x0E
    case requestCodeList = 0x1A
    case requestBlockInformationEx = 0x1E
    case getContainerIssueInformation = 0x22
    case getAreaInformation = 0x24
    case getNodeProperty = 0x28
    case getContainerProperty = 0x2E
    case requestServiceV2 = 0x32
    case getSystemStatus = 0x38
    case requestProductInformation = 0x3A
    case requestSpecificationVersion = 0x3C
    case resetMode = 0x3E
    case getContainerID = 0x70
    /// F0 00
    case echo = 0xF0

    /// Whether the IDm follows the command code.
    package var carriesIDm: Bool {
        switch self {
        case .polling, .getContainerProperty, .getContainerID, .echo: false
        default: true
        }
    }

    /// The byte of the PMm that holds the longest answer time.
    var responseTimeByte: Int {
        switch self {
        case .requestService, .requestServiceV2, .requestBlockInformation, .requestBlockInformationEx,
            .getNodeProperty:
            2
        case .readWithoutEncryption: 5
        case .writeWithoutEncryption: 6
        default: 3
        }
    }
}
