// SPDX-License-Identifier: Apache-2.0

import Kazasu
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
    /// The lights at lines of GPIO chips.
    var lights: [GPIOLights] = []
}

/// The parts of a program that follow its plan.
final class RunParts: Sendable {
    /// The readers of requests, and of PC/SC programs.
    let readers: SharedReaders
    let bridges: RunningBridges
    private let watcher: Watcher?
    private let front: (any WatchFront)?
    private let lines: GPIOLines?
    private let plan = Mutex<RunPlan?>(nil)

    /// - Parameters:
    ///   - watcher: has the first plan already.
    ///   - lines: holds those that the plan names.
    ///   - noReader: called when there can be no such reader as one of those of PC/SC programs.
    init(
        _ readers: SharedReaders, watcher: Watcher? = nil, front: (any WatchFront)? = nil, lines: GPIOLines? = nil,
        verbosity: Int,
        noReader: @escaping @Sendable () -> Void = {}
    ) {
        (self.readers, self.watcher, self.front, self.lines) = (readers, watcher, front, lines)
        bridges = RunningBridges(on: readers, verbosity: verbosity, failed: noReader)
    }

    /// Makes every part follow a new plan. What is the same in both goes on.
    func apply(_ new: RunPlan) {
        let old = plan.withLock { plan in
            defer { plan = new }
            return plan
        }
        // First of all: who waits for a reader that is closed now does not open it again.
        readers.setNames(new.readers.map { ($0.name, $0.id) })
        front?.follow(new)
        bridges.change(to: new.bridges)
        if old != nil, let watch = new.watch { watcher?.change(to: watch) }
        lines?.keep(new.lights)
    }
}
