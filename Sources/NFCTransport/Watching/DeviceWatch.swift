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
public final class DeviceWatch<Device: Identifiable & Equatable> {
    /// What was there when it was looked last.
    public private(set) var present: [Device] = []
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
    public init(_ notices: any DeviceNotices, interval: Duration = .seconds(1), list: @escaping () -> [Device]) {
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
    public func next() throws(TransportError) -> [DeviceChange<Device>] {
        if hasLooked {
            guard try notices.wait(within: interval) else { return [] }
        }
        hasLooked = true
        let before = present
        present = list()
        return DeviceChange.between(before, present)
    }
}
