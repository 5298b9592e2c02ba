// SPDX-License-Identifier: Apache-2.0

internal import CLibNFC
internal import Glibc
internal import NFCTransport
internal import Synchronization

/// Keeps libnfc from writing to stderr while it opens or lists readers: when none answers it prints a line, whatever
/// its log level.
///
/// Meanwhile C's `stderr` is a stream that drops what this thread prints and passes on what others do. The stream is
/// never closed, for another thread may hold it a moment longer.
enum QuietErrors {
    @safe private struct Stream: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<FILE>
    }

    /// The thread whose words are dropped, 0 for none.
    private static let quietThread = Atomic<UInt>(0)
    /// Its words, while somebody wants them.
    private static let collected = Mutex<[UInt8]?>(nil)

    private static let stream: Stream? = {
        let functions = unsafe cookie_io_functions_t(
            read: nil,
            write: { _, text, length in
                if quietThread.load(ordering: .sequentiallyConsistent) == pthread_self() {
                    let words = unsafe UnsafeRawBufferPointer(start: text, count: length)
                    collected.withLock { unsafe $0?.append(contentsOf: words) }
                    return length
                }
                return unsafe write(STDERR_FILENO, text, length)
            },
            seek: nil, close: nil)
        guard let file = unsafe fopencookie(nil, "w", functions) else { return nil }
        unsafe setvbuf(file, nil, _IONBF, 0)
        return unsafe Stream(pointer: file)
    }()

    /// Does something that may print. One thread at a time: the caller holds the lock of ``LibNFCContext``.
    ///
    /// - Parameter recorder: gets what libnfc logs meanwhile, at its debug level.
    static func during<Result>(recorder: LinkRecorder? = nil, _ body: () -> Result) -> Result {
        guard let stream else { return body() }
        guard let recorder else { return during(stream, body) }
        let level = unsafe getenv(LibNFCLog.variable).map { unsafe String(cString: $0) } ?? "0"
        unsafe setenv(LibNFCLog.variable, LibNFCLog.debugLevel, 1)
        collected.withLock { $0 = [] }
        defer {
            unsafe setenv(LibNFCLog.variable, level, 1)
            let log = collected.withLock { collected in
                defer { collected = nil }
                return collected ?? []
            }
            for event in LibNFCLog.events(in: log) { recorder.record(event) }
        }
        return during(stream, body)
    }

    private static func during<Result>(_ stream: Stream, _ body: () -> Result) -> Result {
        quietThread.store(pthread_self(), ordering: .sequentiallyConsistent)
        let before = unsafe kazasu_exchange_stderr(stream.pointer)
        defer {
            _ = unsafe kazasu_exchange_stderr(before)
            quietThread.store(0, ordering: .sequentiallyConsistent)
        }
        return body()
    }
}
