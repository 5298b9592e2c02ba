// SPDX-License-Identifier: Apache-2.0

import CardVerification
import Foundation
import KazasuTesting
import TestSupport
import Testing

@testable import CardDecoders
@testable import CardModel
@testable import KazasuReading

/// Reports as the commands print them: the recorded answers of the commands are what the library writes.
struct ReportDocumentTests {
    private static func card(_ file: String, _ query: CardQuery) throws -> Card {
        try virtualReader(cards: TestFiles.read("Fixtures/\(file).json")).waitForCard(query)
    }

    private static func answer(_ name: String) throws -> String {
        String(decoding: try TestFiles.read("Fixtures/cli/answers/\(name)"), as: UTF8.self)
    }

    @Test func balance() throws {
        let card = try Self.card("cards/edy/card", .purse)
        let report = try card.balance(all: true)
        let brand = try card.brand(of: "edy")
        #expect(try report.document(of: card.identity, brand: brand) == Self.answer("edy-balance.json"))
        #expect(report.document(of: card.identity, in: .japanese).contains("楽天Edy"))
    }

    @Test(
        "Histories",
        arguments: [
            ("suica-p1", Language.english, "suica-history.ndjson"),
            ("five-systems", .japanese, "five-history.ja.ndjson"),
        ])
    func history(_ name: String, _ language: Language, _ answer: String) throws {
        let card = try Self.card("cards/\(name)/card", .purse)
        let report = try card.history()
        let brand = try card.brand(of: report.kind)
        let lines = (report.history ?? []).map {
            $0.line(
                of: card.identity, kind: report.kind, brand: brand, currency: report.currency, in: language) + "\n"
        }
        #expect(try lines.joined() == Self.answer(answer))
        let document = try #require(report.document(of: card.identity, brand: brand, in: language))
        let records = try JSONCursor(JSONValue(parsing: Array(document.utf8))).required("records").elements()
        #expect(records.count == lines.count && document.hasPrefix("{\n  \"schema\": \"kazasu.history/1\",\n"))
        #expect(CardReport(kind: "x", name: report.name).document(of: card.identity) == nil)
    }

    @Test("Licenses", arguments: [("sample", "license-free.json", false), ("sample", "license-sample.json", true)])
    func license(_ name: String, _ answer: String, _ hasPINs: Bool) throws {
        let pins = hasPINs ? [PIN(Array("1234".utf8)), PIN(Array("5678".utf8))] : []
        let result = try Self.card("iso7816/license/\(name)", .license).license(
            hasPINs ? .pins(pins[0], pins[1]) : .none)
        #expect(result.error == nil)
        #expect(try result.document() == Self.answer(answer))
    }

    /// The signature of a recorded answer: its check is another test's.
    private static func signature(_ answer: String) throws -> CardSignature {
        let signature = try JSONCursor(JSONValue(parsing: Array(answer.utf8))).required("signature")
        func state(_ text: String) throws -> CardSignature.State { try #require(CardSignature.State(rawValue: text)) }
        var found = CardSignature(
            try state(signature.required("state").text()), by: try signature.optional("by")?.text(),
            covers: try signature.required("covers").elements().map { try $0.text() },
            notCovered: try signature.required("notCovered").elements().map { try $0.text() })
        if let list = try signature.optional("list") {
            found.list = CardSignature.SignedList(
                try state(list.text()), listed: try signature.required("listed").elements().map { try $0.integer() },
                compared: try signature.required("compared").elements().map { try $0.integer() })
        }
        return found
    }

    @Test func passport() throws {
        let answer = try Self.answer("passport.json")
        let key = try #require(PassportKey("SP1234567,800405,360614"))
        let result = try Self.card("iso7816/passport/card", .passport).passport(key)
        let signature = try Self.signature(answer)
        let chip = try result.report.chip(of: result.dump, signature: signature, authorities: .none)
        #expect(result.document(signature: signature, chip: chip) == answer)
    }

    @Test("Residence cards", arguments: ["first", "second", "second-special"])
    func residence(_ name: String) throws {
        let answer = try Self.answer("residence-\(name).json")
        let number = try #require(ResidenceNumber("AA12345678BB"))
        let result = try Self.card("iso7816/residence/\(name)", .residence).residence(number)
        #expect(result.document(signature: try Self.signature(answer)) == answer)
    }

    @Test func myNumber() throws {
        func members(_ text: String) throws -> JSONObject {
            // Of a certificate, the command tells more.
            try JSONCursor(JSONValue(parsing: Array(text.utf8))).members(without: ["certificates"])
        }
        let result = try Self.card("iso7816/mynumber/card", .myNumber).myNumber()
        #expect(try members(result.document()) == members(Self.answer("mynumber-free.json")))
    }

    @Test(
        "Tags",
        arguments: [
            ("tags/ntag213", "ntag213"), ("tags/ntag213-locked", "ntag213-locked"), ("tags/type4", "type4"),
            ("tags/lite-s-no-ndef", "lite-s"), ("tags/lite-no-ndef", "lite"),
            ("virtual/ultralight-c", "ultralight-c-closed"),
        ])
    func tag(_ file: String, _ answer: String) throws {
        let information = try Self.card(file, .tag).forumTag().information()
        #expect(try information.document() == Self.answer("tag-\(answer)-info.json"))
        let encoded = try Self.encoded(information, .english)
        #expect(Self.sorted(encoded) == Self.sorted(.object(information.members(.english))))
    }

    // MARK: Encoders

    private static func encoded(_ report: some Encodable, _ language: Language) throws -> JSONValue {
        let encoder = JSONEncoder()
        encoder.userInfo[try #require(Language.userInfoKey)] = language
        return try JSONValue(parsing: Array(encoder.encode(report)))
    }

    /// Members in the order of their names.
    private static func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            .object(JSONObject(object.members.map { ($0.key, sorted($0.value)) }.sorted { $0.0 < $1.0 }))
        case .array(let values): .array(values.map(sorted))
        default: value
        }
    }

    @Test(
        "An encoder gets what documents have", arguments: TestFiles.names(in: "Fixtures/cards"),
        Language.allCases)
    func encodable(_ name: String, _ language: Language) throws {
        let dump = try CardDump(parsing: TestFiles.read("Fixtures/cards/\(name)/card.json"))
        for report in dump.decode().cards {
            #expect(try Self.sorted(Self.encoded(report, language)) == Self.sorted(report.json(language)))
            for record in report.history ?? [] {
                #expect(try Self.sorted(Self.encoded(record, language)) == Self.sorted(record.json(language)))
            }
            let money = BalanceReport(balances: report.balances)
            let balances = JSONObject([("balances", .array(report.balances.map { $0.json(language) }))])
            #expect(try Self.sorted(Self.encoded(money, language)) == Self.sorted(.object(balances)))
        }
    }

    @Test("Cards with files go through an encoder, too", arguments: Language.allCases)
    func encodableFileCards(_ language: Language) throws {
        let license = try Self.card("iso7816/license/sample", .license).license().report
        #expect(
            try Self.sorted(Self.encoded(license, language)) == Self.sorted(.object(license.members(language))))
        let passport = try Self.card("iso7816/passport/card", .passport).passport(
            #require(PassportKey("SP1234567,800405,360614"))
        ).report
        let zone = try JSONCursor(Self.encoded(passport, language)).required("surname").text()
        #expect(zone == "SPECIMEN")
        let residence = try Self.card("iso7816/residence/second", .residence).residence(ResidenceNumber("AA12345678BB"))
            .report
        #expect(try JSONCursor(Self.encoded(residence, language)).required("number").text() == "AA12345678BB")
        let myNumber = try Self.card("iso7816/mynumber/card", .myNumber).myNumber().report
        #expect(try !JSONCursor(Self.encoded(myNumber, language)).required("pins").elements().isEmpty)
    }
}
