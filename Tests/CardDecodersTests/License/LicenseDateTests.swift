// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import Testing

@Suite("Dates of a license")
struct LicenseDateTests {
    @Test(
        "Eras, also beyond their ends",
        arguments: [
            ("1010125", "1868-01-25", "明治元年1月25日"), ("2151231", "1926-12-31", "大正15年12月31日"),
            ("3640107", "1989-01-07", "昭和64年1月7日"), ("4350701", "2023-07-01", "平成35年7月1日"),
            ("5010501", "2019-05-01", "令和元年5月1日"), ("5080229", "", ""), ("5060229", "2024-02-29", "令和6年2月29日"),
            ("5990101", "2117-01-01", "令和99年1月1日"),
        ])
    func days(digits: String, date: String, japanese: String) {
        let day = LicenseDate(Array(digits.utf8)).day
        #expect(day?.date.description ?? "" == date)
        #expect(day?.japanese ?? "" == japanese)
    }

    @Test("None, for a category that is not held", arguments: ["4000000", "5000000", "0000000", "9000000"])
    func none(digits: String) {
        #expect(LicenseDate(Array(digits.utf8)) == .none)
    }

    @Test(
        "Days that do not exist keep their bytes",
        arguments: [
            "4001301", "4010001", "4010132", "4000101", "0010101", "6010101", "4010230", "401010", "40101011", "",
            "4 10101", "４", "401010A", "2640101", "2160101", "1460101", "3650101", "3990101",
        ])
    func invalid(digits: String) {
        #expect(LicenseDate(Array(digits.utf8)) == .invalid(Array(digits.utf8)))
    }

    @Test("Every seven digits are a day, none, or kept as they are")
    func allDigits() {
        for number in stride(from: 0, to: 10_000_000, by: 37) {
            let text = String(String(10_000_000 + number).dropFirst())
            let bytes = Array(text.utf8)
            switch LicenseDate(bytes) {
            case .none: #expect(number % 1_000_000 == 0)
            case .day(let day):
                let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
                #expect("\(day.era.rawValue)\(two(day.yearOfEra))\(two(day.date.month))\(two(day.date.day))" == text)
            case .invalid(let kept): #expect(kept == bytes)
            }
        }
    }

    @Test(
        "Full-width digits of later entries",
        arguments: [
            ("2334233323302330233123302331", "2018-01-01"), ("2334233323302330233123302332", "2018-01-02"),
            ("2434233323302330233123302331", ""), ("23342333233023302331233023", ""), ("", ""),
        ])
    func fullWidth(hex: String, date: String) throws {
        let bytes = try Hex.decode(hex)
        let parsed = LicenseDate(fullWidth: bytes)
        #expect(parsed.day?.date.description ?? "" == date)
        if date.isEmpty { #expect(parsed == .invalid(bytes)) }
    }
}
