// SPDX-License-Identifier: Apache-2.0

@testable import VirtualReader

/// A serial line whose time passes only when the chip waits, so that nothing in these tests sleeps.
final class VirtualLine: HostLine {
    private(set) var now = Duration.zero
    /// What the chip sent, and when.
    private(set) var sent: [(at: Duration, bytes: [UInt8])] = []
    private var script: ArraySlice<(at: Duration, bytes: [UInt8])>

    /// - Parameter script: what the host sends when; the line is closed after the last and the chip's last wait.
    init(_ script: [(at: Duration, bytes: [UInt8])]) {
        self.script = script[...]
    }

    /// A host that has everything ready from the start.
    convenience init(_ chunks: [[UInt8]]) {
        self.init(chunks.map { (.zero, $0) })
    }

    func read(until deadline: Duration?) -> LineEvent {
        if let next = script.first, deadline.map({ next.at <= $0 }) ?? true {
            now = max(now, next.at)
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
