// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

extension IDm {
    /// The day on which the chip was made, as far as the IDm says: bytes 4 and 5, little-endian, in days since
    /// 2000-01-01; 0 is not a day.
    ///
    /// `nil` for manufacturer code 2E, whose cards count otherwise, and for random IDs (x1FE to x5FE). Source:
    /// Proxmark3, whose reading fits all published cards with a known day of issue or first use.
    package var manufactureDay: CalendarDate? {
        guard let maker = bytes.element(at: 1), maker != 0x2E, maker != 0xFE, let low = bytes.element(at: 4),
            let high = bytes.element(at: 5)
        else { return nil }
        let days = UInt16(high) << 8 | UInt16(low)
        return days == 0 ? nil : CalendarDate(daysSince2000: days)
    }
}

extension CardIdentity {
    /// The day on which the chip was made according to its IDm, unless that is after the day of reading: an IDm that was
    /// made up or masked, or of a maker with another scheme.
    package func manufactureDay(readOn day: CalendarDate) -> CalendarDate? {
        guard let made = idm?.manufactureDay, made <= day else { return nil }
        return made
    }
}

extension CalendarDate {
    /// Writes `manufactured` of a card: the day, and that it follows from the IDm.
    package func writeManufactured(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.member("date", self)
            $0.member("from", "idm")
        }
    }
}
