// SPDX-License-Identifier: Apache-2.0

/// The command codes that virtual cards support. Any other command gets no answer.
package enum CommandCode: UInt8, Hashable, Sendable, CaseIterable {
    /// 00
    case polling = 0x00
    /// 02
    case requestService = 0x02
    /// 04
    case requestResponse = 0x04
    /// 06
    case readWithoutEncryption = 0x06
    /// 08
    case writeWithoutEncryption = 0x08
    /// 0A
    case searchServiceCode = 0x0A
    /// 0C
    case requestSystemCode = 0x0C
    /// 0E
    case requestBlockInformation = 0x0E
    /// 1A
    case requestCodeList = 0x1A
    /// 1E
    case requestBlockInformationEx = 0x1E
    /// 22
    case getContainerIssueInformation = 0x22
    /// 24
    case getAreaInformation = 0x24
    /// 28
    case getNodeProperty = 0x28
    /// 2E
    case getContainerProperty = 0x2E
    /// 32
    case requestServiceV2 = 0x32
    /// 38
    case getSystemStatus = 0x38
    /// 3A
    case requestProductInformation = 0x3A
    /// 3C
    case requestSpecificationVersion = 0x3C
    /// 3E
    case resetMode = 0x3E
    /// 70
    case getContainerID = 0x70
    /// F0 00
    case echo = 0xF0

    /// Whether the IDm follows the command code.
    var carriesIDm: Bool {
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
