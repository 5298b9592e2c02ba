// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders

/// Arithmetic on days, which `CalendarDate` has not.
enum CalendarDays {
    /// The number of a day on a straight scale, counted from 1 March of the year 0 (Howard Hinnant's `days_from_civil`).
    static func number(_ date: CalendarDate) -> Int {
        let year = date.month <= 2 ? date.year - 1 : date.year
        let month = (date.month + 9) % 12
        return year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date.day - 1
    }

    /// The day of a number; `nil` outside of the years that a date can have.
    static func date(_ number: Int) -> CalendarDate? {
        guard number >= 0 else { return nil }
        let era = number / 146_097
        let day = number % 146_097
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let rest = day - (365 * year + year / 4 - year / 100)
        let month = (5 * rest + 2) / 153
        return CalendarDate(
            year: era * 400 + year + (month < 10 ? 0 : 1), month: month < 10 ? month + 3 : month - 9,
            day: rest - (153 * month + 2) / 5 + 1)
    }

    /// The day of the week, 0 for Monday to 6 for Sunday.
    static func weekday(_ date: CalendarDate) -> Int { (number(date) + 2) % 7 }

    /// The week of a day by ISO 8601, as in `2026-W47`: it belongs to the year that has its Thursday.
    static func week(_ date: CalendarDate) -> String {
        let thursday = number(date) - weekday(date) + 3
        guard let middle = self.date(thursday), let first = CalendarDate(year: middle.year, month: 1, day: 1) else {
            return ""
        }
        let week = (thursday - number(first)) / 7 + 1
        return "\(middle.year)-W\(week < 10 ? "0" : "")\(week)"
    }
}
