// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A door that one thread waits at until another opens it.
final class Latch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }
    func wait() { semaphore.wait() }
}
