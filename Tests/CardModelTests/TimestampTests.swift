// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

@Suite("Timestamps")
struct TimestampTests {
    /// Texts and their moments, as `date -u -d TEXT +%s%3N` prints them.
    static let moments: [(text: String, milliseconds: Int)] = [
        ("1970-01-01T00:00:00.000Z", 0),
        ("2026-11-20T03:34:56.789Z", 1_795_145_696_789),
        ("2000-02-29T23:59:59.001Z", 951_868_799_001),
        ("1969-12-31T23:59:59.999Z", -1),
        ("1899-12-31T00:00:00.500Z", -2_209_075_199_500),
        ("0001-01-01T00:00:00.000Z", -62_135_596_800_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ]

    @Test("Writes and reads UTC", arguments: moments)
    func utc(_ row: (text: String, milliseconds: Int)) {
        #expect(Timestamp(milliseconds: row.milliseconds).text(.utc) == row.text)
        #expect(Timestamp(row.text)?.milliseconds == row.milliseconds)
        let short = Timestamp(milliseconds: row.milliseconds).text(.utc, .seconds)
        #expect(short == row.text.prefix(19) + "Z")
    }

    @Test("Reads its own local text", arguments: moments.dropLast())
    func local(_ row: (text: String, milliseconds: Int)) throws {
        let moment = Timestamp(milliseconds: row.milliseconds)
        // Before standard time, offsets had seconds, which the text cannot express.
        guard row.milliseconds > 0 else { return #expect(!moment.text().isEmpty) }
        #expect(Timestamp(moment.text()) == moment)
        #expect(try #require(Timestamp(moment.text(.local, .seconds))).milliseconds == row.milliseconds / 1000 * 1000)
    }

    /// Valid texts in other forms, and the same moment in UTC.
    static let forms = [
        ("2026-11-20T12:34:56+09:00", "2026-11-20T03:34:56.000Z"),
        ("2026-11-20T12:34:56.7+09:00", "2026-11-20T03:34:56.700Z"),
        ("2026-11-20T12:34:56.78Z", "2026-11-20T12:34:56.780Z"),
        ("2026-11-20T12:34:56.123456789Z", "2026-11-20T12:34:56.123Z"),
        ("2026-12-31T20:30:00-05:45", "2027-01-01T02:15:00.000Z"),
        ("2026-01-01T00:00:00+14:00", "2025-12-31T10:00:00.000Z"),
    ]

    @Test("Reads fractions and offsets", arguments: forms)
    func readsForms(_ text: String, _ utc: String) {
        #expect(Timestamp(text)?.text(.utc) == utc)
    }

    static let malformed = [
        "", "2026-11-20", "2026-11-20T12:34:56", "2026-11-20 12:34:56Z", "2026-11-20T12:34Z", "2026-11-20T24:00:00Z",
        "2026-11-20T12:60:00Z", "2026-11-20T23:59:60Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "0000-01-01T00:00:00Z",
        "2026-11-20T12:34:56.Z", "2026-11-20T12:34:56.1234567890Z", "2026-11-20T12:34:56+15:00",
        "2026-11-20T12:34:56+9:00", "2026-11-20T12:34:56+0900", "2026-11-20T12:34:56Z ", "+2026-11-20T12:34:56Z",
        "２０２６-11-20T12:34:56Z", "99999-01-01T00:00:00Z",
    ]

    @Test("Rejects everything else", arguments: malformed)
    func rejects(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("Compares moments, and survives any number of milliseconds", arguments: [Int.min, -1, 0, 1, Int.max])
    func extremes(_ milliseconds: Int) {
        let moment = Timestamp(milliseconds: milliseconds)
        _ = (moment.text(), moment.text(.utc))
        #expect((moment < Timestamp.now) == (milliseconds < Int.max))
    }
}
