// SPDX-License-Identifier: Apache-2.0

internal import VirtualCards

/// The line between a simulated chip and its host.
///
/// When the two ends run at different speeds each samples the other's bits at the wrong moments, so the received bytes
/// are made of the same bits but are meaningless. A line with a limit behaves as if the sender ran at that limit.
package struct SerialLineModel: Hashable, Sendable {
    /// A line that carries every speed, between ends that must agree on it.
    package static let plain = SerialLineModel()

    /// Whether the ends must run at the same speed; otherwise every speed is understood.
    package var needsSameSpeed: Bool
    /// The highest speed towards the chip, in bits per second; `nil` for no limit.
    package var fastestToChip: Int?
    /// The highest speed towards the host, in bits per second; `nil` for no limit.
    package var fastestToHost: Int?
    /// What the line makes up before each frame of the chip, as when it toggles at wake-up.
    package var strayBytes: [UInt8]

    package init(
        needsSameSpeed: Bool = true, fastestToChip: Int? = nil, fastestToHost: Int? = nil, strayBytes: [UInt8] = []
    ) {
        self.strayBytes = strayBytes
        self.needsSameSpeed = needsSameSpeed
        self.fastestToChip = fastestToChip
        self.fastestToHost = fastestToHost
    }

    /// Returns the host's bytes as the chip receives them.
    func atChip(_ bytes: [UInt8], host: SerialSpeed?, chip: SerialSpeed) -> [UInt8] {
        arriving(bytes, from: host ?? chip, limit: fastestToChip, to: chip)
    }

    /// Returns the chip's bytes as the host receives them.
    func atHost(_ bytes: [UInt8], host: SerialSpeed?, chip: SerialSpeed) -> [UInt8] {
        arriving(strayBytes + bytes, from: chip, limit: fastestToHost, to: host ?? chip)
    }

    private func arriving(_ bytes: [UInt8], from: SerialSpeed, limit: Int?, to: SerialSpeed) -> [UInt8] {
        guard needsSameSpeed else { return bytes }
        let sent = min(Int(from.bitsPerSecond), max(limit ?? .max, 1))
        return SerialSampling.received(bytes, sentAt: sent, sampledAt: Int(to.bitsPerSecond))
    }
}

/// The bytes that a UART receives from bits sent at another speed than its own.
///
/// A byte is a start bit (low), eight data bits, least significant first, and a stop bit (high). A receiver waits for
/// the line to fall and then samples the middle of each expected bit. After a stop bit that is low it waits for the
/// line to rise.
enum SerialSampling {
    private static let bitsPerByte = 10

    /// Returns the received bytes, with speeds in bits per second; both speeds are above 0.
    static func received(_ bytes: [UInt8], sentAt: Int, sampledAt: Int) -> [UInt8] {
        guard sentAt != sampledAt else { return bytes }
        // In a unit in which both bit times are whole and even.
        let (sentBit, readBit) = (2 * sampledAt, 2 * sentAt)
        let end = bytes.count * bitsPerByte
        func isHigh(_ bit: Int) -> Bool {
            guard bit < end else { return true }
            let place = bit % bitsPerByte
            if place == 0 { return false }
            return place > 8 || bytes[bit / bitsPerByte] >> (place - 1) & 1 == 1
        }
        var received: [UInt8] = []
        var time = 0
        while true {
            var bit = time / sentBit
            while bit < end, isHigh(bit) { bit += 1 }
            guard bit < end else { return received }
            let start = max(time, bit * sentBit)
            func sample(_ place: Int) -> Bool { isHigh((start + place * readBit + readBit / 2) / sentBit) }
            received.append((0..<8).reduce(0) { sample($1 + 1) ? $0 | 1 << UInt8($1) : $0 })
            time = start + 9 * readBit + readBit / 2
            if !sample(9) {
                bit = time / sentBit
                while !isHigh(bit) { bit += 1 }
                time = bit * sentBit
            }
        }
    }
}

/// The speeds of the chip's serial line, in the order of SetSerialBaudRate's parameter.
package enum SerialSpeed: UInt8, CaseIterable, Sendable {
    case baud9600, baud19200, baud38400, baud57600, baud115200, baud230400, baud460800, baud921600, baud1288000

    /// The start value of a PN532.
    static let initial = SerialSpeed.baud115200

    /// Returns the speed of this many bits per second, `nil` when the chip does not support it.
    init?(bitsPerSecond: Int) {
        guard let speed = Self.allCases.first(where: { $0.bitsPerSecond == bitsPerSecond }) else { return nil }
        self = speed
    }

    /// The speed in bits per second.
    var bitsPerSecond: Int64 {
        switch self {
        case .baud9600: 9_600
        case .baud19200: 19_200
        case .baud38400: 38_400
        case .baud57600: 57_600
        case .baud115200: 115_200
        case .baud230400: 230_400
        case .baud460800: 460_800
        case .baud921600: 921_600
        case .baud1288000: 1_288_000
        }
    }

    /// The time of a byte, with its start and its stop bit.
    var byteTime: Duration { .nanoseconds(10_000_000_000 / bitsPerSecond) }
}

/// The chip's end of the serial line, and its clock.
package protocol HostLine: AnyObject {
    /// The time since an arbitrary start.
    var now: Duration { get }

    /// The speed of the host's end; `nil` when the line does not report it.
    var hostSpeed: SerialSpeed? { get }

    /// Waits for bytes from the host, forever when there is no deadline.
    func read(until deadline: Duration?) -> LineEvent

    /// Sends bytes; any that the host does not accept are lost, as on a real line.
    func write(_ bytes: [UInt8])

    /// Waits without listening.
    func sleep(until deadline: Duration)
}

extension HostLine {
    package var hostSpeed: SerialSpeed? { nil }
}

/// The end of a wait on the serial line.
package enum LineEvent: Hashable, Sendable {
    /// The host sent bytes.
    case bytes([UInt8])
    /// The deadline has passed.
    case deadline
    /// The chip must stop.
    case closed
}

/// A fault of one host command between chip and host.
package enum InjectedSerialFault: Hashable, Sendable {
    /// The chip did not receive the command: neither ACK nor answer, and nothing is executed.
    case noAcknowledge
    /// The command is acknowledged and executed, and its answer is lost.
    case acknowledgeOnly
    /// NACK instead of ACK; nothing is executed.
    case notAcknowledge
    /// ACK, then the chip's syntax error frame; nothing is executed.
    case syntaxError
    /// The answer's data checksum is off by one.
    case wrongDataChecksum
    /// The answer's length checksum is off by one.
    case wrongLengthChecksum
    /// Only the first `count` bytes of the answer frame arrive.
    case truncated(count: Int)
    /// These bytes precede the answer frame.
    case junkBefore([UInt8])
    /// The first `count` bytes of the answer frame, a pause, the rest.
    case split(count: Int, pause: Duration)
    /// The answer comes this much later, unless the host aborts or sends another command before.
    case late(Duration)
    /// The answer frame is sent twice.
    case twice
    /// These bits are set in the answer's status byte; bit 7 (80) makes libnfc 1.8.0 call `abort()`.
    case statusBits(UInt8)
    /// The chip receives but never answers from this command on.
    case dead
    /// The chip loses its power for a moment instead of executing the command, as with a weak supply when the field goes on:
    /// it is at its first speed again, has lost its settings and its card, sleeps until it is woken, and then answers nothing
    /// before SAMConfiguration (PN532 user manual UM0701-02, 7.2.10).
    case brownout
}

/// The host command at which a fault happens.
package enum InjectedSerialFaultPlace: Hashable, Sendable {
    /// The command with this number; the first since the chip was started is 1.
    case command(Int)
    /// The command with this code (42 for InCommunicateThru) after `after` others of the same code.
    case code(UInt8, after: Int = 0)
    /// Every command with this code and this first parameter, as item 5 of RFConfiguration.
    case every(UInt8, item: UInt8)
}

/// The faults of a serial line: at most one at each host command.
package struct InjectedSerialFaults: Hashable, Sendable {
    package static let none = InjectedSerialFaults([:])

    package var faults: [InjectedSerialFaultPlace: InjectedSerialFault]

    /// Creates a plan of these faults; where a command is named by number and by code, the number wins.
    package init(_ faults: [InjectedSerialFaultPlace: InjectedSerialFault]) {
        self.faults = faults
    }

    /// Returns the fault of the command with this number, preceded by `before` others with the same code.
    func fault(number: Int, code: UInt8, item: UInt8? = nil, before: Int) -> InjectedSerialFault? {
        faults[.command(number)] ?? faults[.code(code, after: before)]
            ?? item.flatMap { faults[.every(code, item: $0)] }
    }
}
