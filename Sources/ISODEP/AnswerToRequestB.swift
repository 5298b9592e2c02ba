// SPDX-License-Identifier: Apache-2.0

/// The ATQB: what a card of type B says of itself.
///
/// Source: ISO 14443-3, 7.9, as public implementations have it.
public struct AnswerToRequestB: Hashable, Sendable {
    /// The pseudo-unique identifier, four bytes.
    public let pupi: [UInt8]
    /// The application data, four bytes.
    public let applicationData: [UInt8]
    /// The protocol info: three bytes, four in an extended ATQB.
    public let protocolInfo: [UInt8]
    /// The longest frame that the card takes.
    public let frameSize: FrameSize
    /// The longest time that the card takes for an answer.
    public let waitingTime: Duration
    /// How long the card needs before its first command.
    public let guardTime: Duration
    /// Whether the card speaks ISO-DEP.
    public let supportsISODEP: Bool
    /// Whether the card takes a card identifier (CID) in its blocks.
    public let supportsCID: Bool
    /// What ATTRIB gives back to the card as its third parameter: the protocol type and the card's minimum TR2.
    let protocolType: UInt8

    /// Reads an ATQB.
    ///
    /// - Returns: `nil` when it is none.
    public init?(_ answer: [UInt8]) {
        guard (12...13).contains(answer.count), answer.first == 0x50 else { return nil }
        pupi = Array(answer[1...4])
        applicationData = Array(answer[5...8])
        protocolInfo = Array(answer[9...])
        frameSize = FrameSize(code: answer[10] >> 4)
        supportsISODEP = answer[10] & 0x01 != 0
        protocolType = answer[10] & 0x07
        waitingTime = WaitingTime.frame(code: answer[11] >> 4)
        supportsCID = answer[11] & 0x01 != 0
        guardTime = answer.count > 12 ? WaitingTime.guardTime(code: answer[12] >> 4) : .zero
    }
}
