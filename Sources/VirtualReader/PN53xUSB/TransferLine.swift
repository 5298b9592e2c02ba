// SPDX-License-Identifier: Apache-2.0

/// A chip's line to a host that sends whole transfers, with a clock that only the chip's own waiting moves.
///
/// The chip works while it is called: what it would wait for longer than ``patience`` counts as given up by the host.
final class TransferLine: HostLine {
    /// The longest that a chip is let wait at one transfer; longer than its longest time-out of 3.3 s.
    private static let patience = Duration.seconds(5)

    private(set) var now = Duration.zero
    private var limit = TransferLine.patience
    private var incoming: [UInt8] = []
    private var written: [[UInt8]] = []

    /// Begins a new transfer from the host.
    func begin(_ transfer: [UInt8] = []) {
        incoming = transfer
        limit = now + Self.patience
    }

    /// What the chip has written since it was last asked, one element each time.
    func takeWritten() -> [[UInt8]] {
        defer { written = [] }
        return written
    }

    func read(until deadline: Duration?) -> LineEvent {
        guard incoming.isEmpty else {
            defer { incoming = [] }
            return .bytes(incoming)
        }
        guard let deadline, deadline <= limit else { return .closed }
        now = max(now, deadline)
        return .deadline
    }

    func write(_ bytes: [UInt8]) {
        written.append(bytes)
    }

    func sleep(until deadline: Duration) {
        now = max(now, deadline)
    }
}
