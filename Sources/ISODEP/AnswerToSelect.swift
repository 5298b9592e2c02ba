// SPDX-License-Identifier: Apache-2.0

/// The ATS: what a card of type A says of its ISO-DEP.
///
/// Source: ISO 14443-4, 5.2, as public implementations have it.
public struct AnswerToSelect: Hashable, Sendable {
    /// The whole ATS with its length byte TL.
    public let bytes: [UInt8]
    /// The longest frame that the card takes.
    public let frameSize: FrameSize
    /// The longest time that the card takes for an answer.
    public let waitingTime: Duration
    /// How long the card needs before its first command.
    public let guardTime: Duration
    /// Whether the card takes a card identifier (CID) in its blocks.
    public let supportsCID: Bool
    /// What the card's maker put there.
    public let historicalBytes: [UInt8]

    /// Reads an ATS.
    ///
    /// - Returns: `nil` when it is shorter than it says.
    public init?(_ answer: [UInt8]) {
        guard let length = answer.first, length > 0, Int(length) <= answer.count else { return nil }
        bytes = Array(answer.prefix(Int(length)))
        var rest = bytes.dropFirst()
        guard let format = rest.popFirst() else {
            self.frameSize = FrameSize(code: 2)
            (waitingTime, guardTime) = (WaitingTime.frame(code: 4), .zero)
            (supportsCID, historicalBytes) = (true, [])
            return
        }
        frameSize = FrameSize(code: format & 0x0F)
        if format & 0x10 != 0, rest.popFirst() == nil { return nil }
        var times: UInt8 = 0x40
        if format & 0x20 != 0 {
            guard let given = rest.popFirst() else { return nil }
            times = given
        }
        var options: UInt8 = 0x02
        if format & 0x40 != 0 {
            guard let given = rest.popFirst() else { return nil }
            options = given
        }
        waitingTime = WaitingTime.frame(code: times >> 4)
        guardTime = WaitingTime.guardTime(code: times & 0x0F)
        supportsCID = options & 0x02 != 0
        historicalBytes = Array(rest)
    }
}
