// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The memory that the bodies of all requests may have together. Large ones wait for room before they are read.
final class BodyRoom: Sendable {
    /// Memory for one body, until it is released.
    final class Lease: Sendable {
        private let room: BodyRoom
        private let bytes: Int

        fileprivate init(_ room: BodyRoom, _ bytes: Int) { (self.room, self.bytes) = (room, bytes) }

        deinit { room.release(bytes) }
    }

    private struct State {
        var free: Int
        var waiting: [(bytes: Int, granted: @Sendable (Lease) -> Void)] = []
    }

    /// Bodies up to this size need no lease.
    static let small = 64 << 10

    private let state: Mutex<State>

    init(_ bytes: Int) { state = Mutex(State(free: bytes)) }

    /// Takes room for a body, those that asked first before the others.
    ///
    /// - Parameter granted: gets the lease, from any thread, if there is no room now.
    /// - Returns: the lease; `nil` if it has to wait.
    func lease(_ bytes: Int, _ granted: @escaping @Sendable (Lease) -> Void) -> Lease? {
        let hasRoom = state.withLock { state in
            guard state.waiting.isEmpty, state.free >= bytes else {
                state.waiting.append((bytes, granted))
                return false
            }
            state.free -= bytes
            return true
        }
        return hasRoom ? Lease(self, bytes) : nil
    }

    private func release(_ bytes: Int) {
        let granted = state.withLock { state in
            state.free += bytes
            var granted: [(bytes: Int, granted: @Sendable (Lease) -> Void)] = []
            while let first = state.waiting.first, first.bytes <= state.free {
                state.free -= first.bytes
                granted.append(state.waiting.removeFirst())
            }
            return granted
        }
        for waiting in granted { waiting.granted(Lease(self, waiting.bytes)) }
    }
}
