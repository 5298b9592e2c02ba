// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import NFCTransport
import SystemDevices
import Testing
import TestSupport
import VirtualReader

@testable import LibNFCReader

/// Which readers are listed, on a made-up system.
@Suite(.waits)
struct ReaderScanTests {
    @Test func readsWhatSysfsShows() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "072f", product: "2200", bus: 3, device: 5)
        try system.plugIn("1-2", vendor: "04cc", product: "2533", bus: 3, device: 6, driver: "pn533_usb")
        try system.plugIn("1-3.1", vendor: "054c", product: "02e1", bus: 1, device: 120, driver: "usbfs")
        try system.plugIn("1-4", vendor: "04e6", product: "5591", bus: 2, device: 9, hasNode: false)
        try system.plugIn("1-5", vendor: "054c", product: "06c1", bus: 2, device: 10)
        try system.plugIn("1-6", vendor: "zzzz", product: "", bus: 2, device: 11)
        let found = USBReaderScan(paths: system.paths).run()
        #expect(
            found.map(\.id) == ["acr122_usb:003:005", "pn53x_usb:003:006", "pn53x_usb:001:120", "pn53x_usb:002:009"])
        #expect(found.map(\.model.name).first == "ACS ACR122U")
        #expect(found.map(\.kernelDriver) == [nil, "pn533_usb", nil, nil])
        #expect(
            found.map(\.state) == [
                .ready, .ready,
                .unavailable(.busy, detail: .init(.heldByProgramOrService)),
                .unavailable(.absent, detail: .init(.deviceAbsent, "\(system.paths.usbDevices)/002/009")),
            ])
    }

    @Test func listsReadersOfLibnfcFirstAndOnce() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "072f", product: "2200", bus: 3, device: 5)
        try system.plugIn("1-2", vendor: "04cc", product: "2533", bus: 3, device: 6, driver: "pn533_usb")
        try system.plugIn("1-3", vendor: "04cc", product: "2533", bus: 3, device: 7)
        let ports = try ["ttyUSB0", "ttyUSB1", "ttyACM0", "ttyS0", "other"].map(system.addDevice)
        let listed = ["acr122_usb:003:005", "pn532_uart:\(ports[1]):115200", "pn532_i2c:/no/such/bus", "pcsc:X"]
        let listings = ReaderScan(paths: system.paths).run(listed: listed)
        #expect(
            listings == [
                ReaderListing(id: listed[0], name: "ACS ACR122U", state: .ready),
                ReaderListing(id: listed[1], state: .unknown, isConfigured: true),
                ReaderListing(
                    id: listed[2], state: .unavailable(.absent, detail: .init(.deviceAbsent, "/no/such/bus")),
                    isConfigured: true),
                ReaderListing(id: listed[3], state: .ready),
                ReaderListing(id: "pn53x_usb:003:006", name: "NXP PN533", state: .ready),
                ReaderListing(id: "pn532_uart:\(ports[2])", state: .unknown),
                ReaderListing(id: "pn532_uart:\(ports[0])", state: .unknown),
            ])
    }

    @Test func skipsKernelReadersWhenAnotherIsNamed() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-2", vendor: "04cc", product: "2533", bus: 3, device: 6, driver: "pn533_usb")
        #expect(ReaderScan(paths: system.paths).run(listed: [], findsUSB: false) == [])
        #expect(ReaderScan(paths: system.paths).run(listed: []).map(\.state) == [.ready])
    }

    @Test func nothingPluggedIn() {
        let paths = SystemPaths(devices: "/no/dev", usbDescriptions: "/no/sys", usbDevices: "/no/usb")
        #expect(ReaderScan(paths: paths).run(listed: []) == [])
    }

    @Test func namesTheHolderOfABusyUSBReader() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-2", vendor: "04cc", product: "2533", bus: 999, device: 998, driver: "pn533_usb")
        let driver = LibNFCDriver(paths: system.paths)
        for id in ["pn53x_usb:999:998", "pn53x_usb:999", "pn53x_usb", "usb"] {
            let held = TransportError.readerUnavailable(
                reason: .busy, detail: .init(.heldByKernelDriver, "pn533_usb", reader: "NXP PN533"))
            #expect(throws: held) { try driver.open(id, cancellation: CancellationToken()) }
        }
        for id in ["pn53x_usb:999:001", "acr122_usb"] {
            let absent = TransportError.readerUnavailable(reason: .absent, detail: .init(.libnfcFindsNone, id))
            #expect(throws: absent) { try driver.open(id, cancellation: CancellationToken()) }
        }
    }

    @Test func reportsMissingPermissionForAUSBReader() async throws {
        await #expect(processExitsWith: .success) {
            let system = try MadeUpSystem()
            try system.plugIn("1-1", vendor: "072f", product: "2200", bus: 3, device: 5)
            let node = "\(system.paths.usbDevices)/003/005"
            chmod(node, 0)
            let group = try #require(FileOwner.group(of: node))
            let isRoot = geteuid() == 0
            if isRoot { seteuid(65_534) }
            defer { if isRoot { seteuid(0) } }
            #expect(
                USBReaderScan(paths: system.paths).run().map(\.state) == [
                    .unavailable(.permission, detail: .init(.deviceForGroup, node, group))
                ])
        }
    }

    /// libnfc reads the environment once in a process, so each of these has one of its own.
    @Test func obeysTheEnvironment() async throws {
        await #expect(processExitsWith: .success) {
            setenv("LIBNFC_DEVICE", "pn532_uart:/dev/ttyKAZASU-none", 1)
            let listings = LibNFCDriver().list()
            #expect(
                listings.first
                    == ReaderListing(
                        id: "pn532_uart:/dev/ttyKAZASU-none",
                        state: .unavailable(.absent, detail: .init(.deviceAbsent, "/dev/ttyKAZASU-none")),
                        isConfigured: true))
        }
    }

    @Test func opensAListedReaderByItsID() async throws {
        await #expect(processExitsWith: .success) {
            let server = try PN532Server(field: VirtualField(cards: [TestCard()]))
            setenv("LIBNFC_DEVICE", server.connectionString, 1)
            let listing = try #require(LibNFCDriver().list().first)
            #expect(listing == ReaderListing(id: server.connectionString, state: .unknown, isConfigured: true))
            // Listing asked the chip nothing.
            #expect(server.statistics.hostCommands == 0)
            let reader = try #require(try LibNFCDriver().open(listing.id, cancellation: CancellationToken()))
            #expect(try reader.activateFeliCa(systems: [.any])?.idm.bytes == TestCard.idm)
            reader.close()
            server.stop()
        }
    }
}
