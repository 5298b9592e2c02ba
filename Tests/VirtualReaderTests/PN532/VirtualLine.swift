// SPDX-License-Identifier: Apache-2.0

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

/// A serial line whose time passes only when the chip waits, so that nothing in these tests sleeps.
final class VirtualLine: HostLine {
    private(set) var now = Duration.zero
    /// What the chip sent, and when.
    private(set) var sent: [(at: Duration, bytes: [UInt8])] = []
    private var script: ArraySlice<HostBytes>

    /// - Parameter script: what the host sends; the line is closed after the last and the chip's last wait.
    init(_ script: [HostBytes]) {
        self.script = script[...]
    }

    func read(until deadline: Duration?) -> LineEvent {
        if let next = script.first, deadline.map({ next.isThere(before: $0) }) ?? true {
            now = max(now, next.at ?? now)
            script.removeFirst()
            return .bytes(next.bytes)
        }
        guard let deadline else { return .closed }
        now = max(now, deadline)
        return .deadline
    }

    func write(_ bytes: [UInt8]) { sent.append((now, bytes)) }

    func sleep(until deadline: Duration) { now = max(now, deadline) }
}
