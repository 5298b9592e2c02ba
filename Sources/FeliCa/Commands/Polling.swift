// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
internal import NFCTransport

/// Polling (00): which card is there, and has it this system?
///
/// Answered with 18 bytes, or 20 when the card knows the request code. It carries no IDm.
package struct Polling: FeliCaCommand, Hashable, Sendable {
    /// `00`.
    package static let code = CommandCode.polling
    /// `false`: the IDm is what a Polling asks for.
    package static let carriesIDm = false

    /// The system; `FF` in either byte stands for any value of that byte.
    package var systemCode: SystemCode
    /// What the card is to tell beside IDm and PMm.
    package var requestCode: PollingRequestCode
    /// In how many slots cards may answer.
    package var timeSlots: TimeSlots

    /// A Polling for a system.
    package init(
        _ systemCode: SystemCode, requestCode: PollingRequestCode = .none, timeSlots: TimeSlots = .one
    ) {
        self.systemCode = systemCode
        self.requestCode = requestCode
        self.timeSlots = timeSlots
    }

    /// The system code (big-endian, unlike node codes), the request code, the time slots.
    package var parameters: [UInt8] {
        let polling = FeliCaPolling(systemCode, requestCode: requestCode.rawValue, timeSlots: timeSlots.rawValue)
        return Array(polling.frame.dropFirst(2))
    }

    /// IDm, PMm and the request data where there are some; data that was not asked for is refused.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> PollingResponse {
        let idm = try answer.idmField()
        let pmm = PMm(rawValue: try answer.idmField().rawValue)
        let hasData = requestCode != .none && answer.remaining > 0
        return PollingResponse(
            idm: idm, pmm: pmm, requestData: hasData ? try answer.uint16(.big) : nil, requestCode: requestCode)
    }

    /// How long cards may take.
    package var window: Duration { ResponseTime.pollingWindow(timeSlots) }

    /// ``window``: the PMm says nothing about Polling.
    package func maximumTime(_ times: ResponseTime) -> Duration { window }
}

/// What a card is to tell beside IDm and PMm when it is polled; the raw values are the bytes on the wire.
package enum PollingRequestCode: UInt8, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none = 0x00
    /// The system code.
    case systemCode = 0x01
    /// The communication performance.
    case communicationPerformance = 0x02
}

/// A card's answer to a Polling.
package struct PollingResponse: Hashable, Sendable {
    /// The IDm of the system that answered.
    package let idm: IDm
    /// The PMm.
    package let pmm: PMm
    /// The two bytes of request data as one big-endian number; `nil` when none were asked for, or when the product
    /// does not know the request code and left them out.
    package let requestData: UInt16?
    /// What was asked for.
    package let requestCode: PollingRequestCode

    /// The system code, when it was asked for and given.
    package var systemCode: SystemCode? {
        requestCode == .systemCode ? requestData.map(SystemCode.init(rawValue:)) : nil
    }

    /// The communication performance, when it was asked for and given.
    package var communicationPerformance: CommunicationPerformance? {
        requestCode == .communicationPerformance ? requestData.map(CommunicationPerformance.init(rawValue:)) : nil
    }
}

/// In how many time slots cards may answer a Polling; the raw values are the bytes on the wire.
package enum TimeSlots: UInt8, Hashable, Sendable, CaseIterable {
    /// One slot.
    case one = 0x00
    /// Two slots.
    case two = 0x01
    /// Four slots.
    case four = 0x03
    /// Eight slots.
    case eight = 0x07
    /// Sixteen slots.
    case sixteen = 0x0F

    /// How many slots.
    package var count: Int { Int(rawValue) + 1 }
}

/// The two bytes that a card answers to request code 02, kept as they came: the bits beyond the raw value are not
/// documented in what this project has read.
package struct CommunicationPerformance: RawRepresentable, Hashable, Sendable {
    /// The two bytes as one big-endian number.
    package let rawValue: UInt16

    /// A communication performance from its two bytes read as one big-endian number.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}
