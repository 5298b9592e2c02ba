// SPDX-License-Identifier: Apache-2.0

import SystemDevices
import TestSupport
import Testing

@testable import PN53xReader

/// Taking a device from kernel drivers, and giving it back.
struct KernelDriverDetachmentTests {
    /// What was asked of the kernel.
    final class Log {
        var lines: [String] = []
    }

    private static func device(_ driver: String?, hasNode: Bool = true) throws -> (MadeUpSystem, USBDevice) {
        let system = try MadeUpSystem()
        try system.plugIn(
            "1-2", vendor: "04cc", product: "2533", bus: 3, device: 6, driver: driver, hasNode: hasNode,
            classes: ["ff", "0b"])
        return (system, try #require(USBDevice.all(system.paths).first))
    }

    private static func control(_ log: Log, gives: Bool = true) -> KernelDriverDetachment.Control {
        { _, interface, request in
            log.lines.append("\(request == KernelDriverDetachment.disconnect ? "take" : "give") \(interface)")
            return gives
        }
    }

    @Test func detachesAndReattaches() throws {
        let (system, device) = try Self.device("pn533_usb")
        let log = Log()
        do {
            let lease = KernelDriverDetachment(taking: device, system.paths, control: Self.control(log))
            let isTaken = lease != nil
            #expect(isTaken)
            #expect(log.lines == ["take 0"])
            _ = consume lease
        }
        #expect(log.lines == ["take 0", "give 0"])
        withExtendedLifetime(system) {}
    }

    @Test(arguments: [nil, "usbfs"]) func leavesUnclaimedInterfaces(_ driver: String?) throws {
        let (system, device) = try Self.device(driver)
        let log = Log()
        let isTaken = KernelDriverDetachment(taking: device, system.paths, control: Self.control(log)) != nil
        #expect(!isTaken)
        #expect(log.lines == [])
        withExtendedLifetime(system) {}
    }

    @Test func returnsOnlyWhatItDetached() throws {
        let (system, device) = try Self.device("pn533_usb")
        let log = Log()
        let isTaken =
            KernelDriverDetachment(taking: device, system.paths, control: Self.control(log, gives: false)) != nil
        #expect(!isTaken)
        #expect(log.lines == ["take 0"])
        withExtendedLifetime(system) {}
    }

    /// A killed program has left the interface without its driver.
    @Test func attachesADriverThatLostItsReader() throws {
        let (system, device) = try Self.device(nil)
        let log = Log()
        let isUnknown = KernelDriverDetachment(taking: device, system.paths, control: Self.control(log)) == nil
        #expect(isUnknown)
        try system.load(driver: "pn533_usb")
        do {
            let lease = KernelDriverDetachment(taking: device, system.paths, control: Self.control(log))
            let isTaken = lease != nil
            #expect(isTaken)
            #expect(log.lines == [])
            _ = consume lease
        }
        #expect(log.lines == ["give 0"])
    }

    @Test func detachesNothingWithoutADeviceFile() throws {
        let (system, device) = try Self.device("pn533_usb", hasNode: false)
        let isTaken = KernelDriverDetachment(taking: device, system.paths) != nil
        #expect(!isTaken)
        withExtendedLifetime(system) {}
    }

    @Test func ignoresFilesThatAreNotDevices() throws {
        let (system, device) = try Self.device("pn533_usb")
        let isTaken = KernelDriverDetachment(taking: device, system.paths) != nil
        #expect(!isTaken)
        withExtendedLifetime(system) {}
    }
}
