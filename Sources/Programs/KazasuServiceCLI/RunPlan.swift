// SPDX-License-Identifier: Apache-2.0

import Kazasu
import ReaderCore
import SharedReaders
import Synchronization
import KazasuTaps
import PCSCBridge

/// All that can change while a program runs: `watch` and `serve` read it again at SIGHUP, `rpc` and `bridge` have it from
/// their start.
struct RunPlan: Sendable {
    /// The readers that the user named, in that order.
    var readers: [NamedReader] = []
    /// What PC/SC programs have.
    var bridges: [Bridge.Settings] = []
    /// What is read from the cards, what they are called, and where the events go; `nil` if nothing is watched.
    var watch: Watcher.Plan?
    /// The ledger of requests; `nil` for the usual one.
    var ledger: String?
    /// The lights at lines of GPIO chips, and those of the kernel's LED class.
    var lights: [GPIOLights] = []
    var leds: [LEDLights] = []
}

/// The parts of a program that follow its plan.
final class RunParts: Sendable {
    /// The readers of requests, and of PC/SC programs.
    let readers: SharedReaders
    let bridges: RunningBridges
    private let watcher: Watcher?
    private let front: (any WatchFront)?
    private let lines: GPIOLines?
    /// Keeps the computer's lights from staying on.
    private let lightGuard = LightGuard()
    private let tell: @Sendable (LightFailure) -> Void
    private let plan = Mutex<RunPlan?>(nil)

    /// - Parameters:
    ///   - watcher: has the first plan already.
    ///   - lines: holds those that the plan names.
    ///   - noReader: called when there can be no such reader as one of those of PC/SC programs.
    ///   - tell: called with why lights would stay on if the program were killed.
    init(
        _ readers: SharedReaders, watcher: Watcher? = nil, front: (any WatchFront)? = nil, lines: GPIOLines? = nil,
        verbosity: Int, noReader: @escaping @Sendable () -> Void = {},
        tell: @escaping @Sendable (LightFailure) -> Void = { _ in }
    ) {
        (self.readers, self.watcher, self.front, self.lines) = (readers, watcher, front, lines)
        self.tell = tell
        bridges = RunningBridges(on: readers, verbosity: verbosity, failed: noReader)
    }

    /// Makes every part follow a new plan. What is the same in both goes on.
    func apply(_ new: RunPlan) {
        let old = plan.withLock { plan in
            defer { plan = new }
            return plan
        }
        // Before the first reader is opened.
        if new.leds != old?.leds ?? [] || new.lights != old?.lights ?? [] { guardLights(new) }
        // First, so that requests waiting for a removed reader fail instead of reopening it.
        readers.setNames(new.readers.map { ($0.name, $0.id) })
        front?.follow(new)
        bridges.change(to: new.bridges)
        if old != nil, let watch = new.watch { watcher?.change(to: watch) }
        lines?.keep(new.lights)
    }

    /// Puts lights off that are new or given up. One whose file hangs holds nothing up.
    private func guardLights(_ plan: RunPlan) {
        let failure: Int32?? = Blocking.run { [lightGuard] () async in
            await BlockingWork.run(within: .seconds(1)) { lightGuard.change(to: plan.leds, plan.lights) }
        }
        if let number = failure.flatMap(\.self) { tell(LightFailure(number: number)) }
    }

    /// Puts all lights off and gives them up.
    func endLights() {
        Blocking.run { [lightGuard, lines] () async in
            _ = await BlockingWork.run(within: .seconds(1)) {
                lines?.close()
                lightGuard.end()
            }
        }
    }
}

/// Why lights cannot be guarded.
struct LightFailure {
    /// `errno`.
    let number: Int32
}
