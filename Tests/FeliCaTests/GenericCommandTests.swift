// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import ReaderCore
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

    /// The response code FF is the last of one byte.
    private struct Last: FeliCaCommand {
        static let code = CommandCode(rawValue: 0xFE)

        func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [UInt8] { answer.rest() }

        func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.other) }
    }

    @Test func lastOneByteCode() throws {
        #expect(try Last().packet(for: testIDm) == packet("0AFE<I>"))
        #expect(try answer(to: Last(), "0BFF<I>5A") == [0x5A])
    }

    @Test func rejectsPacketsOver255Bytes() {
        let command = Generic(parameters: [UInt8](repeating: 0, count: 246))
        #expect(throws: FeliCaError.invalidArgument(.packetTooLong(256))) { try command.packet(for: testIDm) }
    }

    @Test func responseCodes() {
        #expect(CommandCode.polling.response.rawValue == 0x01)
        #expect(CommandCode.echo.response == .echo)
        #expect(CommandCode(rawValue: 0xFF).response.rawValue == 0x00)
        #expect(CommandCode(rawValue: 0x0100).response.rawValue == 0x0100)
        #expect(CommandCode.echo.bytes == [0xF0, 0x00])
        #expect(CommandCode(rawValue: 0x0100).bytes == [0x01, 0x00])
        #expect(CommandCode(rawValue: 0xFF).bytes == [0xFF])
        #expect(CommandCode.echo.description == "F000")
        #expect(CommandCode(rawValue: 0x0100).description == "0100")
        #expect(CommandCode(rawValue: 0xFF).description == "FF")
        #expect(CommandCode.readWithoutEncryption.description == "06")
        #expect(AnyCommand.all.allSatisfy { $0.code.name != nil })
    }

    /// The commands that the manual and felica-tool name; proxmark3's `include/protocols.h` has the same codes.
    static let names = """
        00 Polling
        02 Request Service
        04 Request Response
        06 Read Without Encryption
        08 Write Without Encryption
        0A Search Service Code
        0C Request System Code
        0E Request Block Information
        10 Authentication1
        12 Authentication2
        14 Read
        16 Write
        1A Request Code List
        1E Request Block Information Ex
        20 Set Parameter
        22 Get Container Issue Information
        24 Get Area Information
        28 Get Node Property
        2E Get Container Property
        32 Request Service v2
        34 Internal Authenticate and Read
        36 External Authenticate and Write
        38 Get System Status
        3A Request Product Information
        3C Request Specification Version
        3E Reset Mode
        40 Authentication1 v2
        42 Authentication2 v2
        44 Read v2
        46 Write v2
        48 Delete Key
        4C Update Random ID
        70 Get Container ID
        78 Set Node Property
        80 Register Issue ID
        82 Register Area
        84 Register Service
        86 Register Issue ID Ex
        8E Change System Block
        F000 Echo
        """

    @Test func everyCommandHasItsCode() {
        let named = (Array(0...0x1FF) + [0xEFFF, 0xF000, 0xF001]).map(CommandCode.init(rawValue:)).compactMap { code in
            code.name.map { "\(code) \($0)" }
        }
        #expect(named.joined(separator: "\n") == Self.names)
    }

    @Test func describesErrors() {
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
