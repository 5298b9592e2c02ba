// SPDX-License-Identifier: Apache-2.0

// The one file of Sources/Protocols that knows which system it runs on.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Threads of our own, for calls that block.
enum SystemThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs a closure on a new thread.
    ///
    /// - Returns: 0, or the number of the system's error; then the closure does not run.
    static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let box = unsafe Unmanaged.passRetained(Work(body))
        #if canImport(Darwin)
            var thread: pthread_t?
            let status = unsafe pthread_create(
                &thread, nil,
                { pointer in
                    unsafe Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
                    return nil
                }, box.toOpaque())
        #else
            var thread = pthread_t()
            let status = unsafe pthread_create(
                &thread, nil,
                { pointer in
                    guard let pointer = unsafe pointer else { return nil }
                    unsafe Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
                    return nil
                }, box.toOpaque())
        #endif
        guard status == 0 else {
            unsafe box.release()
            return status
        }
        #if canImport(Darwin)
            if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
        return 0
    }
}

/// Sleeps on the calling thread, without Foundation.
package enum ThreadPause {
    /// Sleeps for this long; returns immediately for zero or less.
    package static func sleep(_ time: Duration) {
        let (seconds, attoseconds) = max(time, .zero).components
        var request = timespec(tv_sec: time_t(clamping: seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var rest = timespec()
        // Interrupted by a signal, it says how much is left.
        while unsafe nanosleep(&request, &rest) != 0, rest.tv_sec > 0 || rest.tv_nsec > 0 {
            (request, rest) = (rest, timespec())
        }
    }
}
