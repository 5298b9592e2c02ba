// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ReaderCore

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
    package static func airTime(_ count: Int, _ technology: RadioTechnology, _ rate: ISOBitRate = .kbps106) -> Duration
    {
        let bit: Int64 = 128 >> Int64(rate.rawValue)
        return switch technology {
        case .felica(let bitRate): carrierCycles(Int64(count + 10) * (bitRate == .kbps212 ? 512 : 256))
        case .typeA: carrierCycles(Int64(count + 2) * 9 * bit)
        case .typeB: carrierCycles(Int64(count + 4) * 10 * bit)
        }
    }

    /// The time between a Polling and the first time slot: 512 times 64 cycles of the carrier, 2.417 ms.
    package static let firstTimeSlot = carrierCycles(512 * 64)
    /// The length of a time slot: 256 times 64 cycles, 1.208 ms.
    static let timeSlot = carrierCycles(256 * 64)

    /// How long a Polling must go unanswered before the reader can be sure.
    package static func pollingWindow(timeSlotNumber: UInt8) -> Duration {
        firstTimeSlot + timeSlot * (Int(timeSlotNumber) + 1)
    }

    /// The time of an exchange on the field's clock. An unanswered Polling takes its time slots, another frame its time
    /// on air.
    package static func time(of frame: RadioFrame, _ outcome: FieldResult) -> Duration {
        let outward = airTime(frame.bytes.count, frame.technology, frame.bitRate)
        guard case .answer(let answer) = outcome else {
            let isPolling = if case .felica = frame.technology { frame.commandCode == 0x00 } else { false }
            return isPolling ? outward + pollingWindow(timeSlotNumber: frame.bytes.last ?? 0) : outward
        }
        return outward + answer.thinkingTime + airTime(answer.frame.count, frame.technology, answer.bitRate)
    }

    /// The time of one search for a Type A card when there is none (the simulator's own figure, like the next one).
    package static let emptyTypeA = Duration.milliseconds(1)
    /// The time of one search for a Type B card when there is none.
    package static let emptyTypeB = Duration.milliseconds(5)

    /// 13.56 MHz: 1000 cycles take 73 746 ns.
    private static func carrierCycles(_ cycles: Int64) -> Duration {
        .nanoseconds(cycles * 1_000_000 / 13_560)
    }
}
