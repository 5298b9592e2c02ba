// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Polling (00): which card is there, and has it this system?
///
/// Answered with 18 bytes, or 20 when the card knows the request code. It carries no IDm.
public struct Polling: FeliCaCommand, Hashable, Sendable {
    /// `00`.
    public static let code = CommandCode.polling
    /// `false`: the IDm is what a Polling asks for.
    public static let carriesIDm = false

    /// The system; `FF` in either byte stands for any value of that byte.
    public var systemCode: SystemCode
    /// What the card is to tell beside IDm and PMm.
    public var requestCode: PollingRequestCode
    /// In how many slots cards may answer.
    public var timeSlots: TimeSlots

    /// A Polling for a system.
    public init(
        _ systemCode: SystemCode, requestCode: PollingRequestCode = .none, timeSlots: TimeSlots = .one
    ) {
        self.systemCode = systemCode
        self.requestCode = requestCode
        self.timeSlots = timeSlots
    }

    /// The system code (big-endian, unlike node codes), the request code, the time slots.
    public var parameters: [UInt8] {
        var bytes = ByteWriter()
        bytes.write(systemCode.rawValue, .big)
        bytes.write(requestCode.rawValue)
        bytes.write(timeSlots.rawValue)
        return bytes.bytes
    }

    /// IDm, PMm and the request data where there are some; data that was not asked for is refused.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> PollingResponse {
        let idm = try answer.idmField()
        let pmm = PMm(rawValue: try answer.idmField().rawValue)
        let hasData = requestCode != .none && answer.remaining > 0
        return PollingResponse(
            idm: idm, pmm: pmm, requestData: hasData ? try answer.uint16(.big) : nil, requestCode: requestCode)
    }

    /// How long cards may take.
    public var window: Duration { ResponseTime.pollingWindow(timeSlots) }

    /// ``window``: the PMm says nothing about Polling.
    public func maximumTime(_ times: ResponseTime) -> Duration { window }
}
