// SPDX-License-Identifier: Apache-2.0

/// Times as milliseconds since 1970-01-01T00:00:00Z, and as ISO 8601.
enum UnixTime {
    /// Returns a time in UTC, to the second, or to the millisecond if it is not zero: `2026-11-20T03:34:56Z`.
    static func text(milliseconds: Int64) -> String {
        let (days, rest) = quotient(milliseconds, 86_400_000)
        let (year, month, day) = date(daysSince1970: days)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { digits($0, 2) }
        let fraction = rest % 1000 == 0 ? "" : "." + digits(rest % 1000, 3)
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(clock.joined(separator: ":"))\(fraction)Z"
    }

    /// Parses `2026-11-20T12:34:56+09:00` or `…Z`, with or without a fraction; `nil` for anything else.
    static func milliseconds(_ text: String) -> Int64? {
        let utf8 = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= utf8.count, utf8[range].allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
            return utf8[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        var rest = utf8[19...]
        var milliseconds: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { 0x30...0x39 ~= $0 }
            let three = fraction.prefix(3)
            milliseconds = three.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
            for _ in three.count..<3 { milliseconds *= 10 }
            rest = rest.dropFirst(1 + fraction.count)
        }
        let start = rest.startIndex
        let offset: Int64
        if rest.elementsEqual([UInt8(ascii: "Z")]) {
            offset = 0
        } else if rest.count == 6, let hours = number(start + 1..<start + 3),
            let minutes = number(start + 4..<start + 6),
            let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")
        {
            offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "+") ? 1 : -1)
        } else {
            return nil
        }
        let days = days(year, month, day)
        return (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + milliseconds
    }

    /// Computes the proleptic Gregorian date by counting days in eras of 400 years from 1 March.
    private static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = quotient(daysSince1970 + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let (era, yearOfEra) = quotient(month <= 2 ? year - 1 : year, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func quotient(_ number: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let floor = number >= 0 ? number / divisor : (number - divisor + 1) / divisor
        return (floor, number - floor * divisor)
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
