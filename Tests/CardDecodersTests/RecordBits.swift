// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport

/// Sixteen bytes that are filled bit by bit; bit 0 is the highest of the first byte.
struct RecordBits {
    private(set) var bytes = [UInt8](repeating: 0, count: 16)

    /// Writes the low `count` bits of a number, the highest first.
    mutating func put(_ value: Int, _ bit: Int, _ count: Int) {
        for place in 0..<count where value >> (count - 1 - place) & 1 == 1 {
            bytes[(bit + place) / 8] |= 0x80 >> UInt8((bit + place) % 8)
        }
    }

    /// Writes whole bytes from a byte on, the lowest first.
    mutating func putLittle(_ value: Int, byte: Int, _ count: Int) {
        for place in 0..<count { put(value >> (8 * place) & 0xFF, (byte + place) * 8, 8) }
    }

    /// Writes pairs of decimal digits from a byte on, the highest first.
    mutating func putDecimal(_ value: Int, byte: Int, _ count: Int) {
        var rest = value
        for place in (0..<count).reversed() {
            put(rest % 100 / 10 * 16 + rest % 10, (byte + place) * 8, 8)
            rest /= 100
        }
    }

    var block: Block { Block(bytes) ?? .zero }
}

/// What a record may say.
struct RecordValues {
    let year, month, day, hour, minute, second: Int
    let one, two, three, four: Int

    init(_ random: inout SeededGenerator) {
        year = Int.random(in: 2020...2035, using: &random)
        month = Int.random(in: 1...12, using: &random)
        day = Int.random(in: 1...28, using: &random)
        hour = Int.random(in: 0...23, using: &random)
        minute = Int.random(in: 0...59, using: &random)
        second = Int.random(in: 0...59, using: &random)
        one = Int.random(in: 1..<1 << 32, using: &random)
        two = Int.random(in: 1..<1 << 32, using: &random)
        three = Int.random(in: 1..<1 << 32, using: &random)
        four = Int.random(in: 1..<1 << 32, using: &random)
    }

    var date: CalendarDate? { CalendarDate(year: year, month: month, day: day) }
    var time: ClockTime? { ClockTime(hour: hour, minute: minute) }
    /// The days since 1 January 2000, and the seconds since midnight.
    var days: Int {
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month - 1]
        let isLeap = year % 4 == 0
        return 365 * (year - 2000) + (year - 2000 + 3) / 4 + before + (isLeap && month > 2 ? 1 : 0) + day - 1
    }
    var seconds: Int { hour * 3600 + minute * 60 + second }
    /// Seven bits of the year, four of the month, five of the day.
    var packedDate: Int { (year - 2000) << 9 | month << 5 | day }
}
