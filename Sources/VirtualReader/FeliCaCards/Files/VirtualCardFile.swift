// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Virtual cards from files: a dump (`kazasu.dump/1`) or a card written by hand (`kazasu.card/1`), both with an
/// optional member `virtual` for limits and oddities. `Docs/virtual-cards.md` describes both.
public enum VirtualCardFile {
    /// The schema of cards that are written by hand.
    public static let schema = "kazasu.card/1"

    /// Makes the card that a file describes.
    ///
    /// - Throws: `DocumentError` with the path of what is wrong.
    public static func load(_ bytes: [UInt8]) throws(DocumentError) -> VirtualFeliCaCard {
        guard bytes.count <= CardDump.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: CardDump.longestDocument)
        }
        let json = try JSONValue(parsing: bytes)
        let root = JSONCursor(json)
        switch try root.required("schema").text() {
        case schema: return try HandWrittenCard.load(root)
        case CardDump.schema:
            return try card(of: CardDump(json: json), options: root.optional("virtual"))
        case let found: throw .unknownSchema(found: found, supported: "\(CardDump.schema) or \(schema)")
        }
    }

    /// The card that a dump is of.
    ///
    /// - Throws: `DocumentError` when it is no dump of a FeliCa card.
    public static func card(of dump: CardDump) throws(DocumentError) -> VirtualFeliCaCard {
        try card(of: dump, options: nil)
    }

    private static func card(
        of dump: CardDump, options: JSONCursor?
    ) throws(DocumentError) -> VirtualFeliCaCard {
        guard dump.card.technology == .felica else {
            throw .malformed(key: "card.technology", expected: "felica; virtual cards of other kinds are not made yet")
        }
        guard let first = dump.systems.first else { throw .missing(key: "felica.systems") }
        guard dump.systems.count <= 16 else {
            throw .malformed(key: "felica.systems", expected: "at most 16 systems")
        }
        let options = try VirtualOptions(options)
        let pmm = first.pmm
        if let kind = LiteMemory.kind(of: pmm) {
            let lite = LiteMemory(kind: kind, idm: first.idm, pmm: pmm, blocks: LiteMemory.blocks(in: dump))
            return VirtualFeliCaCard(lite: lite, profile: try options.applied(to: .lite))
        }
        var systems = dump.systems.map { VirtualSystem($0) }
        try options.hide(in: &systems)
        return VirtualFeliCaCard(systems: systems, profile: try options.applied(to: CardProfile(pmm: pmm)))
    }
}
