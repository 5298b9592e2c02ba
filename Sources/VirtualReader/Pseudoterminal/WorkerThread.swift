// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A thread of its own for work that blocks, which Swift's few shared threads are not for.
final class WorkerThread: Sendable {
    private let handle: Mutex<pthread_t?>

    /// Starts the work.
    ///
    /// - Throws: ``PseudoterminalError/failed(call:errno:)`` when the system has no thread left.
    init(_ work: @escaping @Sendable () -> Void) throws(PseudoterminalError) {
        let box = unsafe Unmanaged.passRetained(Work(work))
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer = unsafe pointer else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            unsafe box.release()
            throw .failed(call: "pthread_create", errno: status)
        }
        handle = Mutex(thread)
    }

    /// Waits for the end of the work; the first caller does, the others return at once.
    func join() {
        let thread = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let thread { pthread_join(thread, nil) }
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
