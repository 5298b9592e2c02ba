// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import SystemDevices
import TestSupport
import Testing

@Suite("What is noticed without being told")
struct SystemNoticesTests {
    /// Does something while it waits, and reports only what it is given.
    private final class Waiting: DeviceNotices {
        var tells = false
        var meanwhile: (() throws -> Void)?

        func wait(within time: Duration) throws(TransportError) -> Bool {
            do {
                try meanwhile?()
            } catch {
                throw .outOfScript(detail: .init(.text, "\(error)"))
            }
            meanwhile = nil
            return tells
        }
    }

    /// Whether each of so many waits brings a notice.
    private func waits(_ notices: SystemNotices, _ count: Int) throws -> [Bool] {
        try (0..<count).map { _ in try notices.wait(within: .zero) }
    }

    static let settled = [true, true, true, true, false, false]

    static let changes: [(String, @Sendable (MadeUpSystem) throws -> Void)] = [
        ("plugged in", { try $0.plugIn("1-2", vendor: "054c", product: "06c1", bus: 1, device: 5) }),
        ("unplugged", { $0.unplug("1-1") }), ("a serial port", { _ = try $0.addDevice("ttyUSB0") }),
        (
            "held by a program",
            { system in
                system.unplug("1-1")
                try system.plugIn("1-1", vendor: "054c", product: "06c1", bus: 1, device: 4, driver: "usbfs")
            }
        ),
    ]

    @Test(arguments: changes) func noticesChanges(
        _ name: String, _ change: @escaping @Sendable (MadeUpSystem) throws -> Void
    ) throws {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: "06c1", bus: 1, device: 4)
        let waiting = Waiting()
        let notices = SystemNotices(waiting, paths: system.paths)
        #expect(try waits(notices, 2) == [false, false])
        waiting.meanwhile = { try change(system) }
        #expect(try waits(notices, 6) == Self.settled)
    }

    @Test func passesOnInformation() throws {
        let waiting = Waiting()
        let notices = SystemNotices(waiting, paths: try MadeUpSystem().paths)
        waiting.tells = true
        #expect(try notices.wait(within: .zero))
        waiting.tells = false
        #expect(try waits(notices, 5) == [true, true, true, false, false])
        waiting.meanwhile = { throw TransportError.cancelled }
        #expect(throws: TransportError.self) { try notices.wait(within: .zero) }
    }
}
