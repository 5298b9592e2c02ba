// SPDX-License-Identifier: Apache-2.0

/// What lies between a simulated chip and its host.
///
/// When the two ends run at different speeds each samples the other's bits at the wrong moments, so what arrives is
/// made of the same bits and means nothing. A line with a limit behaves as if the sender ran at that limit.
package struct SerialLineModel: Hashable, Sendable {
    /// A line that carries every speed, between ends that must agree on it.
    package static let plain = SerialLineModel()

    /// Whether the ends must run at the same speed; without it every speed is understood.
    package var needsSameSpeed: Bool
    /// The highest speed towards the chip, in bits a second; `nil` for no limit.
    package var fastestToChip: Int?
    /// The highest speed towards the host, in bits a second; `nil` for no limit.
    package var fastestToHost: Int?

    /// A line with these limits.
    package init(needsSameSpeed: Bool = true, fastestToChip: Int? = nil, fastestToHost: Int? = nil) {
        self.needsSameSpeed = needsSameSpeed
        self.fastestToChip = fastestToChip
        self.fastestToHost = fastestToHost
    }

    /// What the chip makes of the host's bytes.
    func atChip(_ bytes: [UInt8], host: SerialSpeed?, chip: SerialSpeed) -> [UInt8] {
        arriving(bytes, from: host ?? chip, limit: fastestToChip, to: chip)
    }

    /// What the host makes of the chip's bytes.
    func atHost(_ bytes: [UInt8], host: SerialSpeed?, chip: SerialSpeed) -> [UInt8] {
        arriving(bytes, from: chip, limit: fastestToHost, to: host ?? chip)
    }

    private func arriving(_ bytes: [UInt8], from: SerialSpeed, limit: Int?, to: SerialSpeed) -> [UInt8] {
        guard needsSameSpeed else { return bytes }
        let sent = min(Int(from.bitsPerSecond), max(limit ?? .max, 1))
        return SerialSampling.received(bytes, sentAt: sent, sampledAt: Int(to.bitsPerSecond))
    }
}

/// What a UART reads from bits that were sent at another speed than its own.
///
/// A byte is a start bit (low), eight data bits, least significant first, and a stop bit (high). A receiver waits for
/// the line to fall and then looks at the middle of each bit, as long as it believes bits to be. After a stop bit that
/// is low it waits for the line to rise.
enum SerialSampling {
    private static let bitsPerByte = 10

    /// The bytes that a receiver makes of these, in bits a second; both speeds are above 0.
    static func received(_ bytes: [UInt8], sentAt: Int, sampledAt: Int) -> [UInt8] {
        guard sentAt != sampledAt else { return bytes }
        // In a unit in which both bits are whole and even.
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
enum SerialSpeed: UInt8, CaseIterable, Sendable {
    case baud9600, baud19200, baud38400, baud57600, baud115200, baud230400, baud460800, baud921600, baud1288000

    /// What a PN532 starts with.
    static let initial = SerialSpeed.baud115200

    /// The speed of so many bits a second, `nil` when the chip has none such.
    init?(bitsPerSecond: Int) {
        guard let speed = Self.allCases.first(where: { $0.bitsPerSecond == bitsPerSecond }) else { return nil }
        self = speed
    }

    /// Bits a second.
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

    /// How long a byte takes, with its start and its stop bit.
    var byteTime: Duration { .nanoseconds(10_000_000_000 / bitsPerSecond) }
}

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

/// How a wait on the serial line ended.
enum LineEvent: Hashable, Sendable {
    /// The host sent something.
    case bytes([UInt8])
    /// The time is over.
    case deadline
    /// The chip is to stop.
    case closed
}

/// A way in which one host command goes wrong between chip and host.
package enum InjectedSerialFault: Hashable, Sendable {
    /// The chip did not hear the command: neither ACK nor answer, and nothing is carried out.
    case noAcknowledge
    /// The command is acknowledged and carried out, and its answer is lost.
    case acknowledgeOnly
    /// NACK in the place of ACK; nothing is carried out.
    case notAcknowledge
    /// ACK, then the chip's syntax error frame; nothing is carried out.
    case syntaxError
    /// The answer's data checksum is off by one.
    case wrongDataChecksum
    /// The answer's length checksum is off by one.
    case wrongLengthChecksum
    /// Only the first `count` bytes of the answer frame arrive.
    case truncated(count: Int)
    /// These bytes stand before the answer frame.
    case junkBefore([UInt8])
    /// The first `count` bytes of the answer frame, a pause, the rest.
    case split(count: Int, pause: Duration)
    /// The answer comes this much later, unless the host gives up or asks something else before.
    case late(Duration)
    /// The answer frame is sent twice.
    case twice
    /// These bits are set in the answer's status byte; bit 7 (80) makes libnfc 1.8.0 call `abort()`.
    case statusBits(UInt8)
    /// The chip hears and says nothing from this command on.
    case dead
}

/// Which host command a fault happens at.
package enum InjectedSerialFaultPlace: Hashable, Sendable {
    /// The command with this number; the first since the chip was started is 1.
    case command(Int)
    /// The command with this code (42 for InCommunicateThru) that comes after `after` others of the same code.
    case code(UInt8, after: Int = 0)
}

/// The faults of a serial line: at most one at each host command.
package struct InjectedSerialFaults: Hashable, Sendable {
    /// Nothing goes wrong.
    package static let none = InjectedSerialFaults([:])

    /// What goes wrong where.
    package var faults: [InjectedSerialFaultPlace: InjectedSerialFault]

    /// A plan of these faults; where a command is named by number and by code, the number wins.
    package init(_ faults: [InjectedSerialFaultPlace: InjectedSerialFault]) {
        self.faults = faults
    }

    /// The fault of the command with this number, before which `before` others with the same code came.
    func fault(number: Int, code: UInt8, before: Int) -> InjectedSerialFault? {
        faults[.command(number)] ?? faults[.code(code, after: before)]
    }
}
