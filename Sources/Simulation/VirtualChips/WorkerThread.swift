// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import VirtualCards

/// A dedicated thread for blocking work, which Swift's small shared thread pool is not for.
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

    /// Waits for the end of the work; only the first caller waits, the others return immediately.
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

/// Wakes a thread that waits in `poll`, permanently.
final class StopSignal: Sendable {
    /// Readable once signalled.
    let descriptor: Int32
    private let writer: Int32

    init() throws(PseudoterminalError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .failed(call: "pipe", errno: errno) }
        (descriptor, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    /// Gives the signal.
    func give() {
        // A byte, not the end of the file: a child process may have inherited the other end.
        var byte: UInt8 = 0
        _ = unsafe write(writer, &byte, 1)
    }

    deinit {
        close(writer)
        close(descriptor)
    }
}
