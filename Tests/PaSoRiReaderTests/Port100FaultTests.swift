// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport
import TestSupport
import Testing
import VirtualReader

@testable import PaSoRiReader

/// Readers that answer garbage, short, late, twice or not at all, and that are unplugged.
struct Port100FaultTests {
    /// A fault at one command, and what its caller is told; the command after it always works.
    static let faults: [(USBFault, TransportError)] = [
        (.nothing, .readerTimeout), (.acknowledgeOnly, .readerTimeout), (.late, .readerTimeout),
        (.lateAnswer, .readerTimeout), (.noAcknowledge, .readerTimeout),
        (.wrongDataChecksum, .corrupted(status: 0)), (.wrongLengthChecksum, .corrupted(status: 0)),
        (.truncated(to: 0), .readerTimeout), (.truncated(to: 3), .readerTimeout), (.truncated(to: 20), .readerTimeout),
        (.garbage([0x12, 0x34]), .corrupted(status: 0)),
        (.garbage([UInt8](repeating: 0xFF, count: 300)), .corrupted(status: 0)),
        (.wrongCode, .corrupted(status: 0)), (.errorFrame, .corrupted(status: 0)),
    ]

    @Test(arguments: faults) func oneBadAnswerIsTold(_ fault: USBFault, _ error: TransportError) throws {
        // Opening, modulation, protocol and Polling come before it.
        let bad = Port100Bench.openingCommands + 4
        let bench = try Port100Bench(usb: USBFaultPlan(atCommand: [bad: fault]))
        let target = try #require(try bench.activate())
        #expect(throws: error) { try bench.requestSystemCode(target) }
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        // What was told to the reader is told again, once.
        #expect(bench.chip.statistics.commandsByCode[0x00] == 2)
        #expect(bench.chip.statistics.commandsByCode[0x02] == 2)
    }

    @Test func anAnswerThatComesTwiceIsTakenOnce() throws {
        let bad = Port100Bench.openingCommands + 4
        let bench = try Port100Bench(usb: USBFaultPlan(atCommand: [bad: .twice]))
        let target = try #require(try bench.activate())
        let echo: [UInt8] = [0x0A, 0x04] + target.idm.bytes
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
        #expect(try bench.reader.transceive(echo, timeout: .milliseconds(10)).dropFirst().first == 0x05)
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
    }

    /// What a program that was killed may leave to be fetched.
    static let leftovers: [[[UInt8]]] = [
        [Port100Frame.acknowledgeBytes],
        [Port100Frame.acknowledgeBytes, Port100Frame.encode([0xD7, 0x05, 0, 0, 0, 0, 8, 1])],
        [Port100Frame.encode([0xD7, 0x2B, 0x00])], [[0x00]], [[], []], [[UInt8](repeating: 0xAA, count: 64)],
        [[UInt8]](repeating: [0x01, 0x02], count: 20),
    ]

    @Test(arguments: leftovers) func openingCuresAReaderLeftMidAnswer(_ leftover: [[UInt8]]) throws {
        let bench = try Port100Bench(usb: USBFaultPlan(leftover: leftover))
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target) == Port100Bench.systemCodes)
    }

    @Test func aReaderThatDiesIsGivenUp() throws {
        let bad = Port100Bench.openingCommands + 4
        let bench = try Port100Bench(usb: USBFaultPlan(atCommand: [bad: .dead]))
        let target = try #require(try bench.activate())
        #expect(throws: TransportError.readerTimeout) { try bench.requestSystemCode(target) }
        _ = bench.link.takeLog()
        let mute = TransportError.readerFailed(detail: "the reader gives no valid answer any more")
        #expect(throws: mute) { try bench.requestSystemCode(target) }
        #expect(bench.link.takeLog() == [])
        bench.reader.close()
        #expect(bench.link.closings == 1)
    }

    /// Something of the right number that is no PaSoRi: it says nothing, or anything.
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

    @Test(arguments: strangers) func aStrangerIsNotOpened(_ answer: [UInt8]?) throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "06c1", bus: 1, device: 2)
        let link = VirtualUSBLink(NoPaSoRi(answer))
        let driver = PaSoRiDriver(paths: system.paths) { _, _, _ in link }
        let expected = TransportError.readerUnavailable(
            reason: .unsupported, detail: "it does not answer as a PaSoRi does")
        #expect(throws: expected) { try driver.open("rcs380", cancellation: CancellationToken()) }
        #expect(link.closings == 1)
    }

    /// Opening, Polling, an exchange and closing take this many transfers when all goes well.
    private static func run(_ usb: USBFaultPlan) -> (link: VirtualUSBLink, chip: VirtualPort100, error: TransportError?)
    {
        let field = VirtualField(cards: [(try? Port100Bench.suica())].compactMap { $0 })
        let chip = VirtualPort100(field: field, faults: usb)
        let link = VirtualUSBLink(chip)
        do throws(TransportError) {
            let reader = try Port100Reader(
                link, ReaderInformation(id: "rcs380", name: ""), CancellationToken())
            defer { reader.close() }
            guard case .felica(let target)? = try reader.activate(.felica(.transit)) else { return (link, chip, nil) }
            _ = try reader.transceive([0x0A, 0x0C] + target.idm.bytes, timeout: .milliseconds(5))
            return (link, chip, nil)
        } catch {
            return (link, chip, error)
        }
    }

    @Test func unpluggedAtEveryTransfer() {
        let all = Self.run(USBFaultPlan()).chip.statistics.transfers
        #expect(all > 20)
        let gone = TransportError.readerUnavailable(reason: .absent, detail: "the reader was unplugged")
        for transfer in 1...all {
            let (link, _, error) = Self.run(USBFaultPlan(unplugBeforeTransfer: transfer))
            // In the last four, the reader is being closed already.
            #expect(error == (transfer > all - 4 ? nil : gone), "transfer \(transfer)")
            // Who opens closes the link when opening failed.
            #expect(link.closings == (transfer <= 10 ? 0 : 1), "transfer \(transfer)")
        }
    }

    @Test func cancelledAtEveryTransfer() throws {
        for transfer in 12...23 {
            let bench = try Port100Bench()
            bench.link.beforeTransfer = { [token = bench.cancellation] number in
                if number == transfer { token.cancel() }
            }
            #expect(throws: TransportError.cancelled, "transfer \(transfer)") {
                let target = try #require(try bench.activate())
                _ = try bench.requestSystemCode(target)
            }
            bench.reader.close()
            #expect(!bench.chip.statistics.isFieldOn)
            #expect(bench.link.closings == 1)
        }
    }

    @Test func randomFaultsNeverTrapHangOrLie() throws {
        var random = SeededGenerator(seed: 5)
        let kinds = Self.faults.map(\.0) + [.twice, .dead]
        for _ in 0..<300 {
            var plan: [Int: USBFault] = [:]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                plan[Int.random(in: 1...30, using: &random)] = kinds.randomElement(using: &random)
            }
            guard let bench = try? Port100Bench(usb: USBFaultPlan(atCommand: plan)) else { continue }
            for _ in 0..<6 {
                guard let target = try? bench.activate() else { continue }
                guard let answer = try? bench.requestSystemCode(target) else { continue }
                #expect(answer == Port100Bench.systemCodes, "\(plan)")
            }
            bench.reader.close()
            #expect(bench.link.closings == 1)
        }
    }
}
