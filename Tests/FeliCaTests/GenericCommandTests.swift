// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import NFCTransport
import Testing

/// A command of one's own, as in nfcpy's test of its generic command: code F0, any data, Status Flags.
private struct Generic: FeliCaCommand {
    static let code = CommandCode(rawValue: 0xF0)
    let parameters: [UInt8]

    func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [UInt8] {
        try answer.expectSuccess()
        return answer.rest()
    }

    func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.other) }
}

@Suite struct GenericCommandTests {
    @Test func requestAndAnswer() throws {
        let command = Generic(parameters: [0xA5])
        #expect(try command.packet(for: testIDm) == packet("0BF0<I>A5"))
        #expect(try answer(to: command, "0DF1<I>00005A") == [0x5A])
    }

    @Test(arguments: [
        ("03F35A", FeliCaError.malformed(Generic.code, .responseCode(0xF3))),
        ("0DF1102030405060708000005A", .malformed(Generic.code, .idm(IDm(rawValue: 0x1020_3040_5060_7080)))),
        ("0CF1<I>01A1", .status(StatusFlags(0x01, 0xA1))),
    ])
    func refusals(_ text: String, _ error: FeliCaError) throws {
        #expect(try refusal(of: Generic(parameters: [0xA5]), text) == error)
    }

    @Test func aPacketOver255BytesIsNotSent() {
        let command = Generic(parameters: [UInt8](repeating: 0, count: 246))
        #expect(throws: FeliCaError.invalidArgument(.packetTooLong(256))) { try command.packet(for: testIDm) }
    }

    @Test func responseCodes() {
        #expect(CommandCode.polling.response.rawValue == 0x01)
        #expect(CommandCode.echo.response == .echo)
        #expect(CommandCode(rawValue: 0xFF).response.rawValue == 0x00)
        #expect(CommandCode.echo.bytes == [0xF0, 0x00])
        #expect(CommandCode.echo.description == "F000")
        #expect(CommandCode.readWithoutEncryption.description == "06")
        #expect(CommandCode.readWithoutEncryption.name == "Read Without Encryption")
        #expect(CommandCode(rawValue: 0x10).name == "Authentication1")
        #expect(CommandCode(rawValue: 0x01).name == nil)
        #expect(AnyCommand.all.allSatisfy { $0.code.name != nil })
    }

    @Test func errorsSayWhatTheyAre() {
        #expect(FeliCaError.transport(.noAnswer).isSilence)
        #expect(!FeliCaError.transport(.cancelled).isSilence)
        #expect(FeliCaError.status(StatusFlags(1, 0xA8)).statusFlags?.flag2 == .noSuchBlock)
        #expect(FeliCaError.malformed(.polling, .empty).statusFlags == nil)
    }

    @Test(arguments: [.noAnswer, .corrupted(status: 2), .cardReleased, .readerTimeout, .cancelled] as [TransportError])
    func transportErrorsAreWrapped(_ error: TransportError) {
        let channel = RecordingChannel(failing: error)
        let system = FeliCaSystem(channel: channel, idm: testIDm, pmm: PMm(rawValue: 0))
        #expect(throws: FeliCaError.transport(error)) { try system.requestSystemCode() }
        #expect(channel.sent.count == 1)
    }
}
