// SPDX-License-Identifier: Apache-2.0

import NFCTransport
internal import Synchronization

/// A PN532 on a pseudo-terminal, served by a thread of its own.
///
/// Any program that speaks to a PN532 over a serial port can open ``path``, one after another, in this process or in
/// another one. The field is used on the server's thread until ``stop()`` returns.
///
///     let server = try PN532Server(field: field)
///     defer { server.stop() }
///     print(server.connectionString)   // pn532_uart:/dev/pts/3
package final class PN532Server: Sendable {
    /// The serial port's path, as `/dev/pts/3`.
    package let path: String
    /// The symbolic link that leads to it, when one was asked for.
    package let link: String?

    private let counters: ChipCounters
    private let thread: WorkerThread
    private let stopSignal: StopSignal

    /// What libnfc is to be given to open the chip; the link when there is one.
    package var connectionString: String { "pn532_uart:\(link ?? path)" }

    /// What the chip has counted so far.
    package var statistics: ChipStatistics { counters.statistics }

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
    package init(
        field: any RadioField, timing: TimeModel = .off, faults: InjectedSerialFaults = .none,
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
    package func stop() {
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

/// Statistics that one thread writes and another reads.
final class ChipCounters: Sendable {
    private let state = Mutex(ChipStatistics())

    var statistics: ChipStatistics { state.withLock { $0 } }

    func count(_ change: (inout ChipStatistics) -> Void) {
        state.withLock { change(&$0) }
    }
}

/// What a simulated chip has counted since it was started.
package struct ChipStatistics: Hashable, Sendable {
    /// Host commands that were received whole.
    package var hostCommands = 0
    /// The same by command code.
    package var commandsByCode: [UInt8: Int] = [:]
    /// Frames that were sent to cards, with the chip's own retries.
    package var exchanges = 0
    /// Those of them that a card answered undamaged.
    package var answeredExchanges = 0
    /// Those of them that were FeliCa Read Without Encryption.
    package var readCommands = 0
    /// Those of them that the chip sent again by itself.
    package var retriedFrames = 0
    /// Bytes that came from the host.
    package var bytesFromHost = 0
    /// Bytes that went to the host.
    package var bytesToHost = 0
    /// Host frames with a wrong checksum.
    package var damagedFrames = 0
    /// Commands that the host gave up, by ACK or by another command.
    package var abortedCommands = 0
    /// The present speed of the chip's end of the serial line, in bits a second; not counted, but as it is now.
    package var bitsPerSecond = 115_200

    /// Whether the field is on; not counted, but as it is now.
    package var isFieldOn = false

    /// Nothing counted yet.
    package init() {}
}

/// What a simulated chip really waits for, so that its clients take as long as they would with a real one.
///
/// Retries that last for ever and the period of InAutoPoll are waited for in any case, since the host asks for the time
/// itself. Figures: FeliCa bit rates are fc/64 and fc/32 with fc = 13.56 MHz; a packet has 6 bytes of preamble, 2 of
/// sync code and 2 of CRC around it (proxmark3 `armsrc/felica.c`).
package struct TimeModel: Hashable, Sendable {
    /// Nothing: answers come at once.
    package static let off = TimeModel(serialLine: false, radio: false)
    /// Everything.
    package static let full = TimeModel(serialLine: true, radio: true)

    /// Ten bits for each byte on the serial line, both ways, at the chip's present baud rate.
    package var serialLine: Bool
    /// Packets on air, the cards' thinking time, time slots of a Polling, and the chip's time-out when no answer comes.
    package var radio: Bool
    /// What the chip itself needs for one host command.
    package var chipOverhead: Duration

    /// A choice of what to wait for.
    package init(serialLine: Bool, radio: Bool, chipOverhead: Duration = .zero) {
        self.serialLine = serialLine
        self.radio = radio
        self.chipOverhead = chipOverhead
    }

    /// How long a frame is on air; of types A and B with CRC, parity bits and stop bits, 128 cycles a bit.
    ///
    /// - Parameter count: its bytes, of FeliCa with the LEN byte.
    static func airTime(_ count: Int, _ technology: RadioTechnology) -> Duration {
        switch technology {
        case .felica(let bitRate): carrierCycles(Int64(count + 10) * (bitRate == .kbps212 ? 512 : 256))
        case .typeA: carrierCycles(Int64(count + 2) * 9 * 128)
        case .typeB: carrierCycles(Int64(count + 4) * 10 * 128)
        }
    }

    /// The time between a Polling and the first time slot: 512 times 64 cycles of the carrier, 2.417 ms.
    static let firstTimeSlot = carrierCycles(512 * 64)
    /// The length of a time slot: 256 times 64 cycles, 1.208 ms.
    static let timeSlot = carrierCycles(256 * 64)

    /// How long nobody answers to a Polling before the reader is sure of it.
    static func pollingWindow(timeSlotNumber: UInt8) -> Duration {
        firstTimeSlot + timeSlot * (Int(timeSlotNumber) + 1)
    }

    /// How long an exchange takes on the field's clock: a Polling that nobody answers its time slots, another frame the
    /// time that it is on air.
    static func time(of frame: RadioFrame, _ outcome: FieldResult) -> Duration {
        let outward = airTime(frame.bytes.count, frame.technology)
        guard case .answer(let answer) = outcome else {
            let isPolling = if case .felica = frame.technology { frame.commandCode == 0x00 } else { false }
            return isPolling ? outward + pollingWindow(timeSlotNumber: frame.bytes.last ?? 0) : outward
        }
        return outward + answer.thinkingTime + airTime(answer.frame.count, frame.technology)
    }

    /// How long one look for a Type A card takes when there is none (a figure of the simulator's, as the next one).
    static let emptyTypeA = Duration.milliseconds(1)
    /// How long one look for a Type B card takes when there is none.
    static let emptyTypeB = Duration.milliseconds(5)

    /// 13.56 MHz: 1000 cycles take 73 746 ns.
    private static func carrierCycles(_ cycles: Int64) -> Duration {
        .nanoseconds(cycles * 1_000_000 / 13_560)
    }
}
