// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import SimulatedChips
import SystemDevices
import TestSupport
import Testing
import VirtualReader
import USBTransport

@testable import PaSoRiReader

/// IDs, lists and the choice among several readers, on a made-up system.
struct PaSoRiDriverTests {
    /// A driver whose devices are all simulated, but those at the ports in `busy`, which somebody else holds.
    private func driver(_ system: MadeUpSystem, busy: Set<String> = []) -> PaSoRiDriver {
        PaSoRiDriver(paths: system.paths) { device, cancellation throws(TransportError) in
            if busy.contains(device.portPath) {
                throw .readerUnavailable(reason: .busy, detail: .init(.text, device.portPath))
            }
            return VirtualUSBLink(VirtualPort100(field: VirtualField()), cancellation)
        }
    }

    private func id(_ driver: PaSoRiDriver, _ id: String) throws -> String? {
        try driver.open(id, cancellation: CancellationToken())?.information.id
    }

    @Test func listsConnectedReaders() throws {
        let system = try MadeUpSystem()
        try system.plugIn(
            "1-1", vendor: "054c", product: "06c1", bus: 1, device: 2, driver: "port100", extra: ["serial": "0123456"])
        try system.plugIn("1-2", vendor: "054c", product: "06c3", bus: 1, device: 3, driver: "usbfs")
        try system.plugIn("1-3.1", vendor: "054c", product: "06c3", bus: 1, device: 4, classes: ["0b"])
        try system.plugIn("1-4", vendor: "054c", product: "06c1", bus: 1, device: 5, hasNode: false)
        try system.plugIn("1-5", vendor: "054c", product: "02e1", bus: 1, device: 6)
        try system.plugIn("1-6", vendor: "072f", product: "06c1", bus: 1, device: 7)
        let node = "\(system.paths.usbDevices)/001/005"
        #expect(
            driver(system).list() == [
                ReaderListing(id: "rcs380:serial=0123456", name: "Sony RC-S380/S", state: .ready),
                ReaderListing(
                    id: "rcs380:port=1-2", name: "Sony RC-S380/P",
                    state: .unavailable(.busy, detail: .init(.heldByProgram))),
                ReaderListing(
                    id: "rcs380:port=1-3.1", name: "Sony RC-S380/P",
                    state: .unavailable(.unsupported, detail: .init(.noInterface))),
                ReaderListing(
                    id: "rcs380:port=1-4", name: "Sony RC-S380/S",
                    state: .unavailable(.absent, detail: .init(.deviceAbsent, node))),
            ])
    }

    @Test func ignoresDuplicateSerialNumbers() throws {
        let system = try MadeUpSystem()
        for (port, device) in [("1-1", 2), ("1-2", 3)] {
            try system.plugIn(
                port, vendor: "054c", product: "06c1", bus: 1, device: device, extra: ["serial": "0000000"])
        }
        #expect(driver(system).list().map(\.id) == ["rcs380:port=1-1", "rcs380:port=1-2"])
    }

    @Test func keepsTheNameAfterReplugging() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "06c1", bus: 1, device: 2, extra: ["serial": "77"])
        let driver = driver(system)
        let name = try #require(driver.list().first?.id)
        #expect(try id(driver, name) == name)
        system.unplug("1-1")
        #expect(driver.list() == [])
        let absent = TransportError.readerUnavailable(
            reason: .absent, detail: .init(.notConnected, "rcs380:serial=77"))
        #expect(throws: absent) { try id(driver, name) }
        try system.plugIn("1-3", vendor: "054c", product: "06c1", bus: 1, device: 9, extra: ["serial": "77"])
        #expect(driver.list().map(\.id) == [name])
        #expect(try id(driver, name) == name)
    }

    @Test func opensTheFirstUsableReader() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "06c1", bus: 1, device: 2)
        try system.plugIn("1-2", vendor: "054c", product: "06c3", bus: 1, device: 3)
        #expect(try id(driver(system), "rcs380") == "rcs380:port=1-1")
        #expect(try id(driver(system, busy: ["1-1"]), "rcs380") == "rcs380:port=1-2")
        #expect(try id(driver(system), "rcs380:port=1-2") == "rcs380:port=1-2")
        let busy = TransportError.readerUnavailable(reason: .busy, detail: .init(.text, "1-1"))
        #expect(throws: busy) { try id(driver(system, busy: ["1-1", "1-2"]), "rcs380") }
        #expect(throws: busy) { try id(driver(system, busy: ["1-1"]), "rcs380:port=1-1") }
    }

    @Test(arguments: ["", "rcs38", "rcs3800", "RCS380", "pn532_uart:/dev/ttyUSB0", "virtual:x", ":", "serial=1"])
    func ignoresIDsOfOtherDrivers(_ text: String) throws {
        let reader = try PaSoRiDriver().open(text, cancellation: CancellationToken())
        #expect(reader.map { _ in "opened" } == nil)
    }

    @Test(arguments: ["rcs380:", "rcs380:1-1", "rcs380:serial=", "rcs380:port", "rcs380:bus=1", "rcs380:serial"])
    func rejectsBadSelectors(_ text: String) {
        let refused = TransportError.readerUnavailable(
            reason: .unsupported, detail: .init(.unknownSelector, "rcs380"))
        #expect(throws: refused) { try PaSoRiDriver().open(text, cancellation: CancellationToken()) }
    }

    @Test func opensNothingAfterCancellation() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "06c1", bus: 1, device: 2)
        let token = CancellationToken()
        token.cancel()
        #expect(throws: TransportError.cancelled) { try driver(system).open("rcs380", cancellation: token) }
    }
}
