// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A card's answer to a Polling.
public struct PollingResponse: Hashable, Sendable {
    /// The IDm of the system that answered.
    public let idm: IDm
    /// The PMm.
    public let pmm: PMm
    /// The two bytes of request data as one big-endian number; `nil` when none were asked for, or when the product
    /// does not know the request code and left them out.
    public let requestData: UInt16?
    /// What was asked for.
    public let requestCode: PollingRequestCode

    /// The system code, when it was asked for and given.
    public var systemCode: SystemCode? {
        requestCode == .systemCode ? requestData.map(SystemCode.init(rawValue:)) : nil
    }

    /// The communication performance, when it was asked for and given.
    public var communicationPerformance: CommunicationPerformance? {
        requestCode == .communicationPerformance ? requestData.map(CommunicationPerformance.init(rawValue:)) : nil
    }
}
