// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What must be undone when a signal ends the process at once, without unwinding: temporary files are removed, and a
/// terminal that hides what is typed shows it again.
enum ExitCleanup {
    private struct Actions {
        var next = 0
        var all: [Int: @Sendable () -> Void] = [:]
    }

    private static let actions = Mutex(Actions())

    /// An action that was added.
    struct Entry {
        fileprivate let number: Int

        /// The action is no longer needed.
        func remove() {
            actions.withLock { _ = $0.all.removeValue(forKey: number) }
        }
    }

    /// Adds an action.
    static func add(_ action: @escaping @Sendable () -> Void) -> Entry {
        actions.withLock {
            $0.next += 1
            $0.all[$0.next] = action
            return Entry(number: $0.next)
        }
    }

    /// Runs all actions. Not for signal handlers: they may not take a lock; the thread that waits for signals may.
    static func run() {
        actions.withLock {
            for action in $0.all.values { action() }
            $0.all = [:]
        }
    }
}
