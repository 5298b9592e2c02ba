// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

/// The history of RapiCa has no years; they may be worked out, never made up.
@Suite("Years of RapiCa's records")
struct RapiCaYearTests {
    /// A record of 008F by month, day, hour and minute.
    private func record(_ month: Int, _ day: Int, _ hour: Int, _ minute: Int) throws -> Block {
        let stamp = (month * 100 + day) << 12 | (hour * 100 + minute)
        let bytes = [stamp >> 16, stamp >> 8 & 0xFF, stamp & 0xFF, 0x10].map { UInt8($0 & 0xFF) }
        return try #require(Block(bytes + [0, 0, 1, 0, 1, 0, 0, 1, 0x41, 0, 0, 100]))
    }

    private func dump(
        lastRide: [UInt8], issued: [UInt8] = [12, 5, 1], _ history: [Block], state: ReadState = .read,
        without missing: UInt16? = nil
    ) throws -> CardDump {
        let attributes = try #require(Block(lastRide + [UInt8](repeating: 0, count: 16 - lastRide.count)))
        let issue = try #require(Block([0x23, 0x2F, 0, 0, 0] + issued + [UInt8](repeating: 0, count: 8)))
        var service = Dumps.service(ServiceCode(rawValue: 0x008F), history)
        service.state = state
        if let missing { service.blocks[missing] = nil }
        return Dumps.card(
            SystemCode(rawValue: 0x8194),
            [
                Dumps.service(ServiceCode(rawValue: 0x000B), [issue]),
                Dumps.service(ServiceCode(rawValue: 0x004B), [attributes, .zero]), service,
            ])
    }

    private func dates(_ dump: CardDump) throws -> [String?] {
        let history = try #require(try RapiCaDecoder().decode(dump).history)
        for record in history {
            #expect((record.date != nil) != (record.partial != nil))
            let warnings = record.warnings.filter { $0 != .olderRecordMissing }
            #expect(warnings == [record.date == nil ? .yearUnknown : .yearInferred])
        }
        return history.map { $0.date?.description }
    }

    @Test("The newest record is the last ride's, the order gives the others")
    func inferred() throws {
        let history = [
            try record(1, 2, 9, 30), try record(1, 2, 9, 0), try record(12, 31, 23, 59), try record(12, 31, 8, 0),
            try record(1, 1, 0, 0), try record(6, 15, 12, 0),
        ]
        #expect(
            try dates(dump(lastRide: [25, 1, 2, 9, 30], history)) == [
                "2025-01-02", "2025-01-02", "2024-12-31", "2024-12-31", "2024-01-01", "2023-06-15",
            ])
    }

    static let unlikely: [[UInt8]] = [
        [25, 1, 2, 9, 31], [25, 1, 3, 9, 30], [25, 2, 2, 9, 30], [25, 13, 2, 9, 30], [25, 1, 2, 24, 30], [],
    ]

    @Test("Without a last ride that is the newest record no year is known", arguments: unlikely)
    func noAnchor(_ lastRide: [UInt8]) throws {
        let history = [try record(1, 2, 9, 30), try record(1, 2, 9, 0)]
        #expect(try dates(dump(lastRide: lastRide, history)) == [nil, nil])
    }

    @Test("29 February is of no year that has none, and ends what is known")
    func leapDay() throws {
        let history = [try record(3, 1, 9, 30), try record(2, 29, 9, 0), try record(2, 28, 9, 0)]
        #expect(try dates(dump(lastRide: [25, 3, 1, 9, 30], history)) == ["2025-03-01", nil, nil])
        #expect(
            try dates(dump(lastRide: [24, 3, 1, 9, 30], history)) == ["2024-03-01", "2024-02-29", "2024-02-28"])
    }

    @Test("Nothing is dated before the card was issued")
    func issued() throws {
        let history = [
            try record(5, 2, 9, 30), try record(5, 1, 9, 0), try record(4, 30, 9, 0), try record(1, 1, 0, 0),
        ]
        let dump = try dump(lastRide: [12, 5, 2, 9, 30], issued: [12, 5, 1], history)
        #expect(try dates(dump) == ["2012-05-02", "2012-05-01", nil, nil])
    }

    @Test("A hole in the history leaves no order to go by")
    func hole() throws {
        let history = [try record(5, 2, 9, 30), try record(5, 1, 9, 0), try record(4, 30, 9, 0)]
        let holed = try dump(lastRide: [25, 5, 2, 9, 30], history, without: 1)
        #expect(try dates(holed) == [nil, nil])
        let cut = try dump(lastRide: [25, 5, 2, 9, 30], history, state: .lost)
        #expect(try dates(cut) == [nil, nil, nil])
    }

    @Test("Reports a day that exists in no year")
    func invalid() throws {
        let history = [try record(2, 30, 9, 30)]
        let report = try RapiCaDecoder().decode(dump(lastRide: [25, 2, 30, 9, 30], history))
        #expect(report.history?.map(\.warnings) == [[.invalidDate]])
        #expect(report.history?.first?.date == nil && report.history?.first?.partial == nil)
    }
}
