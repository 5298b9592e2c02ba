// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import ReaderCore
import SystemDevices
import Testing
import TestSupport
import VirtualReader

@testable import PN53xReader

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
            found.map(\.id) == [
                "acr122_usb:port=1-1", "pn53x_usb:port=1-2", "pn53x_usb:port=1-3.1", "pn53x_usb:port=1-4",
            ])
        #expect(
            found.map(\.connectionString) == [
                "acr122_usb:003:005", "pn53x_usb:003:006", "pn53x_usb:001:120", "pn53x_usb:002:009",
            ])
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
        let listings = ReaderScan(paths: system.paths).run(Self.configured(listed))
        #expect(
            listings == [
                ReaderListing(id: "acr122_usb:port=1-1", name: "ACS ACR122U", state: .ready),
                ReaderListing(id: listed[1], state: .unknown, isConfigured: true),
                ReaderListing(
                    id: listed[2], state: .unavailable(.absent, detail: .init(.deviceAbsent, "/no/such/bus")),
                    isConfigured: true),
                ReaderListing(id: listed[3], state: .ready),
                ReaderListing(id: "pn53x_usb:port=1-2", name: "NXP PN533", state: .ready),
                ReaderListing(id: "pn53x_usb:port=1-3", name: "NXP PN533", state: .ready),
                ReaderListing(id: "pn532_uart:\(ports[2])", state: .unknown),
                ReaderListing(id: "pn532_uart:\(ports[0])", state: .unknown),
            ])
    }

    /// The kernel counts devices as they are plugged in; the port stays, and so does the serial number that one alone has.
    @Test func anIDStaysWhenTheReaderIsPluggedInAgain() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "072f", product: "2200", bus: 3, device: 5)
        try system.plugIn("1-2", vendor: "054c", product: "02e1", bus: 3, device: 6, extra: ["serial": "0123"])
        let driver = LibNFCDriver(paths: system.paths)
        #expect(driver.list().map(\.id) == ["acr122_usb:port=1-1", "pn53x_usb:serial=0123"])
        #expect(driver.numbered().map(\.number) == ["acr122_usb:003:005", "pn53x_usb:003:006"])
        for name in ["acr122_usb:003:005", "acr122_usb:3:5", "ACR122_USB:3:5"] {
            #expect(driver.lastingID(of: name) == "acr122_usb:port=1-1")
        }
        // What names no single reader, none that is there, or one that stays.
        for name in ["acr122_usb", "usb", "usb:003", "acr122_usb:003:007", "acr122_usb:port=1-1", "pn532_uart:/dev/a"] {
            #expect(driver.lastingID(of: name) == nil, "\(name)")
        }
        let later = try MadeUpSystem()
        try later.plugIn("1-1", vendor: "072f", product: "2200", bus: 3, device: 9)
        #expect(LibNFCDriver(paths: later.paths).list().map(\.id) == ["acr122_usb:port=1-1"])
        #expect(LibNFCDriver(paths: later.paths).lastingID(of: "acr122_usb:003:005") == nil)
    }

    /// A name without numbers is the first usable reader of that driver, and listed once.
    @Test func aNameWithoutNumbers() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "0781", product: "5581", bus: 3, device: 2)
        try system.plugIn("1-2", vendor: "072f", product: "2200", bus: 3, device: 5, driver: "usbfs")
        try system.plugIn("1-3", vendor: "072f", product: "2200", bus: 3, device: 6)
        let scan = ReaderScan(paths: system.paths)
        let busy = ReaderListing.State.unavailable(.busy, detail: .init(.heldByProgramOrService))
        for name in ["acr122_usb", "usb"] {
            let listings = scan.run(Self.configured([name]))
            #expect(listings.map(\.id) == ["acr122_usb:port=1-3", "acr122_usb:port=1-2"], "\(name)")
            #expect(listings.map(\.state) == [.ready, busy])
        }
        let absent = ReaderListing(
            id: "pn53x_usb", state: .unavailable(.absent, detail: .init(.libnfcFindsNone, "pn53x_usb")),
            isConfigured: true)
        #expect(scan.run(Self.configured(["pn53x_usb"])).first == absent)
    }

    @Test func anOptionalReaderIsListedWhileItIsConnected() throws {
        let system = try MadeUpSystem()
        let port = try system.addDevice("ttyS9")
        var device = LibNFCSettings.Device(connectionString: "pn532_uart:\(port)", isOptional: true)
        #expect(ReaderScan(paths: system.paths).run(LibNFCConfiguration(devices: [device])).map(\.state) == [.unknown])
        for absent in ["pn532_uart:\(port)x", "acr122_usb"] {
            device.connectionString = absent
            #expect(ReaderScan(paths: system.paths).run(LibNFCConfiguration(devices: [device])) == [])
        }
    }

    private static func configured(_ names: [String], findsUSB: Bool = true) -> LibNFCConfiguration {
        LibNFCConfiguration(devices: names.map { .init(connectionString: $0) }, findsUSB: findsUSB)
    }

    /// The environment outranks the files, of which there are none here.
    @Test(
        arguments: [
            ([:], [], true),
            (["LIBNFC_AUTO_SCAN": "no"], [], false),
            (["LIBNFC_AUTO_SCAN": "perhaps"], [], true),
            (["LIBNFC_DEFAULT_DEVICE": "usb"], ["usb"], true),
            (["LIBNFC_DEFAULT_DEVICE": "usb", "LIBNFC_DEVICE": "pn53x_usb"], ["pn53x_usb"], false),
        ] as [([String: String], [String], Bool)])
    func environmentOutranksFiles(_ environment: [String: String], _ devices: [String], _ findsUSB: Bool) {
        let configuration = LibNFCConfiguration(LibNFCSettings(root: "/no/such/root")) { environment[$0] }
        #expect(configuration.devices.map(\.connectionString) == devices)
        #expect(configuration.findsUSB == findsUSB)
    }

    @Test func skipsUsableReadersWhenTheSettingsHideThem() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-2", vendor: "04cc", product: "2533", bus: 3, device: 6, driver: "pn533_usb")
        #expect(ReaderScan(paths: system.paths).run(Self.configured([], findsUSB: false)) == [])
        #expect(ReaderScan(paths: system.paths).run(Self.configured([])).map(\.state) == [.ready])
    }

    @Test func nothingPluggedIn() {
        let paths = SystemPaths(devices: "/no/dev", usbDescriptions: "/no/sys", usbDevices: "/no/usb")
        #expect(ReaderScan(paths: paths).run(Self.configured([])) == [])
    }

    @Test func namesTheHolderOfABusyUSBReader() throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-2", vendor: "04cc", product: "2533", bus: 999, device: 998, driver: "pn533_usb")
        let driver = LibNFCDriver(paths: system.paths)
        for id in ["pn53x_usb:999:998", "pn53x_usb:999", "pn53x_usb", "usb", "pn53x_usb:port=1-2", "usb:port=1-2"] {
            let held = TransportError.readerUnavailable(
                reason: .busy, detail: .init(.heldByKernelDriver, "pn533_usb", reader: "NXP PN533"))
            #expect(throws: held) { try driver.open(id, cancellation: CancellationToken()) }
        }
        for id in [
            "pn53x_usb:999:001", "acr122_usb", "pn53x_usb:port=1-3", "pn53x_usb:serial=1", "acr122_usb:port=1-2",
        ] {
            let absent = TransportError.readerUnavailable(reason: .absent, detail: .init(.libnfcFindsNone, id))
            #expect(throws: absent) { try driver.open(id, cancellation: CancellationToken()) }
        }
    }

    @Test func reportsMissingPermissionForAUSBReader() async throws {
        await #expect(processExitsWith: .success) {
            let system = try MadeUpSystem()
            try system.plugIn("1-1", vendor: "072f", product: "2200", bus: 3, device: 5)
            let node = "\(system.paths.usbDevices)/003/005"
            chmod(node, 0o060)
            let isRoot = geteuid() == 0
            if isRoot { chown(node, 0, 1) }
            let group = try #require(FileOwner.group(of: node))
            if isRoot {
                setgroups(0, nil)
                setegid(65_534)
                seteuid(65_534)
            }
            defer { if isRoot { seteuid(0) } }
            func states() -> [ReaderListing.State] { USBReaderScan(paths: system.paths).run().map(\.state) }
            #expect(states() == [.unavailable(.permission, detail: .init(.deviceForGroup, node, group))])
            if isRoot {
                // Nobody is told to join root's group.
                seteuid(0)
                chown(node, 0, 0)
                seteuid(65_534)
                #expect(states() == [.unavailable(.permission, detail: .init(.deviceDenied, node))])
            }
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
