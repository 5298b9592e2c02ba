// SPDX-License-Identifier: Apache-2.0

import ReaderCore
internal import Synchronization

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

/// The actual waits of a simulated chip, so that its clients take as long as they would with a real one.
///
/// Endless retries and the period of InAutoPoll are waited for in any case, since the host itself requests the time.
/// Figures: FeliCa bit rates are fc/64 and fc/32 with fc = 13.56 MHz; a packet has 6 bytes of preamble, 2 of sync code
/// and 2 of CRC around it (proxmark3 `armsrc/felica.c`).
package struct TimeModel: Hashable, Sendable {
    /// No waits: answers come immediately.
    package static let off = TimeModel(serialLine: false, radio: false)
    /// All waits.
    package static let full = TimeModel(serialLine: true, radio: true)

    /// Ten bits for each byte on the serial line, both ways, at the chip's current baud rate.
    package var serialLine: Bool
    /// Packets on air, the cards' response time, time slots of a Polling, and the chip's time-out when no answer comes.
    package var radio: Bool
    /// The chip's own time for one host command.
    package var chipOverhead: Duration

    package init(serialLine: Bool, radio: Bool, chipOverhead: Duration = .zero) {
        self.serialLine = serialLine
        self.radio = radio
        self.chipOverhead = chipOverhead
    }

    /// How long a frame is on air; for types A and B with CRC, parity bits and stop bits, 128 cycles per bit at 106 kbit/s.
    ///
    /// - Parameters:
    ///   - count: its number of bytes, for FeliCa with the LEN byte.
    ///   - rate: its speed, for types A and B.
    static func airTime(_ count: Int, _ technology: RadioTechnology, _ rate: ISOBitRate = .kbps106) -> Duration {
        let bit: Int64 = 128 >> Int64(rate.rawValue)
        return switch technology {
        case .felica(let bitRate): carrierCycles(Int64(count + 10) * (bitRate == .kbps212 ? 512 : 256))
        case .typeA: carrierCycles(Int64(count + 2) * 9 * bit)
        case .typeB: carrierCycles(Int64(count + 4) * 10 * bit)
        }
    }

    /// The time between a Polling and the first time slot: 512 times 64 cycles of the carrier, 2.417 ms.
    static let firstTimeSlot = carrierCycles(512 * 64)
    /// The length of a time slot: 256 times 64 cycles, 1.208 ms.
    static let timeSlot = carrierCycles(256 * 64)

    /// How long a Polling must go unanswered before the reader can be sure.
    static func pollingWindow(timeSlotNumber: UInt8) -> Duration {
        firstTimeSlot + timeSlot * (Int(timeSlotNumber) + 1)
    }

    /// The time of an exchange on the field's clock. An unanswered Polling takes its time slots, another frame its time
    /// on air.
    static func time(of frame: RadioFrame, _ outcome: FieldResult) -> Duration {
        let outward = airTime(frame.bytes.count, frame.technology, frame.bitRate)
        guard case .answer(let answer) = outcome else {
            let isPolling = if case .felica = frame.technology { frame.commandCode == 0x00 } else { false }
            return isPolling ? outward + pollingWindow(timeSlotNumber: frame.bytes.last ?? 0) : outward
        }
        return outward + answer.thinkingTime + airTime(answer.frame.count, frame.technology, answer.bitRate)
    }

    /// The time of one search for a Type A card when there is none (the simulator's own figure, like the next one).
    static let emptyTypeA = Duration.milliseconds(1)
    /// The time of one search for a Type B card when there is none.
    static let emptyTypeB = Duration.milliseconds(5)

    /// 13.56 MHz: 1000 cycles take 73 746 ns.
    private static func carrierCycles(_ cycles: Int64) -> Duration {
        .nanoseconds(cycles * 1_000_000 / 13_560)
    }
}
