// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ReaderCore
import SystemDevices
import TestSupport
import Testing
import USBTransport

@testable import PaSoRiReader

/// Waiting in the real libusb; that its events come is seen before emulated devices (`make test-usb`).
struct USBNoticesTests {
    @Test func tokenEndsAWait() throws {
        let token = CancellationToken()
        let notices = USBNotices(cancellation: token)
        DispatchQueue.global().async { token.cancel() }
        #expect(throws: TransportError.cancelled) { try notices.wait(within: .seconds(3600)) }
        #expect(throws: TransportError.cancelled) { try notices.wait(within: .zero) }
    }

    @Test func tokenCancelledBefore() {
        let token = CancellationToken()
        token.cancel()
        let notices = USBNotices(cancellation: token)
        #expect(throws: TransportError.cancelled) { try notices.wait(within: .seconds(3600)) }
    }

    @Test(arguments: [Duration.zero, .milliseconds(1), .seconds(-1)]) func waitsForTheGivenTime(_ time: Duration) throws
    {
        let notices = USBNotices()
        // Whether a device happens to come meanwhile nobody knows.
        _ = try notices.wait(within: time)
    }

    /// What is watched is what `--reader` takes, the same when a reader is plugged in again.
    @Test func readersAreWatchedByTheirIDs() throws {
        let system = try MadeUpSystem()
        let driver = PaSoRiDriver(paths: system.paths) { _, _ throws(TransportError) in throw .unplugged }
        let watch = DeviceTracker(SystemNotices(USBNotices(), paths: system.paths), interval: .zero) { driver.list() }
        #expect(try watch.next() == [])
        let plugs: [(device: Int, serial: [String: String], id: String)] = [
            (4, ["serial": "0123456"], "rcs380:serial=0123456"), (5, ["serial": "0123456"], "rcs380:serial=0123456"),
            (6, [:], "rcs380:port=1-1"),
        ]
        for plug in plugs {
            try system.plugIn(
                "1-1", vendor: "054c", product: "06c1", bus: 1, device: plug.device, extra: plug.serial)
            let listing = ReaderListing(id: plug.id, name: "Sony RC-S380/S", state: .ready)
            #expect(try watch.next() == [.arrived(listing)])
            system.unplug("1-1")
            #expect(try watch.next() == [.left(listing)])
        }
    }

    @Test func readersAreWatchedWithoutBlocking() async throws {
        let system = try MadeUpSystem()
        let paths = system.paths
        try system.plugIn("1-1", vendor: "054c", product: "0dc8", bus: 1, device: 4, classes: ["0b", "ff"])
        let watch = try AsyncDeviceTracker({ SystemNotices(USBNotices(cancellation: $0), paths: paths) }) {
            PaSoRiDriver(paths: paths) { _, _ throws(TransportError) in throw .unplugged }.list()
        }
        #expect(try await watch.next().map(\.device.id) == ["rcs300:port=1-1"])
        system.unplug("1-1")
        #expect(
            try await watch.next() == [
                .left(ReaderListing(id: "rcs300:port=1-1", name: "Sony RC-S300/S", state: .ready))
            ])
        let task = Task { try await watch.next() }
        task.cancel()
        await #expect(throws: TransportError.cancelled) { try await task.value }
    }
}
