// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816
import ReaderCore
import ReaderTesting
import Testing
import VirtualReader

@Suite("After a failed exchange, the card is selected again")
struct SelectionTests {
    static let failures: [(error: TransportError, isLost: Bool)] = [
        (.noAnswer, true), (.corrupted(status: 2), true), (.cardReleased, true), (.readerTimeout, true),
        (.readerFailed(detail: .init(.text, "x")), true), (.cancelled, true), (.answerTooLong, false),
        (.unsupported(detail: .init(.text, "x")), false),
    ]

    @Test(arguments: failures) func lost(_ row: (error: TransportError, isLost: Bool)) throws {
        var reselections = 0
        let channel = ScriptedChannel(
            [
                try ScriptedExchange("00A4040C06A00000023101", answer: "9000"),
                try ScriptedExchange("00B0000010", error: row.error),
            ]
                + (row.isLost
                    ? [
                        try ScriptedExchange("00A4040C06A00000023101", answer: "9000"),
                        try ScriptedExchange("00B0000010", answer: "9000"),
                    ] : [try ScriptedExchange("00B0000010", answer: "9000")]))
        let session = ISO7816Session(channel: channel) { () throws(TransportError) in
            reselections += 1
            return true
        }
        let aid = try #require(AID("A00000023101"))
        let read = CommandAPDU(.readBinary, ne: 16)
        try session.select(.application(aid))
        #expect(throws: ISO7816Error.transport(row.error)) { try session.transmit(read) }
        if row.isLost {
            #expect(reselections == 0, "only when something is to be sent")
            for _ in 0..<2 { #expect(throws: ISO7816Error.selectionLost) { try session.transmit(read) } }
            #expect(reselections == 1, "once")
            try session.select(.application(aid))
        }
        #expect(throws: Never.self) { try session.transmit(read) }
        #expect(reselections == (row.isLost ? 1 : 0))
        #expect(channel.finish().isEmpty)
    }

    @Test func continuesFromTheMFOnRequest() throws {
        let channel = ScriptedChannel([
            try ScriptedExchange("00B0000010", error: .noAnswer), try ScriptedExchange("00B0000010", answer: "AA9000"),
        ])
        let session = ISO7816Session(channel: channel) { () throws(TransportError) in true }
        #expect(throws: ISO7816Error.transport(.noAnswer)) { try session.readBinary(offset: 0, count: 16) }
        try session.reselect()
        #expect(try session.readBinary(offset: 0, count: 16).data == [0xAA])
        try session.reselect()
        #expect(channel.finish().isEmpty)
    }

    @Test func noCardOrAnotherCard() throws {
        let channel = ScriptedChannel([try ScriptedExchange("00B0000010", error: .noAnswer)])
        let session = ISO7816Session(channel: channel) { () throws(TransportError) in throw .cardReleased }
        #expect(throws: ISO7816Error.transport(.noAnswer)) { try session.readBinary(offset: 0, count: 16) }
        for _ in 0..<2 {
            #expect(throws: ISO7816Error.transport(.cardReleased)) { try session.select(.masterFile) }
        }
        let other = ScriptedChannel([try ScriptedExchange("00B0000010", error: .noAnswer)])
        let swapped = ISO7816Session(channel: other) { () throws(TransportError) in false }
        #expect(throws: ISO7816Error.transport(.noAnswer)) { try swapped.readBinary(offset: 0, count: 16) }
        #expect(throws: ISO7816Error.otherCard) { try swapped.select(.masterFile) }
        #expect(channel.finish().isEmpty && other.finish().isEmpty)
    }

    /// A reader whose card can be changed.
    final class ChangingReader: Reader {
        let information = ReaderInformation(id: "test", name: "test", longestCommandAPDU: 255, longestResponseAPDU: 250)
        var picc: PICC?
        var requests: [ActivationRequest] = []

        init(_ picc: PICC) { self.picc = picc }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            requests.append(request)
            return picc
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            if frame[1] == 0xB0 { throw .noAnswer }
            return [0x90, 0x00]
        }

        func close() {}
    }

    private static func typeA(_ uid: [UInt8], ats: [UInt8] = [2, 0x80]) -> PICC {
        .typeA(TypeATarget(uid: uid, atqa: 0x0344, sak: 0x20, ats: ats, isISODEP: true))
    }

    private static func typeB(_ pupi: [UInt8], _ applicationData: [UInt8] = [0, 0, 0, 0]) -> PICC {
        .typeB(TypeBTarget(pupi: pupi, applicationData: applicationData, protocolInfo: [0, 0x81, 0xD1]))
    }

    static let swaps: [(before: PICC, after: PICC?, error: ISO7816Error?)] = [
        (typeA([4, 1, 2, 3, 4, 5, 6]), typeA([4, 1, 2, 3, 4, 5, 6]), nil),
        (typeA([4, 1, 2, 3, 4, 5, 6]), typeA([4, 1, 2, 3, 4, 5, 7]), .otherCard),
        (typeA([8, 1, 2, 3]), typeA([8, 4, 5, 6]), nil), (typeA([9, 1, 2, 3]), typeA([9, 4, 5, 6]), .otherCard),
        (typeA([8, 1, 2, 3]), typeA([8, 4, 5, 6], ats: [2, 0x81]), .otherCard),
        (typeB([1, 2, 3, 4]), typeB([5, 6, 7, 8]), nil),
        (typeB([1, 2, 3, 4]), typeB([5, 6, 7, 8], [0, 0x4B, 0x51, 0xFF]), .otherCard),
        (typeB([1, 2, 3, 4]), typeA([8, 1, 2, 3]), .otherCard),
        (typeB([1, 2, 3, 4]), nil, .transport(.cardReleased)),
    ]

    @Test(arguments: swaps) func readerFindsTheSameCard(_ row: (before: PICC, after: PICC?, error: ISO7816Error?)) {
        let reader = ChangingReader(row.before)
        let session = ISO7816Session(reader: reader, picc: row.before, request: .typeB())
        #expect(session.limits == APDULimits(longestCommand: 255, longestResponse: 250))
        #expect(throws: ISO7816Error.transport(.noAnswer)) { try session.readBinary(offset: 0, count: 1) }
        reader.picc = row.after
        var error: ISO7816Error?
        do { try session.select(.masterFile) } catch let caught { error = caught }
        #expect(error == row.error)
        #expect(reader.requests == [.typeB()])
    }
}
