// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import SimulatedChips
import Synchronization
import SystemDevices
import TestSupport
import Testing
import USBTransport
import VirtualReader

@testable import PN53xReader

/// The reset of an RC-S330's chip. That it helps is seen before emulated devices (`make test-usb`).
@Suite(.waits)
struct RCS956ResetTests {
    /// A link that logs what goes over it.
    private final class Link: USBLink {
        private let chip: VirtualPN53xUSB
        private(set) var log: [String] = []
        private(set) var closings = 0

        init(_ chip: VirtualPN53xUSB) { self.chip = chip }

        func send(_ bytes: [UInt8], within time: Duration) throws(USBError) {
            log.append("> " + Hex.encode(bytes))
            chip.receive(bytes)
        }

        func receive(within time: Duration) throws(USBError) -> [UInt8] {
            guard let bytes = chip.nextTransfer() else { throw .timedOut }
            log.append("< " + Hex.encode(bytes))
            return bytes
        }

        func ignoreCancellation() {}
        func close() { closings += 1 }
    }

    private static func device(_ product: String = "02e1") throws -> (USBDevice, MadeUpSystem) {
        let system = try MadeUpSystem()
        try system.plugIn("1-1", vendor: "054c", product: product, bus: 1, device: 2)
        return (try #require(USBDevice.all(system.paths).first), system)
    }

    private static func run(_ faults: InjectedUSBFaults) throws -> (
        isDone: Bool, log: [String], pauses: [Duration], Int
    ) {
        let (device, _) = try device()
        nonisolated(unsafe) let link = Link(VirtualPN53xUSB(field: VirtualField(), faults: faults))
        let pauses = Mutex<[Duration]>([])
        let isDone = RCS956Reset(device, pause: { time in pauses.withLock { $0.append(time) } }) { _ in link }.run()
        return (isDone, link.log, pauses.withLock { $0 }, link.closings)
    }

    /// As nfcpy sends it to an RC-S330 (nfcpy issue 256), and as an RC-S360 answers (libnfc issue 278).
    @Test func parsesTheFramesOfTheLogs() throws {
        let (isDone, log, pauses, closings) = try Self.run(InjectedUSBFaults())
        #expect(isDone)
        #expect(
            log == [
                "> 0000ff00ff00", "> 0000ff03fdd418011300", "< 0000ff00ff00", "< 0000ff02fed5191200", "> 0000ff00ff00",
            ])
        #expect(pauses == [.milliseconds(10)])
        #expect(closings == 1)
    }

    static let faults: [(InjectedUSBFaults, Bool)] = [
        (InjectedUSBFaults(leftover: [[1, 2, 3], [0, 0, 0xFF]]), true),
        (InjectedUSBFaults(atCommand: [1: .nothing]), false),
        (InjectedUSBFaults(atCommand: [1: .garbage([1, 2])]), false),
        (InjectedUSBFaults(atCommand: [1: .truncated(to: 3)]), false),
    ]

    @Test(arguments: faults) func recoversFromFaults(_ faults: InjectedUSBFaults, _ isDone: Bool) throws {
        let (answered, _, pauses, closings) = try Self.run(faults)
        #expect(answered == isDone)
        #expect(pauses.count == (isDone ? 1 : 0))
        #expect(closings == 1)
    }

    @Test func leavesAnUnopenableReaderAlone() throws {
        let (device, _) = try Self.device()
        let reset = RCS956Reset(device, pause: { _ in }) { _ throws(TransportError) in
            throw .readerUnavailable(reason: .permission, detail: .init(.text, ""))
        }
        #expect(!reset.run())
    }

    @Test(arguments: [("02e1", true), ("06c1", false), ("0193", false)])
    func onlyReadersWithThisChip(_ product: String, _ isOne: Bool) throws {
        #expect((RCS956Reset(of: try Self.device(product).0) != nil) == isOne)
    }
}
