// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A Japanese era; the raw values are the digits by which a licence names it.
public enum Era: Int, Hashable, Sendable, CaseIterable {
    /// 明治
    case meiji = 1
    /// 大正
    case taisho = 2
    /// 昭和
    case showa = 3
    /// 平成
    case heisei = 4
    /// 令和
    case reiwa = 5

    /// The year of the Gregorian calendar that is its year 1.
    public var firstYear: Int {
        switch self {
        case .meiji: 1868
        case .taisho: 1912
        case .showa: 1926
        case .heisei: 1989
        case .reiwa: 2019
        }
    }

    /// The year of the Gregorian calendar in which it ended, or `nil` where dates were written in it beyond its end:
    /// licences of 2018 are valid until 平成35年, since the name of the next era was not known when they were printed.
    var lastYear: Int? {
        switch self {
        case .meiji: 1912
        case .taisho: 1926
        case .showa: 1989
        case .heisei, .reiwa: nil
        }
    }

    /// The name for people.
    public var name: LocalizedText {
        switch self {
        case .meiji: LocalizedText("Meiji", "明治")
        case .taisho: LocalizedText("Taisho", "大正")
        case .showa: LocalizedText("Showa", "昭和")
        case .heisei: LocalizedText("Heisei", "平成")
        case .reiwa: LocalizedText("Reiwa", "令和")
        }
    }
}
