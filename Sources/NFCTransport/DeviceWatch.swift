// SPDX-License-Identifier: Apache-2.0

/// Watches readers, or anything else that can be listed, come and go.
///
/// ```swift
/// let token = CancellationToken()
/// let watch = DeviceWatch(SystemNotices(USBNotices(cancellation: token))) { PaSoRiDriver().list() }
/// while true {
///     for change in try watch.next() { print(change) }
/// }
/// ```
package final class DeviceWatch<Device: Identifiable & Equatable> {
    /// What was there when it was looked last.
    package private(set) var present: [Device] = []
    private let notices: any DeviceNotices
    private let interval: Duration
    private let list: () -> [Device]
    private var hasLooked = false

    /// A watch.
    ///
    /// - Parameters:
    ///   - notices: what tells that it is time to look.
    ///   - interval: how long ``next()`` waits at most.
    ///   - list: what is there; it is asked only at the beginning and after a notice.
    package init(_ notices: any DeviceNotices, interval: Duration = .seconds(1), list: @escaping () -> [Device]) {
        self.notices = notices
        self.interval = interval
        self.list = list
    }

    /// What has changed since the last call: at the first one, at once, everything that is there has arrived.
    ///
    /// What left and came back within one look is not told; a listing that has the same words has not changed.
    ///
    /// - Returns: nothing when nothing has changed for the interval.
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

/// What became of something that can be plugged in, between two looks at what is there.
package enum DeviceChange<Device> {
    /// It is there now.
    case arrived(Device)
    /// It was there and is, but can be used no more, or now, or is called something else.
    case changed(Device)
    /// It is gone; the value is as it was.
    case left(Device)

    /// What it is about.
    package var device: Device {
        switch self {
        case .arrived(let device), .changed(let device), .left(let device): device
        }
    }
}

extension DeviceChange: Equatable where Device: Equatable {}
extension DeviceChange: Sendable where Device: Sendable {}

extension DeviceChange where Device: Identifiable & Equatable {
    /// What is different: first what left, in the old order, then the rest in the new order.
    ///
    /// Of several with the same ID the first counts.
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

/// Tells that something may have been plugged in or out; who is told looks at what is there.
package protocol DeviceNotices: AnyObject {
    /// Waits for a notice.
    ///
    /// - Parameter time: how long at most.
    /// - Returns: whether anything may be different now; `false` when the time has passed without a notice.
    /// - Throws: ``TransportError/cancelled``.
    func wait(within time: Duration) throws(TransportError) -> Bool
}

/// A ``DeviceWatch`` for code that must not block: it waits on a thread of its own.
///
/// Cancelling a task that waits here ends the watch for good, as with ``AsyncReader``.
package actor AsyncDeviceWatch<Device: Identifiable & Equatable & Sendable> {
    private let thread: ReaderThread
    private let cancellation = CancellationToken()
    private let interval: Duration
    private let list: @Sendable () -> [Device]
    private let makeNotices: @Sendable (CancellationToken) -> any DeviceNotices
    private var watch: DeviceWatch<Device>?

    /// The watch's own thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// A watch.
    ///
    /// - Parameters:
    ///   - notices: makes what tells that it is time to look, and what the token ends.
    ///   - interval: how long it takes at most until a watch that was given up ends.
    ///   - list: what is there.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when the system has no thread left.
    package init(
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
    package nonisolated func next() async throws(TransportError) -> [DeviceChange<Device>] {
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
