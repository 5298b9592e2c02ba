// SPDX-License-Identifier: Apache-2.0

/// The chip's end of the serial line, and its clock.
protocol HostLine: AnyObject {
    /// The time since a start that does not matter.
    var now: Duration { get }

    /// The speed that the host has set its own end to; `nil` when the line does not tell.
    var hostSpeed: SerialSpeed? { get }

    /// Waits for bytes from the host, for ever when there is no deadline.
    func read(until deadline: Duration?) -> LineEvent

    /// Sends bytes; what the host does not take is lost, as on a real line.
    func write(_ bytes: [UInt8])

    /// Waits without listening.
    func sleep(until deadline: Duration)
}

extension HostLine {
    var hostSpeed: SerialSpeed? { nil }
}
