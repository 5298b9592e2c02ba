// SPDX-License-Identifier: Apache-2.0

/// The answer to Get Container Issue Information.
public struct ContainerIssueInformation: Hashable, Sendable {
    /// Format version and carrier: five bytes as they came.
    public let formatVersionCarrier: [UInt8]
    /// The model of the phone: eleven bytes as they came, often ASCII.
    public let model: [UInt8]
}
