// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

/// How the records of a transit card hang together.
@Suite("Amounts of transit records")
struct HistoryChainTests {
    /// A ride with this serial and balance.
    private func ride(_ serial: Int, _ balance: Int) throws -> Block {
        try Dumps.block("160100021F6C01010102000000000000")
            .with(10, UInt8(balance & 0xFF)).with(11, UInt8(balance >> 8))
            .with(12, UInt8(serial >> 16)).with(13, UInt8(serial >> 8 & 0xFF)).with(14, UInt8(serial & 0xFF))
    }

    private func report(_ blocks: BlockTable, _ state: ReadState = .read) throws -> CardReport {
        try CyberneticsDecoder.transit.decode(
            Dumps.card(.transit, [ServiceDump(code: Dumps.history, state: state, blocks: blocks)]))
    }

    struct Step: Sendable {
        let newer: Int
        let older: Int
        let amount: Int?
        let warnings: [DecodingWarning]
    }

    static let steps: [Step] = [
        Step(newer: 101, older: 100, amount: -160, warnings: []),
        Step(newer: 102, older: 100, amount: -160, warnings: []),
        Step(newer: 103, older: 100, amount: nil, warnings: [.serialGap]),
        Step(newer: 0x10001, older: 0xFFFF, amount: -160, warnings: []),
        Step(newer: 0, older: 0xFFFFFF, amount: -160, warnings: []),
        Step(newer: 100, older: 101, amount: nil, warnings: [.serialOrder]),
        Step(newer: 100, older: 100, amount: nil, warnings: [.serialOrder]),
    ]

    @Test("The difference of two balances is an amount only when nothing lies between", arguments: steps)
    func step(_ step: Step) throws {
        let history = try report([0: ride(step.newer, 840), 1: ride(step.older, 1000)]).history
        #expect(history?.map(\.amount) == [step.amount, nil])
        #expect(history?.map(\.warnings) == [step.warnings, []])
    }

    @Test("A block that was not read leaves the amount before it unknown")
    func hole() throws {
        let report = try report([0: ride(104, 700), 2: ride(102, 900), 3: ride(100, 1000)])
        #expect(report.history?.map(\.amount) == [nil, -100, nil])
        #expect(report.history?.first?.warnings == [.olderRecordMissing])
        #expect(report.warnings == [.historyIncomplete, .balanceFromHistory])
    }

    @Test("Without block 0 no record's balance is taken for the card's")
    func newestMissing() throws {
        let report = try report([1: ride(102, 900), 2: ride(100, 1000)], .lost)
        #expect(report.balances.isEmpty)
        #expect(report.warnings == [.historyIncomplete])
        #expect(report.history?.map(\.amount) == [-100, nil])
    }

    @Test("A card that left early is told, unless the end of the history had been seen")
    func cardLeft() throws {
        #expect(try report([0: ride(100, 1000)], .lost).warnings.contains(.historyIncomplete))
        #expect(try !report([0: ride(100, 1000), 1: .zero], .lost).warnings.contains(.historyIncomplete))
    }

    @Test("A record that stands twice is given once, and that is told")
    func duplicate() throws {
        let report = try report([0: ride(102, 840), 1: ride(102, 840), 2: ride(100, 1000)])
        #expect(report.history?.map(\.amount) == [-160, nil])
        #expect(report.warnings.contains(.duplicateRecord))
    }

    @Test("Refunds and charges raise the balance, rides of no cost leave it")
    func signs() throws {
        let report = try report([0: ride(103, 1000), 1: ride(102, 1000), 2: ride(101, 500)])
        #expect(report.history?.map(\.amount) == [0, 500, nil])
    }

    @Test("Reports a balance that does not match the history, and returns the card's own balance")
    func crossCheck() throws {
        let attribute = try Dumps.block("0000000000000000200000E803000065")
        let dump = Dumps.transit([try ride(102, 840), try ride(100, 1000)], attribute: attribute)
        let report = try CyberneticsDecoder.transit.balance(dump)
        #expect(report.balances.map(\.amount) == [1000])
        #expect(report.warnings == [.balanceDiffersFromHistory, .transactionsNotInHistory])
        let edy = Dumps.edy(
            [try Dumps.block("20000067180423ED000003E800002A3E")],
            purse: try Dumps.block("3F2A0000000000000000000000000000"))
        #expect(try EdyDecoder().balance(edy).warnings == [.balanceDiffersFromHistory])
    }
}
