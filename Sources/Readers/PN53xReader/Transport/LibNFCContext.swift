// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CLibNFC
internal import Glibc
internal import ReaderCore
internal import Synchronization
internal import SystemDevices

/// libnfc's library state. There is one per process, because `nfc_exit` frees the list of drivers that all share; it is
/// created at first use and never freed.
///
/// Opening holds its lock, because a recorder changes libnfc's variables meanwhile.
@safe struct LibNFCContext: ~Copyable {
    private let pointer: OpaquePointer

    private static let shared = Mutex<LibNFCContext?>(nil)

    private init?() {
        // libnfc's logging to stderr is controlled by environment only; and a scan of every serial port, which its
        // configuration file may enable, talks to devices that are not readers and takes seconds. Variables that the
        // user exported are kept.
        unsafe setenv("LIBNFC_LOG_LEVEL", "0", 0)
        unsafe setenv("LIBNFC_INTRUSIVE_SCAN", "false", 0)
        var context: OpaquePointer?
        unsafe nfc_init(&context)
        guard let context = unsafe context else { return nil }
        unsafe pointer = context
    }

    /// Calls libnfc with its state, one caller at a time.
    ///
    /// - Returns: `nil` when libnfc could not allocate it.
    private static func use<Result: Sendable>(_ body: (OpaquePointer) -> Result?) -> Result? {
        shared.withLock { context -> Result? in
            if context == nil { context = LibNFCContext() }
            guard let pointer = unsafe context?.pointer else { return nil }
            return unsafe body(pointer)
        }
    }

    /// Returns an environment variable, read while nobody changes it.
    static func environment(_ name: String) -> String? {
        shared.withLock { _ in unsafe getenv(name).map { unsafe String(cString: $0) } }
    }

    /// Opens a reader.
    ///
    /// - Parameter recorder: receives libnfc's log meanwhile.
    static func open(_ connectionString: ConnectionString, recorder: LinkRecorder? = nil) -> DeviceHandle? {
        unsafe use { context -> DeviceHandle? in
            func open() -> OpaquePointer? {
                unsafe QuietErrors.during(recorder: recorder) { unsafe nfc_open(context, connectionString.text) }
            }
            guard connectionString.family.address == .serial else {
                return unsafe open().map { unsafe DeviceHandle($0, nil) }
            }
            return unsafe AbortPipe.during(open).map { unsafe DeviceHandle($0.result, $0.pipe) }
        }
    }

    /// Runs work on an open reader, with its log going to a recorder when there is one.
    static func recorded<Result: Sendable>(_ recorder: LinkRecorder?, _ body: () -> Result) -> Result {
        guard let recorder else { return body() }
        return shared.withLock { _ in QuietErrors.during(recorder: recorder, body) }
    }

    /// The version of libnfc, as `1.8.0`.
    static var version: String { unsafe nfc_version().map { unsafe String(cString: $0) } ?? "" }
}

/// Keeps libnfc from writing to stderr while it opens readers. When none answers it prints a line at any log
/// level.
///
/// Meanwhile C's `stderr` is a stream that drops this thread's output and passes on that of others. The stream is never
/// closed, because another thread may hold it a moment longer.
enum QuietErrors {
    @safe private struct Stream: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<FILE>
    }

    /// The thread whose output is dropped, 0 for none.
    private static let quietThread = Atomic<UInt>(0)
    /// Its output, while somebody wants it.
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

    /// Runs work that may print. One thread at a time: the caller holds the lock of ``LibNFCContext``.
    ///
    /// - Parameter recorder: receives libnfc's log meanwhile, at its debug level.
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

/// Parses libnfc's log of a recorded reader. At the debug level libnfc logs every frame that it writes to its bus and
/// reads from it, in hexadecimal digits.
///
/// A line is `LEVEL<tab>CATEGORY<tab>MESSAGE`; the message of a frame is `TX: 00 00 ff …` or `RX: …` (libnfc 1.8.0,
/// `log-internal.h`, `log.h`), and at most 255 bytes of it are logged.
enum LibNFCLog {
    /// The variable that libnfc checks before each line that it logs.
    static let variable = "LIBNFC_LOG_LEVEL"
    /// Everything.
    static let debugLevel = "3"

    /// The events in the lines of a log, in order.
    static func events(in log: [UInt8]) -> [LinkEvent.Content] {
        log.split(separator: UInt8(ascii: "\n")).compactMap { event(String(decoding: $0, as: UTF8.self)) }
    }

    private static func event(_ line: String) -> LinkEvent.Content? {
        let parts = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return .note(line) }
        let message = parts[2]
        if let colon = message.firstIndex(of: ":"), let bytes = bytes(message[colon...].dropFirst()) {
            switch message[..<colon] {
            case "TX": return .sent(bytes)
            case "RX": return .received(bytes)
            // A chip's other bytes are in a frame as well, where personal data is found.
            default: if bytes.count > 1 { return nil }
            }
        }
        return .note(parts.dropFirst().joined(separator: " "))
    }

    /// Parses pairs of digits with spaces between them.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        let pairs = text.split(separator: " ")
        guard !pairs.isEmpty, pairs.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
        return try? Hex.decode(text)
    }
}
