// SPDX-License-Identifier: Apache-2.0

/// How long libnfc is to wait for the chip, in its milliseconds.
///
/// libnfc's USB drivers wait 200 ms less than they are told, and 200 ms or less means not at all there; 0 means for
/// ever and −1 a default. None of these can come out of here.
struct HostTimeout: Hashable, Sendable {
    /// What libnfc is told.
    let milliseconds: Int32

    /// What the USB drivers take away.
    static let lossOnUSB = 200
    /// What host and chip may need beside the card.
    static let allowance = Duration.milliseconds(400)

    /// Waits really for this long, rounded up, and for a millisecond at least; at most about ten minutes.
    ///
    /// - Parameter patience: how many times as long; more than 1 only where the machine may be too busy to answer in time.
    init(waiting time: Duration, overUSB: Bool, patience: Int = 1) {
        let (seconds, attoseconds) = (time * patience).components
        let whole = min(max(seconds, 0), 600) * 1000
        let part = seconds > 600 || attoseconds < 0 ? 0 : (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        milliseconds = Int32(clamping: max(whole + part, 1) + (overUSB ? Int64(Self.lossOnUSB) : 0))
    }

    /// Waits for an exchange that the chip ends after its own time-out at the latest.
    init(for chip: ChipTimeout, overUSB: Bool, patience: Int = 1) {
        self.init(waiting: chip.duration + Self.allowance, overUSB: overUSB, patience: patience)
    }
}
