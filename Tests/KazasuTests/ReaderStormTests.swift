// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

@testable import Kazasu
@testable import KazasuReading

/// Readers that are plugged in and pulled out again and again, on a slow machine.
struct ReaderStormTests {
    private static let readers = ["rcs380:port=1-1", "rcs300:port=1-2", "pn53x_usb:port=1-3", "acr122_usb:port=1-4"]
    private static let absent = KazasuError.reader(
        .readerUnavailable(reason: .absent, detail: .init(.unplugged)), id: "")
    private static let busy = KazasuError.reader(
        .readerUnavailable(reason: .busy, detail: .init(.heldByProgram)), id: "")

    // MARK: In simulated time

    /// The USB, its readers and their kernel drivers, what lists them, and the loops that watch them, in milliseconds.
    private struct Simulation {
        struct Device {
            /// Changes when it is plugged in.
            var instance = 0
            var isPlugged = false
            /// Whether the kernel driver has it.
            var isBound = false
            var watch = WatchedReader(isNamed: false)
            /// The instance that is open.
            var open: Int?
            /// Wakes the loop, unless it was woken before.
            var pause: Int?
            var isListed = false
            var reports: [Taps.ReaderState] = []
            var readySince: Int?
        }

        var random: SeededGenerator
        /// The longest time that something takes.
        let slowness: Int
        var now = 0
        var events: [(time: Int, number: Int, run: (inout Simulation) -> Void)] = []
        var number = 0
        var watched = WatchedReaders()
        var devices: [Device]
        var lastChange = 0

        init(seed: UInt64, slowness: Int) {
            (random, self.slowness) = (SeededGenerator(seed: seed), slowness)
            devices = Array(repeating: Device(), count: ReaderStormTests.readers.count)
        }

        mutating func after(_ time: Int, _ run: @escaping (inout Simulation) -> Void) {
            number += 1
            events.append((now + time, number, run))
        }

        mutating func afterAWhile(_ run: @escaping (inout Simulation) -> Void) {
            after(Int.random(in: 0...slowness, using: &random), run)
        }

        mutating func run() {
            while let next = nextEvent {
                let event = events.remove(at: next)
                now = event.time
                event.run(&self)
            }
        }

        private var nextEvent: Int? {
            events.indices.min { (events[$0].time, events[$0].number) < (events[$1].time, events[$1].number) }
        }

        // The USB.

        mutating func plug(_ index: Int, _ isPlugged: Bool) {
            guard devices[index].isPlugged != isPlugged else { return }
            lastChange = now
            devices[index].isPlugged = isPlugged
            devices[index].isBound = isPlugged
            if isPlugged {
                devices[index].instance += 1
                devices[index].readySince = nil
            } else if let open = devices[index].open {
                afterAWhile { $0.fails(index, open) }
            }
            afterAWhile { $0.list() }
        }

        /// What a tracker reports: the differences to the last list, not what happened in between.
        mutating func list() {
            for index in devices.indices where devices[index].isListed != devices[index].isPlugged {
                let isListed = devices[index].isPlugged
                devices[index].isListed = isListed
                if isListed, devices[index].pause != nil {
                    devices[index].watch.pluggedIn()
                    wake(index)
                }
                if watched.note(ReaderStormTests.readers[index], isReady: isListed ? true : nil) {
                    devices[index].watch = WatchedReader(isNamed: false)
                    open(index)
                }
            }
        }

        // The loop of one reader.

        mutating func open(_ index: Int) {
            let (began, instance, isThere) = (now, devices[index].instance, devices[index].isPlugged)
            if isThere { devices[index].isBound = false }
            afterAWhile { simulation in
                let device = simulation.devices[index]
                // While readers come and go on its hub, a reader fails in many ways.
                let isStorm = simulation.lastChange >= began
                let isFaulty = isStorm && Bool.random(using: &simulation.random)
                guard isThere, device.isPlugged, device.instance == instance, !isFaulty else {
                    simulation.giveBack(index, instance)
                    let isAbsent = !isFaulty || Bool.random(using: &simulation.random)
                    simulation.failed(index, isAbsent ? ReaderStormTests.absent : ReaderStormTests.busy)
                    return
                }
                simulation.devices[index].open = instance
                simulation.devices[index].readySince = simulation.now
                simulation.devices[index].reports.append(simulation.devices[index].watch.opened())
            }
        }

        mutating func giveBack(_ index: Int, _ instance: Int) {
            guard devices[index].isPlugged, devices[index].instance == instance else { return }
            devices[index].isBound = true
        }

        /// A reader that is open was pulled out.
        mutating func fails(_ index: Int, _ instance: Int) {
            guard devices[index].open == instance else { return }
            devices[index].open = nil
            giveBack(index, instance)
            failed(index, ReaderStormTests.absent)
        }

        mutating func failed(_ index: Int, _ error: KazasuError) {
            let (state, next) = devices[index].watch.failed(error)
            if let state { devices[index].reports.append(state) }
            let pause: Duration
            switch next {
            case .retry(let time): pause = time
            case .retryIfListed(let time):
                guard watched.isListed(ReaderStormTests.readers[index]) else {
                    if watched.isBack(ReaderStormTests.readers[index]) { open(index) }
                    return
                }
                pause = time
            }
            number += 1
            let wake = number
            devices[index].pause = wake
            after(pause.count(of: .milliseconds(1))) { simulation in
                if simulation.devices[index].pause == wake { simulation.wake(index) }
            }
        }

        mutating func wake(_ index: Int) {
            devices[index].pause = nil
            open(index)
        }
    }

    /// - Parameter slowness: how long each step may take: noticing, opening, failing.
    @Test(
        "A storm ends with every reader ready within 10 s of the last plug, and given back at the end",
        arguments: [0, 200, 1000, 2000])
    func storm(slowness: Int) {
        for seed in TestEffort.rounds(200) {
            var simulation = Simulation(seed: UInt64(seed) + 1, slowness: slowness)
            for index in simulation.devices.indices {
                var time = 0
                for plug in 0..<Int.random(in: 1...12, using: &simulation.random) * 2 + 1 {
                    time += Int.random(in: 0...6000, using: &simulation.random)
                    simulation.after(time) { $0.plug(index, plug.isMultiple(of: 2)) }
                }
            }
            simulation.run()
            for (index, device) in simulation.devices.enumerated() {
                #expect(device.open == device.instance, "seed \(seed), reader \(index)")
                #expect((device.readySince ?? .max) - simulation.lastChange <= 10_000, "seed \(seed), reader \(index)")
                #expect(Self.isPaired(device.reports), "seed \(seed): \(device.reports)")
                #expect(device.reports.last == .ready)
            }
            // Everything is pulled out, or closed at the end.
            for index in simulation.devices.indices {
                if let open = simulation.devices[index].open { simulation.giveBack(index, open) }
                #expect(simulation.devices[index].isBound, "the kernel driver has it again")
            }
        }
    }

    /// `gone` comes after `ready` alone, and nothing is repeated.
    private static func isPaired(_ reports: [Taps.ReaderState]) -> Bool {
        zip([nil] + reports, reports).allSatisfy { before, state in
            state == .gone ? before == .ready : before != state
        }
    }

    // MARK: The real watch

    /// Readers that come and go while they are opened and used.
    private final class USB: Sendable {
        struct State {
            var plugged: [String: Int] = [:]
            /// The instance that was opened last.
            var used: [String: Int] = [:]
            var instances = 0
            var isStormOver = false
            var opened = 0
            var closed = 0
        }

        let state = Mutex(State())
        let changes = DispatchSemaphore(value: 0)

        /// Whether every reader is plugged in for good and was opened since.
        var isSettled: Bool { state.withLock { $0.isStormOver && $0.used == $0.plugged } }

        /// - Parameter isLast: whether it is the last change of the storm.
        func plug(_ id: String, _ isPlugged: Bool, isLast: Bool = false) {
            state.withLock { state in
                state.isStormOver = isLast
                state.instances += 1
                state.plugged[id] = isPlugged ? state.instances : nil
            }
            changes.signal()
        }

        func list() -> [ReaderListing] {
            state.withLock { state in state.plugged.keys.sorted().map { ReaderListing(id: $0, state: .ready) } }
        }

        func open(_ id: String) throws(KazasuError) -> any Reader {
            let instance = state.withLock { state -> Int? in
                guard let instance = state.plugged[id] else { return nil }
                state.used[id] = instance
                state.opened += 1
                return instance
            }
            guard let instance else { throw ReaderStormTests.absent }
            return PluggedReader(self, id, instance)
        }
    }

    private final class PluggedReader: Reader {
        let information: ReaderInformation
        private let usb: USB
        private let instance: Int

        init(_ usb: USB, _ id: String, _ instance: Int) {
            (self.usb, self.instance) = (usb, instance)
            information = ReaderInformation(id: id, name: id)
        }

        func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
            guard usb.state.withLock({ $0.plugged[information.id] }) == instance else {
                throw .readerUnavailable(reason: .absent, detail: .init(.unplugged))
            }
            return nil
        }
        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] { throw .noAnswer }
        func close() { usb.state.withLock { $0.closed += 1 } }
    }

    private final class Notices: DeviceNotices {
        private let usb: USB
        private let cancellation: CancellationToken

        init(_ usb: USB, _ cancellation: CancellationToken) {
            (self.usb, self.cancellation) = (usb, cancellation)
            cancellation.onCancel { usb.changes.signal() }
        }

        func wait(within time: Duration) throws(TransportError) -> Bool {
            usb.changes.wait()
            try cancellation.check()
            return true
        }
    }

    @Test(
        "The real watch, in real threads: paired reports, every reader ready at the end, none left open",
        .timeLimit(.minutes(3)))
    func realWatch() async throws {
        let usb = USB()
        var watch = ReaderWatch(readers: nil, query: .any, reading: .id)
        watch.list = { usb.list() }
        watch.notices = { Notices(usb, $0) }
        watch.open = { id, _ throws(KazasuError) in try usb.open(id) }
        watch.sleep = { _ in await Task.yield() }
        let (reports, report) = AsyncStream.makeStream(of: (String, Taps.ReaderState).self)
        let task = Task { [watch] in
            await watch.run { event in
                if case .reader(let id, let state) = event { report.yield((id, state)) }
            }
            report.finish()
        }
        let storm = Task {
            var random = SeededGenerator(seed: 49)
            for _ in TestEffort.rounds(200) {
                usb.plug(Self.readers.randomElement(using: &random) ?? "", .random(using: &random))
                await Task.yield()
            }
            for id in Self.readers { usb.plug(id, true, isLast: id == Self.readers.last) }
        }
        var states: [String: [Taps.ReaderState]] = [:]
        for await (id, state) in reports {
            states[id, default: []].append(state)
            if usb.isSettled, Self.readers.allSatisfy({ states[$0]?.last == .ready }) { break }
        }
        await storm.value
        task.cancel()
        await task.value
        for (id, states) in states { #expect(Self.isPaired(states), "\(id): \(states)") }
        let (opened, closed) = usb.state.withLock { ($0.opened, $0.closed) }
        #expect(opened == closed)
    }
}
