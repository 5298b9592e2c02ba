// SPDX-License-Identifier: Apache-2.0

internal import CLibNFC
internal import Glibc
internal import NFCTransport
internal import Synchronization

/// libnfc's library state. There is one in the process, for `nfc_exit` frees the list of drivers that all share; it
/// is made at first use and lives on.
///
/// Opening and listing go through its lock, for libnfc changes the environment while it lists.
@safe struct LibNFCContext: ~Copyable {
    private let pointer: OpaquePointer

    private static let shared = Mutex<LibNFCContext?>(nil)

    private init?() {
        // libnfc logs to stderr, by environment only; and a scan of every serial port, which its configuration file
        // may ask for, talks to devices that are no readers and takes seconds. What the user exported stays.
        unsafe setenv("LIBNFC_LOG_LEVEL", "0", 0)
        unsafe setenv("LIBNFC_INTRUSIVE_SCAN", "false", 0)
        var context: OpaquePointer?
        unsafe nfc_init(&context)
        guard let context = unsafe context else { return nil }
        unsafe pointer = context
    }

    /// Calls libnfc with its state, one caller at a time.
    ///
    /// - Returns: `nil` when libnfc has no memory for it.
    private static func use<Result: Sendable>(_ body: (OpaquePointer) -> Result?) -> Result? {
        shared.withLock { context -> Result? in
            if context == nil { context = LibNFCContext() }
            guard let pointer = unsafe context?.pointer else { return nil }
            return unsafe body(pointer)
        }
    }

    /// A variable of the environment, read while libnfc does not change it.
    static func environment(_ name: String) -> String? {
        shared.withLock { _ in unsafe getenv(name).map { unsafe String(cString: $0) } }
    }

    /// Opens a reader.
    ///
    /// - Parameter recorder: gets what libnfc logs from now on until the reader is closed.
    static func open(_ connectionString: ConnectionString, recorder: LinkRecorder? = nil) -> LibNFCDevice? {
        let handle = unsafe use { context -> DeviceHandle? in
            func open() -> OpaquePointer? {
                unsafe QuietErrors.during(recorder: recorder) { unsafe nfc_open(context, connectionString.text) }
            }
            guard connectionString.family.address == .serial else {
                return unsafe open().map { unsafe DeviceHandle($0, nil) }
            }
            return unsafe AbortPipe.during(open).map { unsafe DeviceHandle($0.result, $0.pipe) }
        }
        return handle.map { LibNFCDevice($0, recorder: recorder) }
    }

    /// Does something with an open reader, whose log goes to a recorder when there is one.
    static func recorded<Result: Sendable>(_ recorder: LinkRecorder?, _ body: () -> Result) -> Result {
        guard let recorder else { return body() }
        return shared.withLock { _ in QuietErrors.during(recorder: recorder, body) }
    }

    /// The version of libnfc, as `1.8.0`.
    static var version: String { unsafe nfc_version().map { unsafe String(cString: $0) } ?? "" }

    /// The connection strings of the readers that libnfc finds or is configured with, at most 16.
    static func list() -> [String] {
        unsafe use { context in
            let capacity = 16
            let found = UnsafeMutablePointer<nfc_connstring>.allocate(capacity: capacity)
            defer { unsafe found.deallocate() }
            let count = QuietErrors.during { unsafe nfc_list_devices(context, found, capacity) }
            return (0..<min(count, capacity)).map { index in
                let text = unsafe UnsafeRawPointer(found + index).assumingMemoryBound(to: CChar.self)
                return unsafe String(cString: text)
            }
        } ?? []
    }
}
