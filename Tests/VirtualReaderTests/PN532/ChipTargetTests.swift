// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("PN532: finding cards")
struct ChipTargetTests {
    private static let card = "0102030405060708f1f2f3f4f5f6f7f8"
    /// Polling responses of the test's card without and with system code AABB.
    private static let plain = "1201" + card
    private static let named = "1401" + card + "aabb"

    /// The frame of nfcpy's test: found, length 14, then the Polling response.
    @Test(arguments: [
        ("d44a010100ffff0100", "d54b0101" + named), ("d44a010200ffff0100", "d54b0101" + named),
        ("d44a010100ffff0000", "d54b0101" + plain), ("d44a020100aabb0100", "d54b0101" + named),
    ])
    func feliCaIsFound(command: String, answer: String) throws {
        let bench = try ChipBench(commands: [command])
        #expect(bench.answers == [answer])
        #expect(bench.field.frames.count == 1)
        #expect(bench.counters.statistics.answeredExchanges == 1)
    }

    @Test func missingSystemCostsEveryRetry() throws {
        let bench = try ChipBench(commands: ["d43205000102", "d44a01010000030100"])
        #expect(bench.answers == ["d533", "d54b00"])
        #expect(bench.field.frames.count == 3)
        #expect(bench.counters.statistics.retriedFrames == 2)
    }

    @Test func unsupportedSpeed() throws {
        let field = PlainField(bitRates: [.kbps212])
        let bench = try ChipBench(
            commands: ["d43205000000", "d44a010200ffff0100", "d44a010100ffff0100"], field: field)
        #expect(bench.answers == ["d533", "d54b00", "d54b0101" + Self.named])
    }

    @Test(arguments: [
        FieldResult.silence, .damaged(status: 0x02), .answer(CardAnswer([0x0C, 0x01])), .answer(CardAnswer([])),
    ])
    func pollsAgainAfterABadAnswer(outcome: FieldResult) throws {
        let field = PlainField([0: outcome])
        let bench = try ChipBench(commands: ["d43205000001", "d44a010100ffff0100"], field: field)
        #expect(bench.answers == ["d533", "d54b0101" + Self.named])
        #expect(field.frames.count == 2)
    }

    /// Polling bytes that are none: the error frame of libnfc's issue 671, and other parameters out of range.
    @Test(arguments: [
        "d44a01018040ce662f", "d44a0101", "d44a010100ffff01", "d44a010100ffff010000", "d44a000100ffff0100",
        "d44a030100ffff0100", "d44a0105", "d44a01", "d44a", "d46001", "d4600001", "d460010011", "d460011011",
        "d460000111",
    ])
    func answersNonsenseWithASyntaxError(command: String) throws {
        let bench = try ChipBench(commands: [command])
        #expect(bench.answers == [ChipBench.error])
        #expect(bench.field.frames.isEmpty)
    }

    /// A chip starts with retries forever; the host's ACK ends them, and the next command is answered.
    @Test(arguments: ["d44a010100ffff0100", "d44a0100", "d44a010300"])
    func endlessSearchEndsWithAnAcknowledge(command: String) throws {
        let field = PlainField(hasCard: false)
        let bench = ChipBench(
            [
                try HostBytes(command: command), HostBytes(at: .milliseconds(300), PN532Frame.acknowledge),
                try HostBytes(at: .milliseconds(301), command: "d402"),
            ], field: field)
        #expect(bench.answers == ["d50332010607"])
        #expect(bench.counters.statistics.abortedCommands == 1)
        #expect(field.frames.count < 40)
    }

    @Test func newCommandEndsTheRunningOne() throws {
        let field = PlainField(hasCard: false)
        let bench = ChipBench(
            [try HostBytes(command: "d44a010100ffff0100"), try HostBytes(at: .milliseconds(50), command: "d402")],
            field: field)
        #expect(bench.answers == ["d50332010607"])
        #expect(bench.sent.filter { $0 == ChipBench.ack }.count == 2)
    }

    @Test func endlessSearchFindsACardThatComesLater() throws {
        let field = PlainField(Dictionary(uniqueKeysWithValues: (0..<5).map { ($0, .silence) }))
        let bench = ChipBench([try HostBytes(command: "d44a010100ffff0100")], field: field)
        #expect(bench.answers == ["d54b0101" + Self.named])
        #expect(bench.line.now == .milliseconds(50))
    }

    /// Without a card of that kind nfcpy reads the FIFO, and finds its own request there.
    @Test func typeAIsNotFound() throws {
        let bench = try ChipBench(commands: ["d43205010001", "d44a0100", "d4066339"])
        #expect(bench.answers == ["d533", "d54b00", "d50726"])
        #expect(bench.field.frames.isEmpty)
    }

    @Test func autoPollFindsAtOnce() throws {
        let bench = try ChipBench(commands: ["d460010211"])
        #expect(bench.answers == ["d56101111301" + Self.plain])
        #expect(bench.line.now == .zero)
    }

    /// Two rounds, three types, twice 150 ms each: the host asked for that time.
    @Test func autoPollTakesItsTime() throws {
        let field = PlainField(hasCard: false)
        let bench = try ChipBench(commands: ["d4600202002012"], field: field)
        #expect(bench.answers == ["d56100"])
        #expect(bench.line.now == .milliseconds(2 * 3 * 300))
        #expect(field.frames.count == 2)
    }

    @Test func releasedTargetAnswersNothingUntilSelected() throws {
        let exchange = "d440010a0c0102030405060708"
        let bench = try ChipBench(commands: [
            "d44a010100ffff0100", "d404", "d44401", exchange, "d404", "d45401", exchange, "d45201", exchange,
        ])
        let systems = "d541000f0d010203040506070802aabb12fc"
        #expect(
            bench.answers.dropFirst() == [
                "d5050000010101011000", "d54500", "d54129", "d50500000000", "d55500", systems, "d55300", "d54129",
            ])
    }
}
