// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
internal import NFCTransport

/// Polling (00): finds a card that has this system.
///
/// The answer has 18 bytes, or 20 if the card supports the request code. It carries no IDm.
package struct Polling: FeliCaCommand, Hashable, Sendable {
    /// `00`.
    package static let code = CommandCode.polling
    /// `false`: a Polling is a request for the IDm.
    package static let carriesIDm = false

    /// The system; `FF` in either byte matches any value of that byte.
    package var systemCode: SystemCode
    /// The data that the card returns besides IDm and PMm.
    package var requestCode: PollingRequestCode
    /// The number of slots in which cards can answer.
    package var timeSlots: TimeSlots

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

    /// Reads IDm, PMm and any request data; unrequested data is refused.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> PollingResponse {
        let idm = try answer.idmField()
        let pmm = PMm(rawValue: try answer.idmField().rawValue)
        let hasData = requestCode != .none && answer.remaining > 0
        return PollingResponse(
            idm: idm, pmm: pmm, requestData: hasData ? try answer.uint16(.big) : nil, requestCode: requestCode)
    }

    /// The time that cards may take.
    package var window: Duration { ResponseTime.pollingWindow(timeSlots) }

    /// ``window``: the PMm says nothing about Polling.
    package func maximumTime(_ times: ResponseTime) -> Duration { window }
}

/// The data that a polled card returns besides IDm and PMm; the raw values are the bytes on the wire.
package enum PollingRequestCode: UInt8, Hashable, Sendable, CaseIterable {
    /// Nothing.
    case none = 0x00
    case systemCode = 0x01
    case communicationPerformance = 0x02
}

/// A card's answer to a Polling.
package struct PollingResponse: Hashable, Sendable {
    /// The IDm of the system that answered.
    package let idm: IDm
    package let pmm: PMm
    /// The two bytes of request data as one big-endian number; `nil` if absent.
    ///
    /// They are absent if none were requested, or if the product does not support the request code and omitted them.
    package let requestData: UInt16?
    package let requestCode: PollingRequestCode

    /// The system code, if requested and returned.
    package var systemCode: SystemCode? {
        requestCode == .systemCode ? requestData.map(SystemCode.init(rawValue:)) : nil
    }

    /// The communication performance, if requested and returned.
    package var communicationPerformance: CommunicationPerformance? {
        requestCode == .communicationPerformance ? requestData.map(CommunicationPerformance.init(rawValue:)) : nil
    }
}

/// The number of time slots in which cards can answer a Polling; the raw values are the bytes on the wire.
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

    /// The number of slots.
    package var count: Int { Int(rawValue) + 1 }
}

/// The two bytes that a card returns for request code 02, unchanged.
///
/// The meaning of the bits in the raw value is not documented in the sources that this project has read.
package struct CommunicationPerformance: RawRepresentable, Hashable, Sendable {
    /// The two bytes as one big-endian number.
    package let rawValue: UInt16

    /// Makes a communication performance from its two bytes read as one big-endian number.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}
