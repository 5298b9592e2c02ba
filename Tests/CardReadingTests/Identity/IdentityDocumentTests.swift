// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import CardReading
import ISO7816
import TestSupport
import Testing
import VirtualReader

/// The reports of cards that are read here, as the program prints them: its answers are compared member by member.
@Suite("Documents of licenses and My Number cards")
struct IdentityDocumentTests {
    private func answer(_ name: String) throws -> JSONObject {
        let value = try JSONValue(parsing: TestFiles.read("Fixtures/cli/answers/\(name).json"))
        guard case .object(let object) = value else { return JSONObject() }
        return object
    }

    /// Compares the members of a report, and says that the program adds only these.
    private func compare(_ object: JSONObject, _ answer: JSONObject, added: Set<String>) {
        for member in object.members { #expect(member.value == answer[member.key], "\(member.key)") }
        #expect(answer.members.map(\.key).filter { !added.contains($0) } == object.members.map(\.key))
    }

    @Test(
        "Licenses",
        arguments: [
            ("sample", "sample", true), ("gaiji", "gaiji", true), ("broken", "broken", true),
            ("edition-007", "edition-007", true), ("plain", "plain", true), ("sample", "free", false),
        ])
    func license(card: String, name: String, hasPINs: Bool) throws {
        let card = try FileCard("license/\(card).json")
        var reader = try LicenseReader(card.session, card.identity)
        if hasPINs { reader.verify([(.pin1, FileCard.pin("1234")), (.pin2, FileCard.pin("5678"))], consent: .never) }
        let report = try #require(LicenseDecoder.decode(reader.finish()))
        compare(report.json(.english), try answer("license-\(name)"), added: ["schema", "card", "faults"])
    }

    @Test("My Number cards", arguments: [("mynumber", true), ("mynumber-free", false)])
    func myNumber(name: String, hasPIN: Bool) throws {
        let card = try FileCard("mynumber/card.json")
        var reader = try MyNumberReader(card.session, card.identity)
        if hasPIN { reader.verify(FileCard.pin("2222"), consent: .never) }
        let report = try #require(MyNumberDecoder.decode(reader.finish()))
        let answer = try answer(name)
        // The program looks into the certificates and checks signatures, which is not the work of the decoder.
        let members = report.json(.english).members.filter { $0.key != "certificates" }
        let object = JSONObject(members.map { ($0.key, $0.value) })
        compare(object, answer, added: ["schema", "card", "faults", "certificates", "signature"])
    }
}
