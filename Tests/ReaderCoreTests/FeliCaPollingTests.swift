// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import Testing

/// Polling as readers send it that carry single packets.
struct FeliCaPollingTests {
    private static let answer: [UInt8] = [0x12, 0x01] + [1, 2, 3, 4, 5, 6, 7, 8] + [9, 10, 11, 12, 13, 14, 15, 16]

    private func look(_ result: Result<[UInt8], TransportError>) throws(TransportError) -> FeliCaTarget? {
        try FeliCaPolling(SystemCode(rawValue: 0x0003), requestCode: 1, timeSlots: 3).look(at: .kbps424) {
            frame, time throws(TransportError) in
            #expect(frame == [0x06, 0x00, 0x00, 0x03, 0x01, 0x03])
            // 2.417 ms, four slots of 1.208 ms, and 3 ms for the reader: just more than 10 ms.
            #expect(time == .microseconds(10_249))
            return try result.get()
        }
    }

    @Test func findsACard() throws {
        let target = try #require(try look(.success(Self.answer)))
        #expect(target.idm.rawValue == 0x0102_0304_0506_0708)
        #expect(target.pmm.rawValue == 0x090A_0B0C_0D0E_0F10)
        #expect(target.requestData == nil)
        #expect(target.bitRate == .kbps424)
        let system = try #require(try look(.success([0x14] + Self.answer.dropFirst() + [0xFE, 0x00])))
        #expect(system.requestData == 0xFE00)
    }

    @Test func tellsADamagedAnswerFromSilence() throws {
        #expect(try look(.failure(.noAnswer)) == nil)
        #expect(throws: TransportError.heard(.damaged(.felica))) { try look(.failure(.corrupted(status: 2))) }
    }

    @Test(
        arguments: [.corrupted(status: 0), .readerTimeout, .cancelled, .unsupported(detail: .init(.text, ""))]
            as [TransportError])
    func reportsReaderFaults(_ error: TransportError) {
        #expect(throws: error) { try look(.failure(error)) }
    }

    static let nonsense: [[UInt8]] = [
        [], [0x12], Array(answer.dropLast()), [0x13] + answer.dropFirst(), [0x12, 0x07] + answer.dropFirst(2),
        [0x14] + answer.dropFirst(), [0x14] + answer.dropFirst() + [0xFE],
    ]

    @Test(arguments: nonsense) func rejectsMalformedAnswers(_ bytes: [UInt8]) {
        #expect(throws: TransportError.corrupted(status: 0)) { try look(.success(bytes)) }
    }

    /// nfcpy `test_tag_tt3.py`, `test_clf_rcs380.py`; felica-tool `PollingCommandTest`.
    static let packets: [(SystemCode, requestCode: UInt8, timeSlots: UInt8, frame: [UInt8])] = [
        (.any, 0, 0, [6, 0, 0xFF, 0xFF, 0, 0]), (.any, 1, 0, [6, 0, 0xFF, 0xFF, 1, 0]),
        (.any, 2, 0, [6, 0, 0xFF, 0xFF, 2, 0]), (.lite, 0, 0, [6, 0, 0x88, 0xB4, 0, 0]),
        (.ndef, 0, 1, [6, 0, 0x12, 0xFC, 0, 1]), (.ndef, 0, 15, [6, 0, 0x12, 0xFC, 0, 15]),
    ]

    @Test(arguments: packets)
    func packetIsExact(_ row: (SystemCode, requestCode: UInt8, timeSlots: UInt8, frame: [UInt8])) {
        #expect(FeliCaPolling(row.0, requestCode: row.requestCode, timeSlots: row.timeSlots).frame == row.frame)
    }

    /// felica-tool `PollingResponseTest`; nfcpy; flipperzero#3871, #4204; the QM-ABCM7 manual.
    static let answers: [(text: String, idm: UInt64, pmm: UInt64, data: UInt16?)] = [
        ("1201F14011111111B66001188B868FBECBFF", 0xF140_1111_1111_B660, 0x0118_8B86_8FBE_CBFF, nil),
        ("1401014011111111B66001188B868FBECBFFFE00", 0x0140_1111_1111_B660, 0x0118_8B86_8FBE_CBFF, 0xFE00),
        ("1401F14011111111B66001188B868FBECBFF0083", 0xF140_1111_1111_B660, 0x0118_8B86_8FBE_CBFF, 0x0083),
        ("1401012E30C37694481F03350B82824483FF12FC", 0x012E_30C3_7694_481F, 0x0335_0B82_8244_83FF, 0x12FC),
        ("1201012E4CE445055B8700F1000000014300", 0x012E_4CE4_4505_5B87, 0x00F1_0000_0001_4300, nil),
    ]

    @Test(arguments: answers)
    func answerIsReadInFull(_ row: (text: String, idm: UInt64, pmm: UInt64, data: UInt16?)) throws {
        let target = try FeliCaPolling(.any).target(from: Hex.decode(row.text), bitRate: .kbps212)
        #expect(target.idm.rawValue == row.idm && target.pmm.rawValue == row.pmm)
        #expect(target.requestData == row.data)
    }

    /// A whole packet with an even code is of generation 0; anything else is damage.
    @Test(arguments: [
        ("060000000707", true), ("0200", true), ("0A0D010101010101010101", false), ("0301", false), ("02", false),
        ("0600000007", false), ("060100000707", false),
    ])
    func hearsGeneration0(_ packet: String, _ isHeard: Bool) throws {
        let bytes = try Hex.decode(packet)
        #expect(throws: isHeard ? TransportError.heard(.unstarted(.felica)) : .corrupted(status: 0)) {
            try FeliCaPolling(.any).look(at: .kbps212) { _, _ throws(TransportError) in bytes }
        }
    }
}
