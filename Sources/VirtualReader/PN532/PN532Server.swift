// SPDX-License-Identifier: Apache-2.0

/// A PN532 on a pseudo-terminal, served by a thread of its own.
///
/// Any program that speaks to a PN532 over a serial port can open ``path``, one after another, in this process or in
/// another one. The field is used on the server's thread until ``stop()`` returns.
///
///     let server = try PN532Server(field: field)
///     defer { server.stop() }
///     print(server.connectionString)   // pn532_uart:/dev/pts/3
public final class PN532Server: Sendable {
    /// The serial port's path, as `/dev/pts/3`.
    public let path: String
    /// The symbolic link that leads to it, when one was asked for.
    public let link: String?

    private let counters: ChipCounters
    private let thread: WorkerThread
    private let stopSignal: StopSignal

    /// What libnfc is to be given to open the chip; the link when there is one.
    public var connectionString: String { "pn532_uart:\(link ?? path)" }

    /// What the chip has counted so far.
    public var statistics: ChipStatistics { counters.statistics }

    /// Starts a chip.
    ///
    /// - Parameters:
    ///   - field: what lies before its antenna.
    ///   - timing: what is really waited for; nothing by default.
    ///   - faults: what goes wrong on the serial line.
    ///   - serialLine: what the serial line carries, and whether both ends must run at one speed.
    ///   - initialSpeed: the speed that the chip starts with, in bits a second, as when a program that had raised it
    ///     was killed; one that a PN532 does not know counts as 115200.
    ///   - observer: called on the chip's thread before each step that it takes.
    ///   - link: where to make a symbolic link to the serial port; it is removed at the end.
    /// - Throws: ``PseudoterminalError`` when the system gives no terminal, no thread or no link.
    public init(
        field: any RadioField, timing: TimeModel = .off, faults: SerialFaultPlan = .none,
        serialLine: SerialLineModel = .plain, initialSpeed: Int = 115_200, link: String? = nil,
        observer: @escaping @Sendable (ChipMoment) -> Void = { _ in }
    ) throws(PseudoterminalError) {
        let terminal = try Pseudoterminal(link: link)
        let counters = ChipCounters()
        let stopSignal = try StopSignal()
        path = terminal.path
        self.link = link
        self.counters = counters
        self.stopSignal = stopSignal
        let line = PseudoterminalLine(terminal, stop: stopSignal)
        let chip = HandedOver(
            PN532Chip(
                field: field, line: line, timing: timing, faults: faults, model: serialLine,
                initialSpeed: SerialSpeed(bitsPerSecond: initialSpeed) ?? .initial, counters: counters,
                observer: observer))
        thread = try WorkerThread { chip.value.run() }
    }

    /// Ends the chip and takes its serial port and link away; further calls do nothing.
    public func stop() {
        stopSignal.give()
        thread.join()
    }

    deinit { stop() }

    /// Carries the chip to the only thread that uses it from then on.
    private struct HandedOver: @unchecked Sendable {
        let value: PN532Chip
        init(_ value: PN532Chip) { self.value = value }
    }
}
