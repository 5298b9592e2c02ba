// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

/// A folder of `Fixtures/cards`.
struct CardFixture: CustomTestStringConvertible, Sendable {
    let name: String

    static let all = TestFiles.names(in: "Fixtures/cards").map { CardFixture(name: $0) }

    /// Those that say what the decoders see in them.
    static let decoded = all.filter { $0.has("balance.json") }

    /// Those that say what the decoders see beside money and history.
    static let reported = all.filter { $0.has("report.json") }

    var testDescription: String { name }

    func has(_ file: String) -> Bool { TestFiles.names(in: "Fixtures/cards/\(name)").contains(file) }

    func text(_ file: String) throws -> String {
        String(decoding: try TestFiles.read("Fixtures/cards/\(name)/\(file)"), as: UTF8.self)
    }

    func json(_ file: String) throws -> JSONCursor {
        JSONCursor(try JSONValue(parsing: try TestFiles.read("Fixtures/cards/\(name)/\(file)")))
    }

    func dump() throws -> CardDump {
        try CardDump(parsing: try TestFiles.read("Fixtures/cards/\(name)/card.json"))
    }
}

extension CardFixture {
    static let suica = CardFixture(name: "suica-p1")
    static let edy = CardFixture(name: "edy")
    static let fiveSystems = CardFixture(name: "five-systems")
}

extension DecodedCard {
    /// A card for documents in which the card does not matter.
    static let invented = DecodedCard(
        identity: .typeB(pupi: [1, 2, 3, 4], bitRate: nil), kind: "a",
        brand: CardBrand(id: "b", name: LocalizedText("B", "び")))
}
