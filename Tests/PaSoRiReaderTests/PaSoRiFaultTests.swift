// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import SimulatedChips
import TestSupport
import Testing
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// Readers that answer garbage, short, late, twice or not at all, and that are unplugged.
struct PaSoRiFaultTests {
    /// What becomes of a fault at one command; the command after it always works.
    struct Case: Sendable {
        let model: SimulatedPaSoRi
        let fault: InjectedUSBFault
        let error: TransportError
    }

    private static let timeout = TransportError.readerTimeout
    private static let damaged = TransportError.corrupted(status: 0)

    /// What every kind tells its caller.
    private static let common: [(InjectedUSBFault, TransportError)] = [
        (.nothing, timeout), (.late, timeout), (.truncated(to: 0), timeout), (.garbage([0x12, 0x34]), damaged),
        (.garbage([UInt8](repeating: 0xFF, count: 300)), damaged), (.wrongCode, damaged),
    ]

    private static let rcs380: [(InjectedUSBFault, TransportError)] = [
        (.acknowledgeOnly, timeout), (.lateAnswer, timeout), (.noAcknowledge, timeout), (.truncated(to: 3), timeout),
        (.truncated(to: 20), timeout), (.wrongDataChecksum, damaged), (.wrongLengthChecksum, damaged),
        (.errorFrame, damaged), (.truncated(to: 5), damaged),
    ]

    private static let rcs300: [(InjectedUSBFault, TransportError)] = [
        (.truncated(to: 9), timeout), (.truncated(to: 14), timeout), (.wrongLengthChecksum, timeout),
        (.wrongSequence, timeout), (.garbage([0x83, 0, 0, 0, 0, 0, 9, 0, 0, 0]), damaged),
        (.errorFrame, .readerFailed(detail: .init(.commandRefused, "5"))),
        (.sessionTaken, .readerUnavailable(reason: .busy, detail: .init(.sessionTaken))),
    ]

    static let cases: [Case] =
        SimulatedPaSoRi.allCases.flatMap { model in
            (common + (model == .rcs380 ? rcs380 : rcs300)).map { Case(model: model, fault: $0.0, error: $0.1) }
        }

    @Test(arguments: cases) func reportsOneBadAnswer(_ test: Case) throws {
        let bench = try PaSoRiBench.withFault(test.fault, test.model)
        let target = try #require(try bench.activate())
        #expect(throws: test.error) { try bench.requestSystemCode(target) }
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        #expect(bench.chip.statistics.complaints == [])
        guard test.model == .rcs380 else { return }
        // What was told to the reader is told again, once.
        #expect(bench.chip.statistics.commandsByCode[0x00] == 2)
        #expect(bench.chip.statistics.commandsByCode[0x02] == 2)
    }

    @Test(arguments: SimulatedPaSoRi.allCases) func acceptsADuplicatedAnswerOnce(_ model: SimulatedPaSoRi) throws {
        let bench = try PaSoRiBench.withFault(.twice, model)
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        #expect(try bench.send([0x0A, 0x04] + target.idm.bytes).dropFirst().first == 0x05)
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
    }

    /// What a program that was killed may leave to be fetched.
    static let leftovers: [(SimulatedPaSoRi, [[UInt8]])] =
        SimulatedPaSoRi.allCases.flatMap { model in
            [[[0x00]], [[], []], [[UInt8](repeating: 0xAA, count: 64)]].map { (model, $0) }
        } + [
            (.rcs380, [Port100Frame.acknowledgeBytes]),
            (.rcs380, [Port100Frame.acknowledgeBytes, Port100Frame.encode([0xD7, 0x05, 0, 0, 0, 0, 8, 1])]),
            (.rcs380, [Port100Frame.encode([0xD7, 0x2B, 0x00])]), (.rcs380, [[UInt8]](repeating: [1, 2], count: 20)),
            (.rcs300, [[0x83, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0x90, 0x00]]),
            (.rcs300, [[UInt8]](repeating: [0x83, 0x02], count: 20)),
        ]

    @Test(arguments: leftovers)
    func openingRecoversFromALeftoverAnswer(_ model: SimulatedPaSoRi, _ leftover: [[UInt8]]) throws {
        let bench = try PaSoRiBench(model, InjectedUSBFaults(leftover: leftover))
        try bench.open()
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
    }

    @Test(arguments: SimulatedPaSoRi.allCases) func givesUpADeadReader(_ model: SimulatedPaSoRi) throws {
        let bench = try PaSoRiBench.withFault(.dead, model)
        let target = try #require(try bench.activate())
        #expect(throws: TransportError.readerTimeout) { try bench.requestSystemCode(target) }
        _ = bench.link.takeLog()
        let mute = TransportError.readerFailed(detail: .init(.invalidAnswers))
        #expect(throws: mute) { try bench.requestSystemCode(target) }
        #expect(bench.link.takeLog() == [])
        bench.close()
        #expect(bench.link.closings == 1)
    }

    /// A device with a PaSoRi's product ID that answers nothing, or garbage.
    final class NoPaSoRi: VirtualUSBChip {
        let answer: [UInt8]?
        init(_ answer: [UInt8]?) { self.answer = answer }
        func receive(_ transfer: [UInt8]) {}
        func nextTransfer() -> [UInt8]? { answer }
        var isUnplugged: Bool { false }
        var statistics: USBChipStatistics { USBChipStatistics() }
    }

    static let strangers: [[UInt8]?] = [
        nil, [], [0x00], Port100Frame.acknowledgeBytes, [UInt8](repeating: 7, count: 512),
    ]

    @Test(arguments: SimulatedPaSoRi.allCases, strangers)
    func opensNoForeignDevice(_ model: SimulatedPaSoRi, _ answer: [UInt8]?) throws {
        let system = try MadeUpSystem()
        let device = model.device
        try system.plugIn(
            "1-1", vendor: "054c", product: device.product, bus: 1, device: 2, classes: device.classes)
        let link = VirtualUSBLink(NoPaSoRi(answer))
        let driver = PaSoRiDriver(paths: system.paths) { _, _ in link }
        let expected = TransportError.readerUnavailable(
            reason: .unsupported, detail: .init(.notAPaSoRi))
        #expect(throws: expected) { try driver.open(model.rawValue, cancellation: CancellationToken()) }
        #expect(link.closings == 1)
    }

    @Test(arguments: SimulatedPaSoRi.allCases) func unpluggedAtEveryTransfer(_ model: SimulatedPaSoRi) throws {
        let clean = try PaSoRiBench(model)
        try clean.open()
        let opening = clean.chip.statistics.transfers
        _ = try clean.requestSystemCode(#require(try clean.activate()))
        let closing = clean.chip.statistics.transfers + 1
        clean.close()
        let all = clean.chip.statistics.transfers
        #expect(0 < opening && opening < closing && closing < all)
        let gone = TransportError.readerUnavailable(reason: .absent, detail: .init(.unplugged))
        for transfer in 1...all {
            let bench = try PaSoRiBench(model, InjectedUSBFaults(unplugBeforeTransfer: transfer))
            #expect(try bench.runOnce() == (transfer < closing ? gone : nil), "transfer \(transfer)")
            // Who opens closes the link when opening failed.
            #expect(bench.link.closings == (transfer <= opening ? 0 : 1), "transfer \(transfer)")
        }
    }

    @Test(arguments: SimulatedPaSoRi.allCases) func cancelledAtEveryTransfer(_ model: SimulatedPaSoRi) throws {
        let clean = try PaSoRiBench(model)
        try clean.open()
        let opening = clean.link.transfers
        _ = try clean.requestSystemCode(#require(try clean.activate()))
        for transfer in opening + 1...clean.link.transfers {
            let bench = try PaSoRiBench(model)
            bench.link.beforeTransfer = { [token = bench.cancellation] number in
                if number == transfer { token.cancel() }
            }
            #expect(try bench.runOnce() == .cancelled, "transfer \(transfer)")
            #expect(!bench.chip.statistics.isFieldOn)
            #expect(bench.link.closings == 1)
        }
    }

    @Test(arguments: SimulatedPaSoRi.allCases) func randomFaultsNeverTrapHangOrLie(_ model: SimulatedPaSoRi) throws {
        var random = SeededGenerator(seed: model == .rcs380 ? 5 : 7)
        let kinds =
            Self.cases.filter { $0.model == model }.map(\.fault) + [.twice, .dead]
            + (model == .rcs300 ? [.busy, .moreTime] : [])
        var answers = 0
        for _ in TestEffort.rounds(100) {
            var plan: [Int: InjectedUSBFault] = [:]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                plan[Int.random(in: 1...30, using: &random)] = kinds.randomElement(using: &random)
            }
            let bench = try PaSoRiBench(model, InjectedUSBFaults(atCommand: plan))
            guard (try? bench.open()) != nil else { continue }
            for _ in 0..<6 {
                guard let target = try? bench.activate(), let answer = try? bench.requestSystemCode(target) else {
                    continue
                }
                answers += 1
                #expect(answer == Port100Bench.systemCodes, "\(plan)")
            }
            bench.close()
            #expect(bench.link.closings == 1)
        }
        // Most exchanges are not hit.
        #expect(answers > 150)
    }
}
