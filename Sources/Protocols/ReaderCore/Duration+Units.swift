// SPDX-License-Identifier: Apache-2.0

package import Dispatch

extension Duration {
    /// How many of a unit it has, for calls that take a number: none if it is negative, and as many as an `Int` holds if it is
    /// too long for one.
    ///
    /// - Parameter roundedUp: whether a part of a unit counts as one; else it is left out.
    package func count(of unit: Duration, roundedUp: Bool = false) -> Int {
        let (whole, rest) = max(attoseconds, 0).quotientAndRemainder(dividingBy: unit.attoseconds)
        return Int(clamping: whole + (roundedUp && rest > 0 ? 1 : 0))
    }
}

extension DispatchSemaphore {
    /// Waits for a signal, at most for this long.
    ///
    /// - Returns: whether it came.
    @discardableResult
    package func wait(within time: Duration) -> Bool {
        wait(timeout: .now() + .nanoseconds(time.count(of: .nanoseconds(1)))) == .success
    }
}

extension Task where Success == Void, Failure == Never {
    /// Does something after this time, unless the task is cancelled before.
    ///
    /// - Parameter time: of any length; `Task.sleep` traps if the end of its pause has more seconds than an `Int64`.
    @discardableResult
    package static func after(_ time: Duration, _ body: @escaping @Sendable () -> Void) -> Task {
        let time = min(time, .seconds(1 << 32))
        return Task { if (try? await Task<Never, Never>.sleep(for: time)) != nil { body() } }
    }
}
