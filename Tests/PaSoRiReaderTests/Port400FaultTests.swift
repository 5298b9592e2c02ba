// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport
import TestSupport
import Testing
import VirtualReader

@testable import PaSoRiReader

/// RC-S300s that answer garbage, short, late, twice or not at all, that are busy, and that are unplugged.
struct Port400FaultTests {
    private static let bad = Port400Bench.commandsBeforeExchange + 1

    /// A fault at one command, and what its caller is told; the command after it always works.
    static let faults: [(USBFault, TransportError)] = [
        (.nothing, .readerTimeout), (.late, .readerTimeout), (.truncated(to: 0), .readerTimeout),
        (.truncated(to: 9), .readerTimeout), (.truncated(to: 14), .readerTimeout),
        (.garbage([0x12, 0x34]), .corrupted(status: 0)),
        (.garbage([UInt8](repeating: 0xFF, count: 300)), .corrupted(status: 0)),
        (.garbage([0x83, 0, 0, 0, 0, 0, 9, 0, 0, 0]), .corrupted(status: 0)),
        (.wrongCode, .corrupted(status: 0)), (.wrongLengthChecksum, .readerTimeout), (.wrongSequence, .readerTimeout),
        (.errorFrame, .readerFailed(detail: "the reader refused a command (error 5)")),
        (.sessionTaken, .readerUnavailable(reason: .busy, detail: "another program has a session with it")),
    ]

    @Test(arguments: faults) func oneBadAnswerIsTold(_ fault: USBFault, _ error: TransportError) throws {
        let bench = try Port400Bench(usb: USBFaultPlan(atCommand: [Self.bad: fault]))
        let target = try #require(try bench.activate())
        #expect(throws: error) { try bench.requestSystemCode(target) }
        let answer = try bench.requestSystemCode(target)
        #expect(Array(answer.prefix(2)) == [0x11, 0x0D])
        #expect(Array(answer[2..<10]) == target.idm.bytes)
        #expect(bench.chip.statistics.complaints == [])
    }

    @Test func aBusyReaderIsAskedAgain() throws {
        let bench = try Port400Bench(usb: USBFaultPlan(atCommand: [Self.bad: .busy, Self.bad + 1: .busy]))
        let target = try #require(try bench.activate())
        bench.pauses.all = []
        #expect(try bench.requestSystemCode(target).first == 0x11)
        #expect(bench.pauses.all == [.milliseconds(50), .milliseconds(50)])
    }

    @Test func aReaderThatIsBusyForEverIsAnothers() throws {
        let plan = Dictionary(uniqueKeysWithValues: (Self.bad..<Self.bad + 20).map { ($0, USBFault.busy) })
        let bench = try Port400Bench(usb: USBFaultPlan(atCommand: plan))
        let target = try #require(try bench.activate())
        let busy = TransportError.readerUnavailable(reason: .busy, detail: "it is at work for another program")
        #expect(throws: busy) { try bench.requestSystemCode(target) }
        #expect(try bench.requestSystemCode(target).first == 0x11)
    }

    @Test func openingABusyReaderSaysSo() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "0dc8", bus: 1, device: 2, classes: ["0b", "ff"])
        let plan = Dictionary(uniqueKeysWithValues: (1...100).map { ($0, USBFault.busy) })
        let link = VirtualUSBLink(VirtualPort400(field: VirtualField(), faults: USBFaultPlan(atCommand: plan)))
        let driver = PaSoRiDriver(paths: system.paths) { _, _, _ in link }
        let busy = TransportError.readerUnavailable(reason: .busy, detail: "it is at work for another program")
        #expect(throws: busy) { try driver.open("rcs300", cancellation: CancellationToken()) }
        #expect(link.closings == 1)
    }

    @Test func moreTimeIsGiven() throws {
        let bench = try Port400Bench(usb: USBFaultPlan(atCommand: [Self.bad: .moreTime]))
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target).first == 0x11)
    }

    @Test func anAnswerThatComesTwiceIsTakenOnce() throws {
        let bench = try Port400Bench(usb: USBFaultPlan(atCommand: [Self.bad: .twice]))
        let target = try #require(try bench.activate())
        let mode: [UInt8] = [0x0A, 0x04] + target.idm.bytes
        #expect(try bench.requestSystemCode(target).dropFirst().first == 0x0D)
        #expect(try bench.reader.transceive(mode, timeout: .milliseconds(10)).dropFirst().first == 0x05)
        #expect(try bench.requestSystemCode(target).dropFirst().first == 0x0D)
    }

    static let leftovers: [[[UInt8]]] = [
        [[0x83, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0x90, 0x00]], [[0x00]], [[], []], [[UInt8](repeating: 0xAA, count: 64)],
        [[UInt8]](repeating: [0x83, 0x02], count: 20),
    ]

    @Test(arguments: leftovers) func openingCuresAReaderLeftMidAnswer(_ leftover: [[UInt8]]) throws {
        let bench = try Port400Bench(usb: USBFaultPlan(leftover: leftover), hasOrphan: true)
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target).first == 0x11)
    }

    @Test func aReaderThatDiesIsGivenUp() throws {
        let bench = try Port400Bench(usb: USBFaultPlan(atCommand: [Self.bad: .dead]))
        let target = try #require(try bench.activate())
        #expect(throws: TransportError.readerTimeout) { try bench.requestSystemCode(target) }
        _ = bench.link.takeLog()
        let mute = TransportError.readerFailed(detail: "the reader gives no valid answer any more")
        #expect(throws: mute) { try bench.requestSystemCode(target) }
        #expect(bench.link.takeLog() == [])
        bench.reader.close()
        #expect(bench.link.closings == 1)
    }

    @Test(arguments: Port100FaultTests.strangers) func aStrangerIsNotOpened(_ answer: [UInt8]?) throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "0dc8", bus: 1, device: 2, classes: ["0b", "ff"])
        let link = VirtualUSBLink(Port100FaultTests.NoPaSoRi(answer))
        let driver = PaSoRiDriver(paths: system.paths) { _, _, _ in link }
        let expected = TransportError.readerUnavailable(
            reason: .unsupported, detail: "it does not answer as a PaSoRi does")
        #expect(throws: expected) { try driver.open("rcs300", cancellation: CancellationToken()) }
        #expect(link.closings == 1)
    }

    @Test func pcscdBesideItIsNoObstacle() throws {
        let system = try MadeUpSystem()
        try system.plugIn(
            "1-1", vendor: "054c", product: "0dc8", bus: 1, device: 2, driver: "usbfs", classes: ["0b", "ff"],
            extra: ["serial": "0123456"])
        let driver = PaSoRiDriver(paths: system.paths) { _, _, _ in
            VirtualUSBLink(VirtualPort400(field: VirtualField()))
        }
        #expect(
            driver.list() == [ReaderListing(id: "rcs300:serial=0123456", name: "Sony RC-S300/S", state: .ready)])
    }

    private static func run(_ usb: USBFaultPlan) -> (link: VirtualUSBLink, chip: VirtualPort400, error: TransportError?)
    {
        let field = VirtualField(cards: [(try? Port100Bench.suica())].compactMap { $0 })
        let chip = VirtualPort400(field: field, faults: usb)
        let link = VirtualUSBLink(chip)
        do throws(TransportError) {
            let reader = try Port400Reader(
                link, ReaderInformation(id: "rcs300", name: ""), CancellationToken(), pause: { _ in })
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
        #expect(all > 18)
        let gone = TransportError.readerUnavailable(reason: .absent, detail: "the reader was unplugged")
        for transfer in 1...all {
            let (link, _, error) = Self.run(USBFaultPlan(unplugBeforeTransfer: transfer))
            // In the last four, the reader is being closed already.
            #expect(error == (transfer > all - 4 ? nil : gone), "transfer \(transfer)")
            // Who opens closes the link when opening failed.
            #expect(link.closings == (transfer <= 2 * Port400Bench.openingCommands ? 0 : 1), "transfer \(transfer)")
        }
    }

    @Test func cancelledAtEveryTransfer() throws {
        for transfer in 14...19 {
            let bench = try Port400Bench()
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
        var random = SeededGenerator(seed: 7)
        let kinds = Self.faults.map(\.0) + [.twice, .dead, .busy, .moreTime]
        for _ in 0..<300 {
            var plan: [Int: USBFault] = [:]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                plan[Int.random(in: 1...30, using: &random)] = kinds.randomElement(using: &random)
            }
            guard let bench = try? Port400Bench(usb: USBFaultPlan(atCommand: plan)) else { continue }
            for _ in 0..<6 {
                guard let target = try? bench.activate() else { continue }
                guard let answer = try? bench.requestSystemCode(target) else { continue }
                #expect(
                    answer == [0x11, 0x0D] + target.idm.bytes + [0x03, 0x00, 0x03, 0xFE, 0x00, 0x86, 0xA7], "\(plan)")
            }
            bench.reader.close()
            #expect(bench.link.closings == 1)
        }
    }
}
