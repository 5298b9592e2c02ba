// SPDX-License-Identifier: Apache-2.0

import ReaderCore
internal import Synchronization
package import VirtualCards

/// A PN532 on a pseudo-terminal, served by a separate thread.
///
/// Any program that supports a PN532 on a serial port can open ``path``, one after another, in this process or in
/// another one. The field is used on the server's thread until ``stop()`` returns.
///
///     let server = try PN532Server(field: field)
///     defer { server.stop() }
///     print(server.connectionString)   // pn532_uart:/dev/pts/3
package final class PN532Server: Sendable {
    /// The serial port's path, such as `/dev/pts/3`.
    package let path: String
    /// The symbolic link to it, when one was requested.
    package let link: String?

    private let counters: ChipCounters
    private let thread: WorkerThread
    private let stopSignal: StopSignal

    /// The connection string with which libnfc opens the chip; it names the link when there is one.
    package var connectionString: String { "pn532_uart:\(link ?? path)" }

    /// The chip's counts so far.
    package var statistics: ChipStatistics { counters.statistics }

    /// Starts a chip.
    ///
    /// - Parameters:
    ///   - field: the field over its antenna.
    ///   - timing: the actual waits; none by default.
    ///   - faults: the faults on the serial line.
    ///   - serialLine: the limits of the serial line, and whether both ends must run at one speed.
    ///   - initialSpeed: the chip's initial speed, in bits per second, as when a program that had raised it was killed;
    ///     one that a PN532 does not support counts as 115200.
    ///   - observer: called on the chip's thread before each step that it takes.
    ///   - link: the path of a symbolic link to the serial port; it is removed at the end.
    /// - Throws: ``PseudoterminalError`` when no terminal, thread or link could be created.
    package init(
        field: any RadioField, timing: TimeModel = .off, faults: InjectedSerialFaults = .none,
        serialLine: SerialLineModel = .plain, initialSpeed: Int = 115_200, link: String? = nil,
        observer: @escaping @Sendable () -> Void = {}
    ) throws(PseudoterminalError) {
        let terminal = try Pseudoterminal(link: link)
        let counters = ChipCounters()
        let stopSignal = try StopSignal()
        path = terminal.path
        self.link = link
        self.counters = counters
        self.stopSignal = stopSignal
        let line = PseudoterminalLine(terminal, stop: stopSignal)
        let chip = TransferredChip(
            PN532Chip(
                field: field, line: line, timing: timing, faults: faults, model: serialLine,
                initialSpeed: SerialSpeed(bitsPerSecond: initialSpeed) ?? .initial, counters: counters,
                observer: observer))
        thread = try WorkerThread { chip.value.run() }
    }

    /// Stops the chip and removes its serial port and link; further calls do nothing.
    package func stop() {
        stopSignal.give()
        thread.join()
    }

    deinit { stop() }

    /// Transfers the chip to the only thread that uses it from then on.
    private struct TransferredChip: @unchecked Sendable {
        let value: PN532Chip
        init(_ value: PN532Chip) { self.value = value }
    }
}

/// Statistics that one thread writes and another reads.
final class ChipCounters: Sendable {
    private let state = Mutex(ChipStatistics())

    var statistics: ChipStatistics { state.withLock { $0 } }

    func count(_ change: (inout ChipStatistics) -> Void) {
        state.withLock { change(&$0) }
    }
}

/// The counts of a simulated chip since it was started.
package struct ChipStatistics: Hashable, Sendable {
    /// The number of host commands received whole.
    package var hostCommands = 0
    /// The same by command code.
    package var commandsByCode: [UInt8: Int] = [:]
    /// The number of frames sent to cards, including the chip's own retries.
    package var exchanges = 0
    /// The number of exchanges that a card answered undamaged.
    package var answeredExchanges = 0
    /// The number of exchanges that were FeliCa Read Without Encryption.
    package var readCommands = 0
    /// The number of frames that the chip sent again by itself.
    package var retriedFrames = 0
    /// The number of bytes from the host.
    package var bytesFromHost = 0
    /// The number of bytes to the host.
    package var bytesToHost = 0
    /// How long these bytes take on the line, each at the speed that the chip had then.
    package var lineTime = Duration.zero
    /// The number of host frames with a wrong checksum.
    package var damagedFrames = 0
    /// The number of commands that the host aborted, by ACK or by another command.
    package var abortedCommands = 0
    /// The current speed of the chip's end of the serial line, in bits per second; a state, not a count.
    package var bitsPerSecond = 115_200

    /// Whether the field is on; a state, not a count.
    package var isFieldOn = false

    /// Creates zero counts.
    package init() {}
}
