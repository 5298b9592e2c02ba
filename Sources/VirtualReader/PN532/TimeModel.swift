// SPDX-License-Identifier: Apache-2.0

import NFCTransport

/// What a simulated chip really waits for, so that its clients take as long as they would with a real one.
///
/// Retries that last for ever and the period of InAutoPoll are waited for in any case, since the host asks for the time
/// itself. Figures: FeliCa bit rates are fc/64 and fc/32 with fc = 13.56 MHz; a packet has 6 bytes of preamble, 2 of
/// sync code and 2 of CRC around it (proxmark3 `armsrc/felica.c`).
public struct TimeModel: Hashable, Sendable {
    /// Nothing: answers come at once.
    public static let off = TimeModel(serialLine: false, radio: false)
    /// Everything.
    public static let full = TimeModel(serialLine: true, radio: true)

    /// Ten bits for each byte on the serial line, both ways, at the chip's present baud rate.
    public var serialLine: Bool
    /// Packets on air, the cards' thinking time, time slots of a Polling, and the chip's time-out when no answer comes.
    public var radio: Bool
    /// What the chip itself needs for one host command.
    public var chipOverhead: Duration

    /// A choice of what to wait for.
    public init(serialLine: Bool, radio: Bool, chipOverhead: Duration = .zero) {
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
    static func time(of frame: RadioFrame, _ outcome: FieldOutcome) -> Duration {
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
