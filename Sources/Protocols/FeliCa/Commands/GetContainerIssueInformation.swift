// SPDX-License-Identifier: Apache-2.0

/// Get Container Issue Information (22): the model of a phone.
///
/// Apple Wallet and Osaifu-Keitai support it. Source: felica-tool.
package struct GetContainerIssueInformation: FeliCaCommand, Hashable, Sendable {
    /// `22`.
    package static let code = CommandCode.getContainerIssueInformation

    /// Makes the request; it has no arguments.
    package init() {}

    /// Two bytes of 00.
    package var parameters: [UInt8] { [0, 0] }

    /// Reads five and eleven bytes; there are no Status Flags.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> ContainerIssueInformation {
        ContainerIssueInformation(
            formatVersionCarrier: Array(try answer.bytes(5)), model: Array(try answer.bytes(11)))
    }

    /// The other class (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.other) }
}

extension FeliCaSystem {
    /// Requests a phone's container issue information.
    ///
    /// - Throws: ``FeliCaError``.
    public func getContainerIssueInformation() throws(FeliCaError) -> ContainerIssueInformation {
        try send(GetContainerIssueInformation())
    }
}

/// The answer to Get Container Issue Information.
public struct ContainerIssueInformation: Hashable, Sendable {
    /// Format version and carrier: five bytes, unchanged.
    public let formatVersionCarrier: [UInt8]
    /// The model of the phone: eleven bytes, unchanged, often ASCII.
    public let model: [UInt8]
}
