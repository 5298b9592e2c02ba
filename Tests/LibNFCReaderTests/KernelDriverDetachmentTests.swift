// SPDX-License-Identifier: Apache-2.0

import SystemDevices
import TestSupport
import Testing

@testable import LibNFCReader

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
            let lease = KernelDriverDetachment(taking: device, control: Self.control(log))
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
        let isTaken = KernelDriverDetachment(taking: device, control: Self.control(log)) != nil
        #expect(!isTaken)
        #expect(log.lines == [])
        withExtendedLifetime(system) {}
    }

    @Test func returnsOnlyWhatItDetached() throws {
        let (system, device) = try Self.device("pn533_usb")
        let log = Log()
        let isTaken = KernelDriverDetachment(taking: device, control: Self.control(log, gives: false)) != nil
        #expect(!isTaken)
        #expect(log.lines == ["take 0"])
        withExtendedLifetime(system) {}
    }

    @Test func detachesNothingWithoutADeviceFile() throws {
        let (system, device) = try Self.device("pn533_usb", hasNode: false)
        let isTaken = KernelDriverDetachment(taking: device) != nil
        #expect(!isTaken)
        withExtendedLifetime(system) {}
    }

    @Test func ignoresFilesThatAreNotDevices() throws {
        let (system, device) = try Self.device("pn533_usb")
        let isTaken = KernelDriverDetachment(taking: device) != nil
        #expect(!isTaken)
        withExtendedLifetime(system) {}
    }
}
