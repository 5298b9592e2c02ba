// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

@testable import CardDecoders

@Suite("Dates and times of cards")
struct DateAndTimeTests {
    /// The number of a day counted from 2000-01-01 by another way than the product's: closed form over centuries.
    private func dayNumber(_ date: CalendarDate) -> Int {
        let (year, month) = date.month > 2 ? (date.year, date.month) : (date.year - 1, date.month + 12)
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5 + date.day - 1 - 730_425
    }

    @Test("Every number of days is the day that is that far from 2000-01-01")
    func days() {
        for days in UInt16.min...UInt16.max {
            let date = CalendarDate(daysSince2000: days)
            guard dayNumber(date) == Int(days) else {
                Issue.record("\(days) gave \(date)")
                return
            }
        }
    }

    @Test("Of all packed dates exactly the days of 128 years are dates")
    func packed() {
        let dates = (UInt16.min...UInt16.max).compactMap { CalendarDate(packed: $0) }
        #expect(dates.count == 128 * 365 + 31)
        #expect(dates == dates.sorted())
        #expect(dates.first?.description == "2000-01-01")
        #expect(dates.last?.description == "2127-12-31")
    }

    @Test(
        "Days that do not exist",
        arguments: [(2011, 2, 29), (2100, 2, 29), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (0, 1, 1)])
    func impossible(_ year: Int, _ month: Int, _ day: Int) {
        #expect(CalendarDate(year: year, month: month, day: day) == nil)
    }

    @Test(
        "The day after",
        arguments: [
            ("2026-01-30", "2026-01-31"), ("2026-01-31", "2026-02-01"), ("2026-02-28", "2026-03-01"),
            ("2024-02-28", "2024-02-29"), ("2026-12-31", "2027-01-01"), ("9999-12-31", nil),
        ])
    func next(day: String, expected: String?) {
        #expect(CalendarDate(day)?.next?.description == expected)
    }

    @Test("Leap days that exist", arguments: [2000, 2024, 2400])
    func leapDays(_ year: Int) {
        #expect(CalendarDate(year: year, month: 2, day: 29) != nil)
    }

    @Test("Times of the day")
    func times() {
        #expect(ClockTime(secondsSinceMidnight: 0)?.description == "00:00:00")
        #expect(ClockTime(secondsSinceMidnight: 86_399)?.description == "23:59:59")
        #expect(ClockTime(secondsSinceMidnight: 86_400) == nil)
        #expect(ClockTime(secondsSinceMidnight: .max) == nil)
        #expect(ClockTime(hour: 9, minute: 5)?.description == "09:05")
        #expect(ClockTime(hour: 24, minute: 0) == nil)
        #expect(ClockTime(hour: 0, minute: 60) == nil)
        #expect(ClockTime(hour: 0, minute: 0, second: 60) == nil)
        #expect(ClockTime(hour: -1, minute: 0) == nil)
    }

    @Test("Writes incomplete dates and times without the missing parts, if they are valid")
    func partial() {
        #expect(PartialMoment(month: 2, day: 29)?.dayText == "--02-29")
        #expect(PartialMoment(month: 2, day: 29)?.hourText == nil)
        #expect(PartialMoment(hour: 9)?.hourText == "09:--")
        #expect(PartialMoment(hour: 0)?.dayText == nil)
        #expect(PartialMoment(hour: 0)?.json.compactText == #"{"hour":0}"#)
        #expect(PartialMoment(month: 3, day: 9)?.json.compactText == #"{"month":3,"day":9}"#)
        for (month, day) in [(0, 1), (13, 1), (2, 30), (4, 31), (1, 0), (-1, -1)] {
            #expect(PartialMoment(month: month, day: day) == nil)
        }
        #expect(PartialMoment(hour: 24) == nil && PartialMoment(hour: -1) == nil)
    }
}
