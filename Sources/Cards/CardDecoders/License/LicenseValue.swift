// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// The value of an item of a license.
@nonexhaustive
public enum LicenseValue: Hashable, Sendable {
    /// The item is empty: the card has no value for it.
    case absent
    /// A JIS X 0208 text.
    case text(JISText)
    /// JIS X 0201 characters.
    case code(String)
    /// A date, which can be empty.
    case date(LicenseDate)
    /// The edition and the days in the free data.
    case edition(LicenseEdition)
    /// A later entry.
    case entry(LicenseLaterEntry)
    /// Yes or no.
    case flag(Bool)
    /// Bytes that are not valid for this item.
    case bytes([UInt8])

    /// The value for display; bytes as hexadecimal digits, an empty string for ``absent``.
    public var words: LocalizedText {
        func both(_ text: String) -> LocalizedText { LocalizedText(text, text) }
        return switch self {
        case .absent: both("")
        case .text(let text): both(text.description)
        case .code(let text): both(text)
        case .date(let date): date.text
        case .edition(let edition): both(edition.version ?? "")
        case .entry(let entry): both(entry.text.description)
        case .flag(let flag): flag ? LocalizedText("yes", "はい") : LocalizedText("no", "いいえ")
        case .bytes(let bytes): both(Hex.encode(bytes))
        }
    }
}

/// A date on a license: a digit for the era, then year of the era, month and day of two digits each.
public enum LicenseDate: Hashable, Sendable {
    /// A valid day.
    case day(EraDate)
    /// Year, month and day are all 0: no date, as for a category that is not held.
    case none
    /// Anything else, including invalid dates: the bytes.
    case invalid([UInt8])

    /// Decodes a date of seven ASCII digits.
    package init(_ bytes: some Collection<UInt8>) {
        guard let digits = CardText.digits(bytes, count: 7) else {
            self = .invalid(Array(bytes))
            return
        }
        func two(_ place: Int) -> Int { digits[place] * 10 + digits[place + 1] }
        if digits.dropFirst().allSatisfy({ $0 == 0 }) {
            self = .none
        } else if let era = Era(rawValue: digits[0]),
            let date = EraDate(era: era, yearOfEra: two(1), month: two(3), day: two(5))
        {
            self = .day(date)
        } else {
            self = .invalid(Array(bytes))
        }
    }

    /// Decodes a date of seven JIS X 0208 digits, as in later entries.
    package init(fullWidth bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        let places = stride(from: 0, to: bytes.count, by: 2)
        // The digits in row 3 of JIS X 0208 have the same positions as in ASCII.
        guard places.allSatisfy({ bytes.element(at: $0) == 0x23 }) else {
            self = .invalid(bytes)
            return
        }
        self.init(places.compactMap { bytes.element(at: $0 + 1) })
        if case .invalid = self { self = .invalid(bytes) }
    }

    /// The day, or `nil` if it is not valid.
    public var day: EraDate? {
        if case .day(let date) = self { date } else { nil }
    }

    /// The day in both notations; an invalid date in hexadecimal digits.
    public var text: LocalizedText {
        switch self {
        case .day(let date): date.text
        case .none: LocalizedText("none", "なし")
        case .invalid(let bytes):
            LocalizedText("{\(Hex.encode(bytes, uppercase: true))}", "{\(Hex.encode(bytes, uppercase: true))}")
        }
    }
}

/// A day in the notation of Japanese documents: era, year of the era, month, day.
///
/// Years count on from the first year of the era; for 平成 also beyond the era's end: licenses of 2018 are valid until
/// 平成35年, which is 2023. 大正64年 was never written on anything.
public struct EraDate: Hashable, Sendable {
    /// The era given on the card.
    public let era: Era
    /// The year of the era, 1 to 99.
    public let yearOfEra: Int
    /// The day of the Gregorian calendar.
    public let date: CalendarDate

    /// Creates a day, or `nil` for an invalid date, a year outside 1 to 99, or a year after the era's last.
    package init?(era: Era, yearOfEra: Int, month: Int, day: Int) {
        guard (1...99).contains(yearOfEra),
            let date = CalendarDate(year: era.firstYear + yearOfEra - 1, month: month, day: day),
            date.year <= era.lastYear ?? .max
        else { return nil }
        self.era = era
        self.yearOfEra = yearOfEra
        self.date = date
    }

    /// As in `昭和50年6月1日`.
    package var japanese: String {
        "\(era.name.japanese)\(yearOfEra == 1 ? "元" : String(yearOfEra))年\(date.month)月\(date.day)日"
    }

    /// The day in both notations, as in `1975-06-01 (Showa 50)` and `1975-06-01（昭和50年6月1日）`.
    public var text: LocalizedText {
        LocalizedText("\(date) (\(era.name.english) \(yearOfEra))", "\(date)（\(japanese)）")
    }
}

/// A Japanese era; the raw values are the digits used on a license.
public enum Era: Int, Hashable, Sendable, CaseIterable {
    /// 明治.
    case meiji = 1
    /// 大正.
    case taisho = 2
    /// 昭和.
    case showa = 3
    /// 平成.
    case heisei = 4
    /// 令和.
    case reiwa = 5

    /// The Gregorian year of the era's year 1.
    package var firstYear: Int { facts.first }

    /// The Gregorian year in which the era ended, or `nil` where dates were written beyond its end.
    ///
    /// Licenses of 2018 are valid until 平成35年, since the name of the next era was not known when they were printed.
    var lastYear: Int? { facts.last }

    /// The display name.
    public var name: LocalizedText { LocalizedText(facts.english, facts.japanese) }

    private var facts: (first: Int, last: Int?, english: String, japanese: String) {
        switch self {
        case .meiji: (1868, 1912, "Meiji", "明治")
        case .taisho: (1912, 1926, "Taisho", "大正")
        case .showa: (1926, 1989, "Showa", "昭和")
        case .heisei: (1989, nil, "Heisei", "平成")
        case .reiwa: (2019, nil, "Reiwa", "令和")
        }
    }
}

/// Single-byte texts on a license.
enum LicenseText {
    /// The JIS X 0201 text (printable ASCII and half-width katakana) without trailing blanks; `nil` for any other byte.
    static func jisX0201(_ bytes: some Collection<UInt8>) -> String? {
        var text = String.UnicodeScalarView()
        let padding = bytes.reversed().prefix { $0 == 0x20 || $0 == 0x00 }.count
        for byte in bytes.dropLast(padding) {
            switch byte {
            case 0x20...0x7E: text.append(Unicode.Scalar(byte))
            case 0xA1...0xDF: text.append(Unicode.Scalar(0xFF61 + UInt32(byte) - 0xA1) ?? "?")
            default: return nil
            }
        }
        return String(text)
    }
}
