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
                "area", "line", "station", "company", "lineName", "name",
            ])
    }

    @Test("Candidates stand in a balance only where the card does not say enough")
    func candidates() {
        let sure = BalanceReport(balances: [BalanceEntry(card: "a", name: LocalizedText("A", "あ"), amount: 5)])
        #expect(
            sure.json(.english, card: .invented).compactText
                == #"{"schema":"kazasu.balance/1","card":{"technology":"typeB","pupi":"01020304","kind":"a","brand":"b"},"#
                + #""balances":[{"kind":"a","name":"A","amount":5,"currency":"JPY","exponent":0}]}"#
        )
        let unsure = BalanceEntry(
            card: "b", name: LocalizedText("B", "び"), amount: nil,
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
                == #"{"area":0,"line":227,"station":59,"company":"東京地下鉄","lineName":"銀座線","name":"青山一丁目"}"#)
        let stop = Place(code: .busStop(BusStopCode(area: 3, operatorCode: 0xA001, stop: 0x1234)))
        #expect(
            stop.json.compactText
                == #"{"area":3,"operator":"A001","stop":"1234","company":null,"lineName":null,"name":null}"#)
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
