// SPDX-License-Identifier: Apache-2.0

/// Tracks which readers are connected, or anything else that can be listed.
///
/// ```swift
/// let token = CancellationToken()
/// let tracker = DeviceTracker(SystemNotices(USBNotices(cancellation: token))) { PaSoRiDriver().list() }
/// while true {
///     for change in try tracker.next() { print(change) }
/// }
/// ```
package final class DeviceTracker<Device: Identifiable & Equatable> {
    /// The result of the last listing.
    package private(set) var present: [Device] = []
    private let notices: any DeviceNotices
    private let interval: Duration
    private let list: () -> [Device]
    private var hasLooked = false

    /// Makes a tracker.
    ///
    /// - Parameters:
    ///   - notices: signals that it is time to list.
    ///   - interval: how long ``next()`` waits at most.
    ///   - list: lists what is there; called only at the beginning and after a notice.
    package init(_ notices: any DeviceNotices, interval: Duration = .seconds(1), list: @escaping () -> [Device]) {
        self.notices = notices
        self.interval = interval
        self.list = list
    }

    /// Returns what has changed since the last call; the first call immediately reports everything as arrived.
    ///
    /// A device that left and came back between two listings is not reported; one whose listing is equal has not
    /// changed.
    ///
    /// - Returns: nothing if nothing has changed for the interval.
    /// - Throws: ``TransportError/cancelled``.
    package func next() throws(TransportError) -> [DeviceChange<Device>] {
        if hasLooked {
            guard try notices.wait(within: interval) else { return [] }
        }
        hasLooked = true
        let before = present
        present = list()
        return DeviceChange.between(before, present)
    }
}

/// A change of a pluggable device between two listings.
package enum DeviceChange<Device> {
    /// It is there now.
    case arrived(Device)
    /// It was there and still is, but its usability or its name has changed.
    case changed(Device)
    /// It is gone; the value is the last one listed.
    case left(Device)

    /// The device concerned.
    package var device: Device {
        switch self {
        case .arrived(let device), .changed(let device), .left(let device): device
        }
    }
}

extension DeviceChange: Equatable where Device: Equatable {}
extension DeviceChange: Sendable where Device: Sendable {}

extension DeviceChange where Device: Identifiable & Equatable {
    /// Returns the differences: first what left, in the old order, then the rest in the new order.
    ///
    /// Of several with the same ID, the first counts.
    package static func between(_ old: [Device], _ new: [Device]) -> [DeviceChange] {
        let before = byID(old)
        let after = byID(new)
        let left = old.filter { after[$0.id] == nil }.map(DeviceChange.left)
        var told: Set<Device.ID> = []
        return left
            + new.compactMap { device in
                guard told.insert(device.id).inserted else { return nil }
                guard let previous = before[device.id] else { return .arrived(device) }
                return previous == device ? nil : .changed(device)
            }
    }

    private static func byID(_ devices: [Device]) -> [Device.ID: Device] {
        Dictionary(devices.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Signals that something may have been plugged in or unplugged; the receiver then lists what is there.
package protocol DeviceNotices: AnyObject {
    /// Waits for a notice.
    ///
    /// - Parameter time: the maximum time to wait.
    /// - Returns: whether anything may have changed; `false` if the time has passed without a notice.
    /// - Throws: ``TransportError/cancelled``.
    func wait(within time: Duration) throws(TransportError) -> Bool
}

/// A ``DeviceTracker`` for code that must not block: it waits on a dedicated thread.
///
/// Cancelling a task that waits here ends the watch permanently, as with ``AsyncReader``.
package actor AsyncDeviceTracker<Device: Identifiable & Equatable & Sendable> {
    private let thread: ReaderThread
    private let cancellation = CancellationToken()
    private let interval: Duration
    private let list: @Sendable () -> [Device]
    private let makeNotices: @Sendable (CancellationToken) -> any DeviceNotices
    private var watch: DeviceTracker<Device>?

    /// The watch's own thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// Makes a tracker.
    ///
    /// - Parameters:
    ///   - notices: makes the notices, which the token ends.
    ///   - interval: the maximum time until an abandoned watch ends.
    ///   - list: lists what is there.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` if the system has no thread left.
    package init(
        _ notices: @escaping @Sendable (CancellationToken) -> any DeviceNotices, interval: Duration = .seconds(1),
        list: @escaping @Sendable () -> [Device]
    ) throws(TransportError) {
        thread = try ReaderThread()
        makeNotices = notices
        self.interval = interval
        self.list = list
    }

    /// Waits for the next changes; the first call reports everything as arrived, which may be nothing.
    ///
    /// - Throws: ``TransportError/cancelled``.
    package nonisolated func next() async throws(TransportError) -> [DeviceChange<Device>] {
        let cancellation = cancellation
        let end = OneShot<Result<[DeviceChange<Device>], TransportError>>()
        Task { end.give(await self.look()) }
        return try await end.value(onCancel: {
            cancellation.cancel()
            // A listing that hangs is abandoned.
            Task.after(BoundedReader.grace) { end.give(.failure(.cancelled)) }
        }).get()
    }

    private func look() -> Result<[DeviceChange<Device>], TransportError> {
        Result { () throws(TransportError) in
            guard let watch else {
                try cancellation.check()
                let first = DeviceTracker(makeNotices(cancellation), interval: interval, list: list)
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
