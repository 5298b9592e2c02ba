// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

@Suite("Documents of balances and histories")
struct ReportJSONTests {
    @Test("Keys stand in the order of the contract")
    func keys() throws {
        let dump = try CardFixture.suica.dump()
        let report = try #require(try CyberneticsDecoder.transit.decode(dump).historyReport)
        let document = try JSONCursor(report.json(.english, card: DecodedCard(dump, kind: "transit"))).object()
        #expect(document.members.map(\.key) == ["schema", "card", "kind", "name", "currency", "exponent", "records"])
        let record = try #require(report.records.last).json(.english)
        let keys = [
            "serial", "date", "time", "kind", "terminal", "process", "payment", "gate", "entry", "exit", "amount",
            "balance", "warnings", "raw",
        ]
        #expect(try JSONCursor(record).object().members.map(\.key) == keys)
        let joined = try #require(report.records.first).json(.english)
        #expect(
            try JSONCursor(joined).object().members.map(\.key)
                == keys.prefix(3) + ["entryTime"] + keys.dropFirst(3) + ["gatePassage"])
        #expect(
            try JSONCursor(record).required("entry").object().members.map(\.key) == [
                "area", "line", "station", "company", "lineName", "name", "nameEn",
            ])
    }

    @Test("Cells of a table: codes are texts, numbers are numbers, nothing is a formula")
    func cells() {
        let local = LocalStopCode(
            system: SystemCode(rawValue: 0x8194), area: 2, operatorCode: 4, line: 0x1F, stop: 0xAB, digits: 6)
        let bus = BusStopCode(area: 1, operatorCode: 0x0C4F, stop: 0x0A)
        var record = HistoryRecord(
            serial: 7, date: CalendarDate(year: 2020, month: 3, day: 1), time: ClockTime(hour: 5, minute: 6),
            kind: .bus, terminal: CodedValue(code: 0x0A, name: nil), device: DeviceNumber(rawValue: 0x0A),
            entry: Place(code: .local(local)),
            exit: Place(code: .busStop(bus)), amount: -1, balance: 0, raw: .zero)
        let table = HistoryCSV(language: .english)
        let head: [CSV.Cell] = [
            "7", "2020-03-01", "05:06", "bus", "8194_2_0004_001F_0000AB", "", "", "", "1_0C4F_000A", "", "", "",
        ]
        #expect(table.cells(record, .yen) == head + ["-1", "0", "JPY", "0x0A", "", "", "0x000A", ""])
        record.terminalID = "T1"
        #expect(table.cells(record, .yen).dropLast().last == "0xT1")
        #expect(table.start(cardID: nil, kind: "edy") == ["", "edy", ""])
        #expect(table.start(cardID: "01", kind: "edy", EdyDecoder().brands.first) == ["0x01", "edy", "edy"])
        #expect(HistoryCSV(language: .japanese).start(cardID: nil, kind: "edy")[1] == "楽天Edy")
        #expect(table.columns.count == 23 && table.head.hasPrefix("cardId,card,brand,"))
    }

    @Test("Candidates stand in a balance only where the card does not say enough")
    func candidates() {
        let sure = BalanceReport(balances: [BalanceEntry(kind: "a", name: LocalizedText("A", "あ"), amount: 5)])
        #expect(
            sure.json(.english, card: .invented).compactText
                == #"{"schema":"kazasu.balance/1","card":{"technology":"typeB","pupi":"01020304","kind":"a","brand":"b"},"#
                + #""balances":[{"kind":"a","name":"A","amount":5,"currency":"JPY","exponent":0}]}"#
        )
        let unsure = BalanceEntry(
            kind: "b", name: LocalizedText("B", "び"), amount: nil,
            candidates: [
                BalanceCandidate(amount: -1, condition: LocalizedText("before 2017", "2017年より前")),
                BalanceCandidate(amount: 0, condition: LocalizedText("since 2017", "2017年から")),
            ])
        #expect(
            unsure.json(.japanese).compactText
                == #"{"kind":"b","name":"び","amount":null,"currency":"JPY","exponent":0,"candidates":["#
                + #"{"amount":-1,"condition":"2017年より前"},{"amount":0,"condition":"2017年から"}]}"#)
    }

    @Test("The language changes names and nothing else")
    func languages() throws {
        let dump = try CardFixture.edy.dump()
        let report = try #require(try EdyDecoder().decode(dump).historyReport)
        let card = DecodedCard(dump, kind: "edy")
        let english = report.json(.english, card: card).compactText
        let japanese = report.json(.japanese, card: card).compactText
        let translated = english.replacing("Rakuten Edy", with: "楽天Edy").replacing("Edy gift", with: "Edyギフト")
            .replacing("payment\"}", with: "支払い\"}")
        #expect(japanese == translated)
    }

    @Test("A place has the names of the table")
    func names() throws {
        let code = PlaceCode.station(StationCode(area: 0, line: 227, station: 59))
        let place = Place(
            code: code, name: StationName(company: "東京地下鉄", line: "銀座線", name: "青山一丁目"))
        #expect(
            place.json.compactText
                == #"{"area":0,"line":227,"station":59,"company":"東京地下鉄","lineName":"銀座線","name":"青山一丁目","nameEn":null}"#
        )
        let stop = Place(code: .busStop(BusStopCode(area: 3, operatorCode: 0xA001, stop: 0x1234)))
        #expect(
            stop.json.compactText
                == #"{"area":3,"operator":"A001","stop":"1234","company":null,"lineName":null,"name":null,"nameEn":null}"#
        )
    }

    @Test("Names of kinds are there in both languages")
    func words() {
        let texts = RecordKind.allCases.map(\.name)
        for text in texts {
            for language in Language.allCases { #expect(!text[language].isEmpty) }
            #expect(text.english != text.japanese)
        }
    }
}
