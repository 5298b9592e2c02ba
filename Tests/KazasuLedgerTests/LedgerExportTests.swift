// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Glibc
import KazasuLedger
import LedgerSupport
import TestSupport
import Testing

/// The stations of the example of the SFCard Viewer format, and one that no table names.
struct ExampleStations: StationNames {
    func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        switch (code.line, code.station) {
        case (0xE9, 0x10): StationName(company: "メトロ", line: "南北線", name: "六本木一丁目")
        case (0xE9, 0x20): StationName(company: "メトロ", line: "南北線", name: "後楽園")
        case (0x01, 0x01): StationName(company: "JR東", line: "東海道本", name: "髙輪<&>\"駅\"")
        default: nil
        }
    }

    func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
}

/// A card with one of everything: rides there and back, a bus, a shop, charges, lost records.
struct ExampleCard {
    static let idm = IDm(rawValue: 0x0114_B34D_AA01_2345)

    static func record(
        _ serial: Int, _ day: String, _ kind: RecordKind, _ amount: Int?, _ balance: Int, process: UInt8 = 0x01,
        from: (UInt8, UInt8)? = nil, to: (UInt8, UInt8)? = nil, time: String? = nil
    ) throws -> HistoryRecord {
        func place(_ code: (UInt8, UInt8)?) -> Place? {
            code.map { Place(code: .station(StationCode(area: 0, line: $0.0, station: $0.1))) }
        }
        let parts = time?.split(separator: ":").compactMap { Int($0) } ?? []
        var bytes = [UInt8](repeating: 0, count: 16)
        (bytes[0], bytes[13], bytes[14]) = (0x16, UInt8(truncatingIfNeeded: serial >> 8), UInt8(serial & 0xFF))
        return HistoryRecord(
            serial: serial, date: CalendarDate(day),
            time: parts.count == 2 ? ClockTime(hour: parts[0], minute: parts[1]) : nil, kind: kind,
            process: CodedValue(code: process, name: LocalizedText("process", "処理")), entry: place(from),
            exit: place(to),
            amount: amount, balance: balance, raw: try #require(Block(bytes)))
    }

    static func visits() throws -> [[HistoryRecord]] {
        let (home, work) = ((UInt8(0xE9), UInt8(0x10)), (UInt8(0xE9), UInt8(0x20)))
        let first = [
            try record(10, "2018-11-13", .rail, nil, 3_796, from: home, to: work),
            try record(12, "2018-11-13", .rail, -195, 3_601, from: home, to: work),
            try record(14, "2018-11-13", .rail, -195, 3_406, from: work, to: home),
            try record(15, "2018-11-14", .purchase, -480, 2_926, process: 0x46, time: "19:05"),
            try record(16, "2018-11-15", .charge, 3_000, 5_926, process: 0x02, from: home),
        ]
        let second = [
            try record(30, "2019-01-27", .rail, nil, 3_091, from: home, to: work),
            try record(31, "2019-01-27", .bus, -195, 2_896, process: 0x0D),
            try record(32, "2019-01-28", .charge, 3_000, 5_896, process: 0x14, from: home),
            try record(34, "2019-01-31", .rail, -150, 5_746, from: (0x01, 0x01), to: (0x70, 0x07)),
        ]
        return [first, second]
    }

    static func ledger(visits count: Int = 2) throws -> Ledger {
        let ledger = try LedgerFolder().open { $0.stations = ExampleStations() }
        for visit in try visits().prefix(count) { try keep(visit, ledger) }
        return ledger
    }

    static func keep(_ visit: [HistoryRecord], _ ledger: Ledger) throws {
        let report = CardReport(
            kind: "transit", name: LocalizedText("Transit IC", "交通系IC"), history: visit.reversed())
        try ledger.keep(report, of: idm, source: LedgerSource(.watch))
    }
}

@Suite("Exports of a ledger")
struct LedgerExportTests {
    static func text(_ ledger: Ledger, _ format: LedgerFormat, _ change: (inout LedgerExportOptions) -> Void = { _ in })
        throws -> String
    {
        var options = LedgerExportOptions()
        change(&options)
        return String(decoding: try ledger.export(format, options).data, as: UTF8.self)
    }

    @Test("SFCard Viewer: the exact bytes, in CP932")
    func sfcard() throws {
        let file = try ExampleCard.ledger().export(.sfcard)
        let (data, export) = (file.data, file.export)
        #expect((export.records, export.leftOut) == (7, 2))
        var lines = data.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0.dropLast()) }
        #expect(lines.popLast() == [])
        #expect(lines.count == 9)
        // カードID=0114B34DAA012345
        #expect(lines[0] == [0x83, 0x4A, 0x81, 0x5B, 0x83, 0x68] + Array("ID=0114B34DAA012345".utf8))
        // 利用年月日,定期,… ,利用額(円),残額(円),メモ
        let header = try Hex932.bytes(
            "97 98 97 70 94 4E 8C 8E 93 FA 2C 92 E8 8A FA 2C 93 53 93 B9 89 EF 8E D0 96 BC 2C 93 FC 8F EA 89 77 2F 8E 96 8B C6 8E D2 96 BC 2C"
                + "92 E8 8A FA 2C 93 53 93 B9 89 EF 8E D0 96 BC 2C 8F 6F 8F EA 89 77 2F 8D 7E 8E D4 8F EA 8F 8A 2C"
                + "97 98 97 70 8A 7A 28 89 7E 29 2C 8E 63 8A 7A 28 89 7E 29 2C 83 81 83 82")
        #expect(lines[1] == header)
        // 2018/11/13,,メトロ,六本木一丁目,,メトロ,後楽園,195,3601,
        let metro: [UInt8] = [0x83, 0x81, 0x83, 0x67, 0x83, 0x8D]
        let (roppongi, korakuen) = (
            try Hex932.bytes("98 5A 96 7B 96 D8 88 EA 92 9A 96 DA"), try Hex932.bytes("8C E3 8A 79 89 80")
        )
        func line(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined(separator: [0x2C])) }
        #expect(
            lines[2] == line(Array("2018/11/13,".utf8), metro, roppongi, [], metro, korakuen, Array("195,3601,".utf8)))
        #expect(lines[4] == Array("2018/11/14,,,,,,,480,2926,".utf8) + [0x95, 0xA8, 0x94, 0xCC])
        #expect(lines[5] == line(Array("2018/11/15,".utf8), metro, roppongi, [], [], [], Array("-3000,5926,".utf8)))
        // ﾊﾞｽ/路面等 in half-width kana
        #expect(lines[6].suffix(10) == [0xCA, 0xDE, 0xBD, 0x2F, 0x98, 0x48, 0x96, 0xCA, 0x93, 0x99])
        // ｵｰﾄﾁｬｰｼﾞ
        #expect(lines[7].suffix(8) == [0xB5, 0xB0, 0xC4, 0xC1, 0xAC, 0xB0, 0xBC, 0xDE])
        // 髙 is one of the characters that CP932 has beyond JIS X 0208.
        #expect(lines[8].contains(sequence: [0xFB, 0xFC]))
        var options = LedgerExportOptions()
        options.hasCardLine = false
        #expect(try ExampleCard.ledger().export(.sfcard, options).data.starts(with: header))
    }

    @Test("SFCard Viewer: every line passes the rules of a public reader of the format")
    func sfcardRules() throws {
        // zaim-csv-converter: ten columns, date %Y/%m/%d, whole amounts, and one of five memos.
        let memos: Set = ["", "物販", "ｵｰﾄﾁｬｰｼﾞ", "窓出", "ﾊﾞｽ/路面等"]
        let text = try #require(Hex932.text(try ExampleCard.ledger().export(.sfcard).data))
        for line in text.split(separator: "\r\n").dropFirst(2) {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            #expect(fields.count == 10)
            #expect(CalendarDate(fields[0].split(separator: "/").joined(separator: "-")) != nil)
            #expect(Int(fields[7]) != nil && Int(fields[8]) != nil)
            #expect(memos.contains(String(fields[9])))
        }
    }

    @Test("A file of SFCard Viewer is of one card")
    func oneCard() throws {
        let ledger = try ExampleCard.ledger()
        try ledger.keep(LedgerCardMaker.transit(20).dump(after: 20))
        #expect(throws: LedgerError.severalCards("")) { try ledger.export(.sfcard) }
        var options = LedgerExportOptions()
        options.filter.cards = ["2345"]
        #expect(try ledger.export(.sfcard, options).export.records == 7)
    }

    @Test("Money Forward and Zaim: header, signs and transfers as in their own files")
    func budgets() throws {
        let ledger = try ExampleCard.ledger(visits: 1)
        let lines = try LedgerExportTests.text(ledger, .moneyforward).split(separator: "\r\n")
        #expect(lines[0] == "\u{FEFF}\"計算対象\",\"日付\",\"内容\",\"金額（円）\",\"保有金融機関\",\"大項目\",\"中項目\",\"メモ\",\"振替\",\"ID\"")
        #expect(
            lines[1]
                == "\"1\",\"2018/11/13\",\"六本木一丁目 → 後楽園\",\"-195\",\"交通系IC …2345\",\"交通費\",\"電車\",\"処理\",\"0\",\"0003.b34daa012345.00000c\""
        )
        #expect(
            lines[4].hasPrefix("\"0\",\"2018/11/15\",\"処理 六本木一丁目\",\"3000\"") && lines[4].contains(",\"1\",\"0003."))
        let zaim = try LedgerExportTests.text(ledger, .zaim).split(separator: "\r\n")
        #expect(zaim[0] == "日付,方法,カテゴリ,カテゴリの内訳,支払元,入金先,品目,メモ,お店,通貨,収入,支出,振替,残高調整,通貨変換前の金額,集計の設定")
        #expect(
            zaim[1]
                == "2018-11-13,payment,交通費,電車,交通系IC …2345,,六本木一丁目 → 後楽園,処理 0003.b34daa012345.00000c,,JPY,0,195,0,0,,")
        #expect(zaim[4].hasPrefix("2018-11-15,transfer,-,-,,交通系IC …2345,") && zaim[4].hasSuffix(",JPY,0,0,3000,0,,"))
    }

    @Test("hledger: every balance is stated, what is lost is a posting")
    func hledger() throws {
        let ledger = try ExampleCard.ledger()
        try ledger.name("2345", as: "通勤 用")
        let text = try LedgerExportTests.text(ledger, .hledger)
        #expect(
            text.hasPrefix(
                "commodity 1000. JPY\naccount Equity:Opening-Balances\naccount Equity:Transfers:Charges\naccount Expenses:Other\n"
            ))
        #expect(
            text.contains(
                "account Assets:Transit:通勤-用\n\n2018-11-13 Opening balance\n    Assets:Transit:通勤-用  3796 JPY = 3796 JPY\n"
            ))
        #expect(
            text.contains(
                """
                2019-01-27 履歴6～12件の欠落（kazasu: gap）
                    ; kazasu-id: 0003.b34daa012345.00001e.gap
                    Assets:Transit:通勤-用  -2835 JPY = 3091 JPY
                    Expenses:Unknown

                2019-01-27 (31) バス
                    ; kazasu-id: 0003.b34daa012345.00001f
                    Assets:Transit:通勤-用  -195 JPY = 2896 JPY
                    Expenses:Transport:Bus
                """))
    }

    @Test("beancount: the last balance holds at the start of the day after")
    func beancount() throws {
        let text = try LedgerExportTests.text(try ExampleCard.ledger(), .beancount) { $0.account = "Assets:Suica" }
        #expect(text.hasPrefix("option \"operating_currency\" \"JPY\"\n\n2018-11-13 open Assets:Suica\n"))
        #expect(text.contains("\n2019-02-01 balance Assets:Suica  5746 JPY\n"))
        #expect(text.contains("\"髙輪<&>\\\"駅\\\" → 0-112-7\" ^0003.b34daa012345.000022\n"))
    }

    @Test("OFX: header, types, stable ids, escapes, the balance")
    func ofx() throws {
        let text = try LedgerExportTests.text(try ExampleCard.ledger(), .ofx)
        #expect(text.contains("ENCODING:UNICODE\r\nCHARSET:NONE\r\n"))
        #expect(
            text.contains(
                "<TRNTYPE>POS\r\n<DTPOSTED>20181114190500[+9:JST]\r\n<TRNAMT>-480\r\n<FITID>0003.b34daa012345.00000f\r\n"
            ))
        #expect(text.contains("<TRNTYPE>XFER\r\n<DTPOSTED>20181115120000\r\n<TRNAMT>3000\r\n"))
        #expect(text.contains("<NAME>髙輪&lt;&amp;&gt;\"駅\" → 0-112-7\r\n"))
        #expect(text.contains("<BALAMT>5746\r\n<DTASOF>20190131120000\r\n"))
    }

    @Test("QIF: days, numbers, transfers")
    func qif() throws {
        let text = try LedgerExportTests.text(try ExampleCard.ledger(visits: 1), .qif) { $0.language = .english }
        #expect(
            text.hasPrefix("!Account\nNTransit IC …2345\nTBank\n^\n!Type:Bank\nD2018/11/13\nT3796\nPOpening Balance\n"))
        #expect(text.contains("D2018/11/13\nT-195\nN12\nP六本木一丁目 → 後楽園\nM0003.b34daa012345.00000c process\n^\n"))
        #expect(text.contains("T3000\nN16\nPprocess 六本木一丁目\nM0003.b34daa012345.000010 process\nL[Charges]\n^\n"))
    }

    @Test("CSV: no cell runs as a formula, gaps are marked lines")
    func csv() throws {
        let rows = try LedgerExportTests.text(try ExampleCard.ledger(), .csv) {
            ($0.hasGaps, $0.language) = (true, .english)
        }.split(separator: "\r\n")
        #expect(rows.count == 11)
        #expect(rows[0].hasPrefix("cardId,card,brand,serial,date,time,kind,entryCode,"))
        #expect(rows[2].hasPrefix("0x0114b34daa012345,transit,,12,2018-11-13,,rail,0_233_16,メトロ,南北線,六本木一丁目,0_233_32,"))
        #expect(
            rows[6]
                == "0x0114b34daa012345,transit,,,2019-01-27,,gap,,,,,,,,,-2835,,JPY,,,,,,0003.b34daa012345.00001e.gap,,,,"
        )
        #expect(rows[7].hasSuffix(",0003.b34daa012345.00001e,6..12,-2835,,"))
    }

    @Test("Only what is new since the last export that was written")
    func skipsExported() throws {
        let ledger = try ExampleCard.ledger(visits: 1)
        var options = LedgerExportOptions()
        options.skipsExported = true
        let first = try ledger.export(.ofx, options).export
        #expect(first.records == 4)
        // Not written: everything is new still.
        #expect(try ledger.export(.ofx, options).export.records == 4)
        try ledger.didWrite(first)
        #expect(try ledger.export(.ofx, options).export.records == 0)
        try ExampleCard.keep(try ExampleCard.visits()[1], ledger)
        let second = try ledger.export(.ofx, options).export
        #expect(second.records == 3)
        // Each format counts by itself.
        #expect(try ledger.export(.qif, options).export.records == 7)
        // A record whose amount comes later is exported then, and once.
        try ledger.didWrite(second)
        try ExampleCard.keep(
            [try ExampleCard.record(28, "2019-01-26", .rail, nil, 3_251)] + (try ExampleCard.visits()[1]), ledger)
        let file = try ledger.export(.ofx, options)
        let (data, third) = (file.data, file.export)
        #expect(third.records == 1)
        #expect(String(decoding: data, as: UTF8.self).contains("<FITID>0003.b34daa012345.00001e\r\n"))
    }

    /// The formats that have lines for gaps.
    static let gapFormats: [LedgerFormat] = [
        .hledger, .beancount, .ofx, .qif, .zaim, .moneyforward, .sfcard, .csv,
    ]

    @Test("A gap is new with the record after it, though its own amount is unknown", arguments: gapFormats)
    func newGaps(_ format: LedgerFormat) throws {
        let ledger = try ExampleCard.ledger(visits: 1)
        var options = LedgerExportOptions()
        (options.skipsExported, options.hasGaps) = (true, true)
        try ledger.didWrite(try ledger.export(format, options).export)
        try ExampleCard.keep(try ExampleCard.visits()[1], ledger)
        let file = try ledger.export(format, options)
        let (data, export) = (file.data, file.export)
        #expect(data.contains(sequence: Array("2835".utf8)))
        try ledger.didWrite(export)
        let again = try ledger.export(format, options)
        #expect(again.export.records == 0 && !again.data.contains(sequence: Array("2835".utf8)))
    }

    @Test("A claim: rides with their way back joined")
    func claim() throws {
        let ledger = try ExampleCard.ledger()
        let claims = try ledger.claim()
        #expect(claims.map(\.isReturn) == [false, true, false, false, false])
        let text = try LedgerExportTests.text(ledger, .csv) { $0.isClaim = true }
        let rows = text.split(separator: "\r\n")
        #expect(rows[0] == "日付,路線,出発,到着,片道・往復,片道運賃,金額,通貨,カード,備考,ID")
        #expect(rows.contains { $0.hasPrefix("2018-11-13,メトロ 南北線,六本木一丁目,後楽園,往復,195,390,JPY,交通系IC …2345,,") })
        #expect(rows.contains { $0.hasPrefix("2019-01-31,JR東 東海道本,") && $0.contains("片道,150,150,JPY,") })
    }

    @Test("A claim reports unknown fares and gaps")
    func incompleteClaim() throws {
        let ledger = try ExampleCard.ledger()
        var options = LedgerExportOptions()
        (options.isClaim, options.hasGaps) = (true, true)
        let file = try ledger.export(.csv, options)
        let (data, export) = (file.data, file.export)
        let text = String(decoding: data, as: UTF8.self)
        #expect((export.records, export.unknownFares, export.totals) == (5, 2, [.yen: 390 + 195 + 150]))
        #expect((export.missing.gaps, export.missing.atLeast, export.missing.atMost) == (1, 6, 12))
        let rows = text.split(separator: "\r\n")
        #expect(rows.count == 7)
        #expect(rows.count { $0.contains(",片道,,,JPY,交通系IC …2345,運賃不明,0003.") } == 2)
        let lost = "2019-01-27,,,,,,,JPY,交通系IC …2345,履歴6～12件の欠落（kazasu: gap）（2018-11-15～2019-01-27）,"
        #expect(rows.contains { $0.hasPrefix(lost) && $0.hasSuffix(".00001e.gap") }, "\(text)")
    }

    /// A part of the year 2018 to 2019, and how many gaps touch it: the only one is from 2018-11-15 to 2019-01-27.
    static let periods: [(since: String, until: String, gaps: Int)] = [
        ("2018-11-13", "2018-11-14", 0), ("2018-11-01", "2018-11-30", 1), ("2018-12-01", "2018-12-31", 1),
        ("2019-01-01", "2019-01-31", 1), ("2019-01-28", "2019-02-28", 0),
    ]

    @Test("A gap counts on every day that it touches, whatever kinds are chosen", arguments: periods)
    func missing(_ period: (since: String, until: String, gaps: Int)) throws {
        var filter = LedgerFilter(since: CalendarDate(period.since), until: CalendarDate(period.until))
        let ledger = try ExampleCard.ledger()
        #expect(try ledger.gaps(filter).count == period.gaps)
        filter.kinds = [.ticket]
        #expect(try ledger.missing(filter).gaps == period.gaps)
        let sums = try ledger.sum(by: .month)
        // A month within the gap has a row of its own.
        #expect(sums.map(\.key) == ["2018-11", "2018-12", "2019-01"] && sums.map(\.gaps) == [1, 1, 1])
        #expect(sums.map(\.records) == [5, 0, 4])
        #expect(try ledger.sum(by: .card).map(\.gaps) == [1])
        #expect(try ledger.sum(by: .kind).allSatisfy { $0.gaps == nil })
    }

    /// A choice of rides, and the days and sum of its lines.
    static let choices: [(change: @Sendable (inout LedgerClaimOptions) -> Void, days: [String], total: Int)] = [
        ({ $0.from = ["六本木一丁目"] }, ["2018-11-13", "2018-11-13", "2019-01-27"], 195),
        ({ $0.to = ["0_233_16"] }, ["2018-11-13"], 195),
        ({ $0.stations = ["0-112-7"] }, ["2019-01-31"], 150),
        ({ $0.lines = ["メトロ 南北線"] }, ["2018-11-13", "2018-11-13", "2019-01-27"], 390),
        ({ $0.lines = ["東海道本"] }, ["2019-01-31"], 150),
        // 13 November 2018 was a Tuesday, 27 January 2019 a Sunday.
        ({ $0.weekdays = [6] }, ["2019-01-27", "2019-01-27"], 195),
        ({ $0.except = ["0003.b34daa012345.000022"] }, ["2018-11-13", "2018-11-13", "2019-01-27", "2019-01-27"], 585),
        ({ $0.passes = ["六本木一丁目-後楽園"] }, ["2019-01-27", "2019-01-31"], 345),
        ({ $0.passes = ["六本木一丁目駅～後楽園駅"] }, ["2019-01-27", "2019-01-31"], 345),
        ({ $0.passes = ["六本木一丁目 － 後楽園"] }, ["2019-01-27", "2019-01-31"], 345),
        ({ $0.from = ["六本木一丁目駅"] }, ["2018-11-13", "2018-11-13", "2019-01-27"], 195),
    ]

    @Test("A claim has the rides that were chosen", arguments: choices.indices)
    func choosesRides(index: Int) throws {
        let row = Self.choices[index]
        var options = LedgerClaimOptions()
        row.change(&options)
        let claims = try ExampleCard.ledger().claim(LedgerFilter(), options)
        #expect(claims.map(\.date.description) == row.days)
        #expect(claims.compactMap(\.total).reduce(0, +) == row.total)
    }

    @Test("A way back from the gates of another line of the same station is joined")
    func otherGates() throws {
        let ledger = try LedgerFolder().open()
        // Shibuya is 0_227_62 on the Ginza Line, and 0_230_33 on the Hanzomon Line.
        let out = try ExampleCard.record(2, "2019-02-01", .rail, -170, 1_000, from: (0xE3, 0x3B), to: (0xE6, 0x21))
        let back = try ExampleCard.record(4, "2019-02-01", .rail, -170, 830, from: (0xE3, 0x3E), to: (0xE3, 0x3B))
        let names = [back.entry, out.exit].map { $0.flatMap { Place($0.code, on: nil, ShippedStations()).name?.name } }
        try #require(names == ["渋谷", "渋谷"])
        try ExampleCard.keep([back, out], ledger)
        #expect(try ledger.claim().map(\.isReturn) == [true])
    }

    @Test("A claim says how many of its rides were in earlier ones, whatever became of the records since")
    func repeatedRides() throws {
        let (ledger, other) = (try ExampleCard.ledger(), try LedgerFolder().open())
        var options = LedgerExportOptions()
        options.isClaim = true
        options.filter = try #require(LedgerFilter(month: "2018-11"))
        let first = try ledger.export(.csv, options).export
        #expect(first.repeatedRides == 0)
        // A preview is not a claim.
        #expect(try ledger.export(.csv, options).export.repeatedRides == 0)
        try ledger.didClaim(first)
        options.filter = LedgerFilter()
        #expect(try ledger.export(.csv, options).export.repeatedRides == 3)
        _ = try ledger.forget("transit")
        _ = try ledger.undo()
        #expect(try ledger.export(.csv, options).export.repeatedRides == 3)
        _ = try other.merge(ledger)
        #expect(try other.export(.csv, options).export.repeatedRides == 3)
    }

    @Test("An export that wrote nothing says so", arguments: LedgerFormat.allCases)
    func emptyExport(format: LedgerFormat) throws {
        let ledger = try ExampleCard.ledger()
        var options = LedgerExportOptions()
        options.skipsExported = true
        let first = try ledger.export(format, options).export
        #expect(!first.isEmpty)
        try ledger.didWrite(first)
        #expect(try ledger.export(format, options).export.isEmpty)
    }

    @Test("Rides between the ends of a pass on its line are left out and counted")
    func pass() throws {
        let ledger = try ExampleCard.ledger()
        let ride = try ExampleCard.record(
            40, "2019-02-01", .rail, -100, 5_646, from: (0xE9, 0x12), to: (0xE9, 0x1E), time: nil)
        try ExampleCard.keep([try ExampleCard.visits()[1][3], ride], ledger)
        var options = LedgerExportOptions()
        options.isClaim = true
        options.claim.passes = ["六本木一丁目-後楽園"]
        let export = try ledger.export(.csv, options).export
        #expect(export.omissions.first { $0.reason == .pass }?.records == 5)
        #expect(export.totals == [.yen: 345])
    }

    @Test("A name that no place of the ledger has is refused")
    func unknownPlace() throws {
        let ledger = try ExampleCard.ledger()
        var options = LedgerClaimOptions()
        options.from = ["Atlantis"]
        #expect(throws: LedgerError.noSuchStation("Atlantis")) { try ledger.claim(LedgerFilter(), options) }
        options = LedgerClaimOptions()
        options.passes = ["後楽園-Atlantis"]
        #expect(throws: LedgerError.noSuchStation("Atlantis")) { try ledger.claim(LedgerFilter(), options) }
        options.passes = ["後楽園"]
        #expect(throws: LedgerError.notASection("後楽園")) { try ledger.claim(LedgerFilter(), options) }
        #expect(try ledger.placeNames().contains("後楽園"))
        options = LedgerClaimOptions()
        options.lines = ["丸ノ内線"]
        #expect(throws: LedgerError.noSuchLine("丸ノ内線")) { try ledger.claim(LedgerFilter(), options) }
        options = LedgerClaimOptions()
        options.except = ["x"]
        #expect(throws: LedgerError.noSuchRecord("x")) { try ledger.claim(LedgerFilter(), options) }
    }

    @Test("Purpose and total are a column and a last row; the language is that of the file of columns")
    func purpose() throws {
        let ledger = try ExampleCard.ledger()
        let text = try LedgerExportTests.text(ledger, .csv) {
            ($0.isClaim, $0.language) = (true, .english)
            ($0.claim.purpose, $0.claim.hasTotal) = ("客先訪問", true)
        }
        let rows = text.split(separator: "\r\n")
        #expect(rows[0] == "date,line,from,to,trip,fare,total,currency,card,purpose,note,id")
        #expect(rows[2].contains(",return,195,390,JPY,Transit IC …2345,客先訪問,,"), "\(rows[2])")
        #expect(rows.last == "total,,,,,,735,JPY,,,,")
        let columns = try LedgerColumns("@language ja\n往復 = roundtrip\n金額 = total\n")
        let own = try LedgerExportTests.text(ledger, .csv) {
            ($0.isClaim, $0.columns, $0.language) = (true, columns, .english)
        }
        #expect(own.contains("\r\n往復,390\r\n"))
        // Codes are in a form of which no spreadsheet makes a date.
        #expect(text.contains(",0_112_7,one way,"))
    }

    @Test("Each format writes the example as its file in Fixtures/ledger", arguments: LedgerFormat.allCases)
    func fixtures(_ format: LedgerFormat) throws {
        let data = try ExampleCard.ledger().export(format).data
        let path = "\(TestFiles.root)/Fixtures/ledger/\(format.rawValue)"
        if let record = getenv("KAZASU_RECORD"), record.pointee != 0 {
            let file = try #require(fopen(path, "wb"))
            #expect(fwrite(data, 1, data.count, file) == data.count)
            fclose(file)
        }
        #expect(try TestFiles.read(path) == data)
    }

    @Test("Both pages of the ledger have a row for each format", arguments: ["ledger.md", "ledger.ja.md"])
    func documented(page: String) throws {
        let text = String(decoding: try TestFiles.read("\(TestFiles.root)/Docs/\(page)"), as: UTF8.self)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }
        for format in LedgerFormat.allCases {
            #expect(
                rows.contains { $0.split(separator: "|").first?.contains("`\(format.rawValue)`") ?? false },
                "\(format.rawValue)")
        }
    }

    @Test("A ride whose fare becomes known later is on a claim again")
    func claimAgain() throws {
        let ledger = try ExampleCard.ledger(visits: 1)
        var options = LedgerExportOptions()
        (options.isClaim, options.skipsExported) = (true, true)
        let first = try ledger.export(.csv, options).export
        #expect((first.records, first.unknownFares) == (2, 1))
        try ledger.didWrite(first)
        #expect(try ledger.export(.csv, options).export.records == 0)
        try ExampleCard.keep(
            [try ExampleCard.record(9, "2018-11-12", .charge, 1_000, 3_991, process: 0x02)]
                + (try ExampleCard.visits()[0]), ledger)
        let second = try ledger.export(.csv, options).export
        #expect((second.records, second.unknownFares, second.totals) == (1, 0, [.yen: 195]))
    }

    // MARK: Currencies

    /// A card with yen, one with taka, one with rupiah that has no balances.
    static func currencies() throws -> Ledger {
        let ledger = try ExampleCard.ledger()
        for name in ["dhaka", "kmt"] {
            let file = try TestFiles.read("\(TestFiles.root)/Fixtures/cards/\(name)/card.json")
            guard case .kept = try ledger.import(file, name: nil) else { throw LedgerError.noHistory }
        }
        return ledger
    }

    @Test(
        "Formats of one currency leave other cards out, and refuse those that were asked for",
        arguments: [LedgerFormat.sfcard, .moneyforward, .qif])
    func oneCurrency(_ format: LedgerFormat) throws {
        let ledger = try LedgerExportTests.currencies()
        var options = LedgerExportOptions()
        options.skipsExported = true
        let export = try ledger.export(format, options).export
        #expect(export.records == 7 && export.currencies == [.yen])
        let left = export.omissions.filter { $0.reason == .currency }
        #expect(Set(left.compactMap(\.purse?.currency)) == [.taka, .rupiah] && left.allSatisfy { $0.records > 0 })
        // What is not in the file is not marked as exported.
        try ledger.didWrite(export)
        options.filter.cards = ["transit"]
        #expect(try ledger.export(format, options).export.records == 0)
        options.filter.cards = ["transit", "dhaka"]
        #expect { try ledger.export(format, options) } throws: { error in
            guard case .otherCurrency(let cards)? = error as? LedgerError else { return false }
            return cards.map(\.currency) == [.taka]
        }
    }

    @Test("A file of QIF may be of any one currency")
    func otherQIF() throws {
        var options = LedgerExportOptions()
        options.filter.cards = ["dhaka"]
        let file = try LedgerExportTests.currencies().export(.qif, options)
        let (data, export) = (file.data, file.export)
        #expect(export.records > 0 && export.currencies == [.taka])
        #expect(String(decoding: data, as: UTF8.self).contains("\nT-180.00\n"))
    }

    @Test("Zaim names the currency of each line; amounts are in main units")
    func zaimCurrency() throws {
        let text = try LedgerExportTests.text(try LedgerExportTests.currencies(), .zaim)
        #expect(text.contains(",BDT,0,180.00,0,0,,\r\n"))
    }

    @Test("OFX counts what it wrote, and leaves out a card without a balance until it has one")
    func noBalance() throws {
        let ledger = try LedgerExportTests.currencies()
        var options = LedgerExportOptions()
        options.skipsExported = true
        let file = try ledger.export(.ofx, options)
        let (data, export) = (file.data, file.export)
        let text = String(decoding: data, as: UTF8.self)
        #expect(export.records == text.split(separator: "\r\n").count { $0 == "<STMTTRN>" })
        let left = try #require(export.omissions.first { $0.reason == .noBalance })
        #expect(left.purse?.kind == "kmt" && left.records == 5)
        try ledger.didWrite(export)
        let again = try ledger.export(.ofx, options).export
        #expect(again.records == 0 && again.omissions.contains(left))
    }

    @Test("A claim of several currencies names that of each line")
    func mixedClaim() throws {
        var options = LedgerExportOptions()
        (options.isClaim, options.language) = (true, .english)
        let file = try LedgerExportTests.currencies().export(.csv, options)
        let (data, export) = (file.data, file.export)
        #expect(export.currencies.count > 1 && export.totals[.taka] == 66_000)
        #expect(String(decoding: data, as: UTF8.self).contains(",180.00,180.00,BDT,"))
    }

    @Test("Columns of the user's own")
    func columns() throws {
        let ledger = try ExampleCard.ledger(visits: 1)
        let columns = try LedgerColumns(
            "# for the office\n@encoding cp932\n@date 20261121\n@newline lf\nID = \"0\"\n開始年月日 = date\n金額 = total\n往復 = roundtrip\n"
        )
        var options = LedgerExportOptions()
        options.isClaim = true
        options.columns = columns
        options.filter.since = CalendarDate("2018-11-13")
        let text = try #require(Hex932.text(try ledger.export(.csv, options).data))
        #expect(text == "ID,開始年月日,金額,往復\n0,20181113,,片道\n0,20181113,390,往復\n")
    }

    /// A line of a file of columns, and its header and its cell in the file.
    static let texts: [(line: String, header: String, cell: String)] = [
        (#"memo = "a=b""#, "memo", "a=b"), (#"a=b = "c""#, "a=b", "c"), (#"memo = "= = ""#, "memo", "'= = "),
        (#"+1+1 = "x""#, "'+1+1", "x"), (#"memo="＝1""#, "memo", "'＝1"), (#"memo = """#, "memo", ""),
        (#"memo = "say "a=b"""#, "memo", #""say ""a=b""""#), ("=\u{301} = \"a\"", "'=\u{301}", "a"),
        ("a=b = card", "a=b", "交通系IC …2345"),
    ]

    @Test("A fixed text or header may have any character, and is never a formula", arguments: texts)
    func fixedTexts(_ row: (line: String, header: String, cell: String)) throws {
        let ledger = try ExampleCard.ledger(visits: 1)
        let text = try LedgerExportTests.text(ledger, .csv) {
            ($0.isClaim, $0.columns) = (true, try? LedgerColumns(row.line))
        }
        #expect(text == "\(row.header)\r\n\(row.cell)\r\n\(row.cell)\r\n")
    }

    @Test(
        "Errors in a file of columns name the line",
        arguments: [
            ("", LedgerError.columns(line: 1, .noColumns)), ("a = date\nb", .columns(line: 2, .malformed)),
            ("a = datum", .columns(line: 1, .unknownField("datum"))),
            ("\n@encoding latin1\na = date", .columns(line: 2, .unknownSetting("@encoding latin1"))),
        ])
    func badColumns(_ text: String, _ error: LedgerError) {
        #expect(throws: error) { try LedgerColumns(text) }
    }
}

extension Collection where Element == UInt8 {
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        let bytes = Array(self)
        return bytes.indices.contains { bytes[$0...].starts(with: sequence) }
    }
}
