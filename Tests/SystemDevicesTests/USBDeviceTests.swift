// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import SystemDevices
import Testing
import TestSupport

/// USB devices as sysfs describes them, on a made-up system.
struct USBDeviceTests {
    @Test func readsWhatSysfsShows() throws {
        let system = try MadeUpSystem()
        try system.plugIn(
            "1-1.3", vendor: "054c", product: "0dc8", bus: 1, device: 7, driver: "usbfs", classes: ["0b", "ff"],
            extra: ["serial": "0123456", "product": "FeliCa Port/PaSoRi 4.0"])
        try system.plugIn("2-1", vendor: "054c", product: "06c1", bus: 2, device: 120, hasNode: false, classes: [])
        let devices = USBDevice.all(system.paths)
        #expect(devices.map(\.portPath) == ["1-1.3", "2-1"])
        let first = try #require(devices.first)
        #expect((first.vendor, first.product) == (0x054C, 0x0DC8))
        #expect((first.bus, first.address) == (1, 7))
        #expect(first.serial == "0123456")
        #expect(first.name == "FeliCa Port/PaSoRi 4.0")
        #expect(
            first.interfaces == [
                USBInterface(number: 0, classCode: 0x0B, driver: "usbfs"),
                USBInterface(number: 1, classCode: 0xFF, driver: nil),
            ])
        #expect(first.node == "\(system.paths.usbDevices)/001/007")
        #expect(first.obstacle == nil)
        let second = try #require(devices.last)
        #expect(second.serial == nil)
        #expect(second.interfaces == [])
        #expect(second.obstacle?.reason == .absent)
    }

    @Test(arguments: ["zzzz", "", "12345", "-1"]) func ignoresMalformedDeviceNumbers(_ vendor: String) throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: vendor, product: "06c1", bus: 1, device: 7)
        #expect(USBDevice.all(system.paths) == [])
    }

    @Test func deviceNamesCannotTrickATerminal() throws {
        let system = try MadeUpSystem()
        try system.plugIn(
            "1-1", vendor: "08e6", product: "3437", bus: 1, device: 7,
            extra: ["serial": "\u{1B}[31m1", "product": "\u{1B}[31mカード\u{9B}1m"])
        let device = try #require(USBDevice.all(system.paths).first)
        #expect(device.serial == nil)
        #expect(device.name == "\u{FFFD}[31mカード\u{FFFD}1m")
    }

    @Test(arguments: ["0 1", "番号", "\u{0}", "a\tb"]) func ignoresUntypableSerialNumbers(_ serial: String) throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "06c1", bus: 1, device: 7, extra: ["serial": serial])
        #expect(USBDevice.all(system.paths).first?.serial == nil)
    }

    @Test func listsNoDevicesWithoutUSB() {
        #expect(USBDevice.all(SystemPaths(usbDescriptions: "/no/sys")) == [])
    }

    @Test(arguments: [(1, "001"), (42, "042"), (999, "999"), (1000, "1000")])
    func numbersHaveThreeDigits(_ number: Int, _ text: String) {
        #expect(USBDevice.threeDigits(number) == text)
    }
}
