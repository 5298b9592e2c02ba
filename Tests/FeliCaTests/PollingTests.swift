// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import NFCTransport
import Testing

/// Vectors B1 and B2: nfcpy `test_tag_tt3.py`, `test_clf_rcs380.py`; felica-tool `PollingCommandTest`,
/// `PollingResponseTest`; flipperzero#3871, #4204; the QM-ABCM7 manual.
@Suite struct PollingTests {
    struct Request: Sendable {
        let command: Polling
        let bytes: String
    }

    static let requests: [Request] = [
        Request(command: Polling(.any), bytes: "0600FFFF0000"),
        Request(command: Polling(.any, requestCode: .systemCode), bytes: "0600FFFF0100"),
        Request(command: Polling(.any, requestCode: .communicationPerformance), bytes: "0600FFFF0200"),
        Request(command: Polling(.lite), bytes: "060088B40000"),
        Request(command: Polling(.ndef, timeSlots: .two), bytes: "060012FC0001"),
        Request(command: Polling(.ndef, timeSlots: .four), bytes: "060012FC0003"),
        Request(command: Polling(.ndef, timeSlots: .eight), bytes: "060012FC0007"),
        Request(command: Polling(.ndef, timeSlots: .sixteen), bytes: "060012FC000F"),
    ]

    @Test(arguments: requests) func packetIsExact(_ request: Request) throws {
        #expect(try request.command.packet(for: testIDm) == packet(request.bytes))
    }

    struct Answer: Sendable {
        let requestCode: PollingRequestCode
        let bytes: String
        let idm: UInt64
        let pmm: UInt64
        let data: UInt16?
    }

    static let answers: [Answer] = [
        Answer(
            requestCode: .none, bytes: "1201<I>FFFFFFFFFFFFFFFF", idm: 0x0102_0304_0506_0708, pmm: .max, data: nil),
        Answer(
            requestCode: .systemCode, bytes: "1401<I>FFFFFFFFFFFFFFFF12FC", idm: 0x0102_0304_0506_0708, pmm: .max,
            data: 0x12FC),
        Answer(
            requestCode: .none, bytes: "1201F14011111111B66001188B868FBECBFF", idm: 0xF140_1111_1111_B660,
            pmm: 0x0118_8B86_8FBE_CBFF, data: nil),
        Answer(
            requestCode: .systemCode, bytes: "1401014011111111B66001188B868FBECBFFFE00",
            idm: 0x0140_1111_1111_B660, pmm: 0x0118_8B86_8FBE_CBFF, data: 0xFE00),
        Answer(
            requestCode: .communicationPerformance, bytes: "1401F14011111111B66001188B868FBECBFF0083",
            idm: 0xF140_1111_1111_B660, pmm: 0x0118_8B86_8FBE_CBFF, data: 0x0083),
        Answer(
            requestCode: .systemCode, bytes: "1401F14011111111B66001188B868FBECBFFFE0F",
            idm: 0xF140_1111_1111_B660, pmm: 0x0118_8B86_8FBE_CBFF, data: 0xFE0F),
        Answer(
            requestCode: .systemCode, bytes: "1401014022222222B66001188B868FBECBFF0003",
            idm: 0x0140_2222_2222_B660, pmm: 0x0118_8B86_8FBE_CBFF, data: 0x0003),
        Answer(
            requestCode: .systemCode, bytes: "1401012E30C37694481F03350B82824483FF12FC",
            idm: 0x012E_30C3_7694_481F, pmm: 0x0335_0B82_8244_83FF, data: 0x12FC),
        Answer(
            requestCode: .systemCode, bytes: "140101010701260CCA020F0D23042F7783FF12FC",
            idm: 0x0101_0701_260C_CA02, pmm: 0x0F0D_2304_2F77_83FF, data: 0x12FC),
        Answer(
            requestCode: .none, bytes: "1201012E4CE445055B8700F1000000014300", idm: 0x012E_4CE4_4505_5B87,
            pmm: 0x00F1_0000_0001_4300, data: nil),
        Answer(
            requestCode: .systemCode, bytes: "1401012E4CE445055B8700F100000001430088B4",
            idm: 0x012E_4CE4_4505_5B87, pmm: 0x00F1_0000_0001_4300, data: 0x88B4),
    ]

    @Test(arguments: answers) func answerIsReadInFull(_ vector: Answer) throws {
        let response = try answer(to: Polling(.any, requestCode: vector.requestCode), vector.bytes)
        #expect(response.idm.rawValue == vector.idm)
        #expect(response.pmm.rawValue == vector.pmm)
        #expect(response.requestData == vector.data)
        #expect(response.systemCode?.rawValue == (vector.requestCode == .systemCode ? vector.data : nil))
        let performance = vector.requestCode == .communicationPerformance ? vector.data : nil
        #expect(response.communicationPerformance?.rawValue == performance)
    }

    @Test func requestDataIsOptional() throws {
        let response = try answer(to: Polling(.any, requestCode: .systemCode), "1201<I>FFFFFFFFFFFFFFFF")
        #expect(response.requestData == nil)
        #expect(response.systemCode == nil)
    }

    struct Bad: Sendable {
        let bytes: String
        let flaw: FeliCaError.Reason
    }

    static let bad: [Bad] = [
        Bad(bytes: "1001<I>FFFFFFFFFFFF", flaw: .tooShort(missing: 2)),
        Bad(bytes: "", flaw: .empty),
        Bad(bytes: "1201<I>FFFFFFFFFFFFFF", flaw: .length(declared: 18, received: 17)),
        Bad(bytes: "1200<I>FFFFFFFFFFFFFFFF", flaw: .responseCode(0x00)),
        Bad(bytes: "1301<I>FFFFFFFFFFFFFFFF12", flaw: .tooShort(missing: 1)),
        Bad(bytes: "1501<I>FFFFFFFFFFFFFFFF12FC00", flaw: .trailingBytes(extra: 1)),
    ]

    @Test(arguments: bad) func rejectsABadAnswer(_ vector: Bad) throws {
        let error = try refusal(of: Polling(.any, requestCode: .systemCode), vector.bytes)
        #expect(error == .malformed(.polling, vector.flaw))
    }

    @Test func rejectsUnrequestedData() throws {
        let error = try refusal(of: Polling(.any), "1401<I>FFFFFFFFFFFFFFFF12FC")
        #expect(error == .malformed(.polling, .trailingBytes(extra: 2)))
    }

    @Test(arguments: [0x02, 0x04, 0x08, 0x10, 0xFF] as [UInt8]) func ignoresOtherTimeSlots(_ byte: UInt8) {
        #expect(TimeSlots(rawValue: byte) == nil)
    }

    @Test(arguments: [0x03, 0x04, 0xFF] as [UInt8]) func ignoresOtherRequestCodes(_ byte: UInt8) {
        #expect(PollingRequestCode(rawValue: byte) == nil)
    }

    struct Window: Sendable {
        let slots: TimeSlots
        let milliseconds: Double
    }

    static let windows: [Window] = [
        Window(slots: .one, milliseconds: 3.625),
        Window(slots: .two, milliseconds: 4.833),
        Window(slots: .four, milliseconds: 7.249),
        Window(slots: .eight, milliseconds: 12.081),
        Window(slots: .sixteen, milliseconds: 21.745),
    ]

    /// nfcpy rounds both constants to whole microseconds, so its sums are off by up to 0.27 µs a slot.
    @Test(arguments: windows) func pollingWindowMatchesTheFormula(_ window: Window) {
        let microseconds = ResponseTime.pollingWindow(window.slots) / .microseconds(1)
        #expect(abs(microseconds - window.milliseconds * 1000) < 5)
    }

    @Test func pollingGoesOverTheChannelWithItsWindow() throws {
        let channel = RecordingChannel([try packet("1401<I>FFFFFFFFFFFFFFFF0003")])
        let response = try channel.polling(.transit, requestCode: .systemCode, timeSlots: .four)
        #expect(response.systemCode == .transit)
        #expect(channel.sent == [try packet("060000030103")])
        #expect(channel.timeouts == [ResponseTime.pollingWindow(.four)])
    }

    @Test func silenceStaysATransportError() {
        let channel = RecordingChannel(failing: .noAnswer)
        #expect(throws: FeliCaError.transport(.noAnswer)) { try channel.polling(.any) }
    }
}
