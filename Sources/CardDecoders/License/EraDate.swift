// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A day as Japanese documents write it: era, year of the era, month, day.
///
/// The year is counted on from the era's first one, in 平成 also beyond the era's end: licences of 2018 are valid until
/// 平成35年, and that is 2023. 大正64年 was never written on anything.
public struct EraDate: Hashable, Sendable {
    /// The era as the card names it.
    public let era: Era
    /// The year of the era, 1 to 99.
    public let yearOfEra: Int
    /// The day of the Gregorian calendar.
    public let date: CalendarDate

    /// A day, or `nil` when the calendar has none like it, the year is not 1 to 99, or the era had ended before that year.
    public init?(era: Era, yearOfEra: Int, month: Int, day: Int) {
        guard (1...99).contains(yearOfEra),
            let date = CalendarDate(year: era.firstYear + yearOfEra - 1, month: month, day: day),
            date.year <= era.lastYear ?? .max
        else { return nil }
        self.era = era
        self.yearOfEra = yearOfEra
        self.date = date
    }

    /// As in `昭和50年6月1日`.
    public var japanese: String {
        "\(era.name.japanese)\(yearOfEra == 1 ? "元" : String(yearOfEra))年\(date.month)月\(date.day)日"
    }

    /// Both forms, as in `1975-06-01 (Showa 50)` and `昭和50年6月1日（1975-06-01）`.
    public var text: LocalizedText {
        LocalizedText("\(date) (\(era.name.english) \(yearOfEra))", "\(japanese)（\(date)）")
    }
}
