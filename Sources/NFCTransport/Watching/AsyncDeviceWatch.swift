// SPDX-License-Identifier: Apache-2.0

/// A ``DeviceWatch`` for code that must not block: it waits on a thread of its own.
///
/// Cancelling a task that waits here ends the watch for good, as with ``AsyncReader``.
public actor AsyncDeviceWatch<Device: Identifiable & Equatable & Sendable> {
    private let thread: ReaderThread
    private let cancellation = CancellationToken()
    private let interval: Duration
    private let list: @Sendable () -> [Device]
    private let makeNotices: @Sendable (CancellationToken) -> any DeviceNotices
    private var watch: DeviceWatch<Device>?

    /// The watch's own thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// A watch.
    ///
    /// - Parameters:
    ///   - notices: makes what tells that it is time to look, and what the token ends.
    ///   - interval: how long it takes at most until a watch that was given up ends.
    ///   - list: what is there.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when the system has no thread left.
    public init(
        _ notices: @escaping @Sendable (CancellationToken) -> any DeviceNotices, interval: Duration = .seconds(1),
        list: @escaping @Sendable () -> [Device]
    ) throws(TransportError) {
        thread = try ReaderThread()
        makeNotices = notices
        self.interval = interval
        self.list = list
    }

    /// Waits for what changes next: at the first call everything that is there has arrived, which may be nothing.
    ///
    /// - Throws: ``TransportError/cancelled``.
    public nonisolated func next() async throws(TransportError) -> [DeviceChange<Device>] {
        let cancellation = cancellation
        return try await withTaskCancellationHandler {
            await self.look()
        } onCancel: {
            cancellation.cancel()
        }.get()
    }

    private func look() -> Result<[DeviceChange<Device>], TransportError> {
        Result { () throws(TransportError) in
            guard let watch else {
                try cancellation.check()
                let first = DeviceWatch(makeNotices(cancellation), interval: interval, list: list)
                watch = first
                return try first.next()
            }
            while true {
                try cancellation.check()
                let changes = try watch.next()
                if !changes.isEmpty { return changes }
            }
        }
    }
}
