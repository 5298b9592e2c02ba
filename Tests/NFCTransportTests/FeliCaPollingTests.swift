// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport
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

    @Test(arguments: [.noAnswer, .corrupted(status: 2)] as [TransportError])
    func retriesAfterGarbledAnswer(_ error: TransportError) throws {
        #expect(try look(.failure(error)) == nil)
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
}
