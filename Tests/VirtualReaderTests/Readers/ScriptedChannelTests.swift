// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import ReaderTesting
import Testing
import VirtualReader

/// Channels that know beforehand what will be asked.
struct ScriptedChannelTests {
    @Test func answersAndErrorsInOrder() throws {
        let channel = ScriptedChannel([
            try ScriptedExchange("0600 FFFF 00 00", answer: "12 01"),
            try ScriptedExchange("0A04", error: .noAnswer),
        ])
        #expect(try channel.transceive([0x06, 0x00, 0xFF, 0xFF, 0x00, 0x00], timeout: .seconds(1)) == [0x12, 0x01])
        #expect(throws: TransportError.noAnswer) { try channel.transceive([0x0A, 0x04], timeout: .seconds(2)) }
        #expect(channel.finish().isEmpty)
        #expect(channel.timeouts == [.seconds(1), .seconds(2)])
    }

    @Test func reportsUnusedExchanges() throws {
        let channel = ScriptedChannel([
            try ScriptedExchange("0A04", answer: ""), try ScriptedExchange("0A0C", answer: ""),
        ])
        #expect(try channel.transceive([0x0A, 0x04], timeout: .zero).isEmpty)
        #expect(channel.finish() == ["never asked: 0a0c"])
    }

    @Test func reportsUnexpectedFrames() throws {
        let channel = ScriptedChannel([try ScriptedExchange("0A04", answer: "")])
        let other = "exchange 1: expected 0a04, but 0a05 came"
        #expect(throws: TransportError.outOfScript(detail: .init(.text, other))) {
            try channel.transceive([0x0A, 0x05], timeout: .zero)
        }
        #expect(try channel.transceive([0x0A, 0x04], timeout: .zero).isEmpty)
        let more = "exchange 3: nothing expected, but 0a04 came"
        #expect(throws: TransportError.outOfScript(detail: .init(.text, more))) {
            try channel.transceive([0x0A, 0x04], timeout: .zero)
        }
        #expect(channel.finish() == [other, more])
    }

    @Test func badHexadecimal() {
        #expect(throws: HexError.self) { try ScriptedExchange("0", answer: "") }
        #expect(throws: HexError.self) { try ScriptedExchange("00", answer: "x") }
    }
}
