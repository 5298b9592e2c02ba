// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import SimulatedChips
import TestSupport
import Testing
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// RC-S300s that are busy, that ask for more time, and that others use.
struct Port400FaultTests {
    private static let bad = Port400Bench.commandsBeforeExchange + 1

    @Test func retriesABusyReader() throws {
        let bench = try Port400Bench(usb: InjectedUSBFaults(atCommand: [Self.bad: .busy, Self.bad + 1: .busy]))
        let target = try #require(try bench.activate())
        bench.pauses.all = []
        #expect(try bench.requestSystemCode(target).first == 0x11)
        #expect(bench.pauses.all == [.milliseconds(50), .milliseconds(50)])
    }

    @Test func reportsAConstantlyBusyReader() throws {
        let plan = Dictionary(uniqueKeysWithValues: (Self.bad..<Self.bad + 20).map { ($0, InjectedUSBFault.busy) })
        let bench = try Port400Bench(usb: InjectedUSBFaults(atCommand: plan))
        let target = try #require(try bench.activate())
        let busy = TransportError.readerUnavailable(reason: .busy, detail: .init(.working))
        #expect(throws: busy) { try bench.requestSystemCode(target) }
        #expect(try bench.requestSystemCode(target).first == 0x11)
    }

    @Test func reportsABusyReaderWhenOpening() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "0dc8", bus: 1, device: 2, classes: ["0b", "ff"])
        let plan = Dictionary(uniqueKeysWithValues: (1...100).map { ($0, InjectedUSBFault.busy) })
        let link = VirtualUSBLink(VirtualPort400(field: VirtualField(), faults: InjectedUSBFaults(atCommand: plan)))
        let driver = PaSoRiDriver(paths: system.paths) { _, _ in link }
        let busy = TransportError.readerUnavailable(reason: .busy, detail: .init(.working))
        #expect(throws: busy) { try driver.open("rcs300", cancellation: CancellationToken()) }
        #expect(link.closings == 1)
    }

    @Test func grantsMoreTime() throws {
        let bench = try Port400Bench(usb: InjectedUSBFaults(atCommand: [Self.bad: .moreTime]))
        let target = try #require(try bench.activate())
        #expect(try bench.requestSystemCode(target).first == 0x11)
    }

    @Test func worksBesidePCSCD() throws {
        let system = try MadeUpSystem()
        try system.plugIn(
            "1-1", vendor: "054c", product: "0dc8", bus: 1, device: 2, driver: "usbfs", classes: ["0b", "ff"],
            extra: ["serial": "0123456"])
        let driver = PaSoRiDriver(paths: system.paths) { _, _ in
            VirtualUSBLink(VirtualPort400(field: VirtualField()))
        }
        #expect(
            driver.list() == [ReaderListing(id: "rcs300:serial=0123456", name: "Sony RC-S300/S", state: .ready)])
    }
}
