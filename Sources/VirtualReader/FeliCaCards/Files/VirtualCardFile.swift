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
        try parse(bytes).card
    }

    /// Makes the card that a file describes, and puts it into a field in which the file's `virtual.faults` happen.
    ///
    /// - Throws: `DocumentError` with the path of what is wrong.
    public static func loadField(_ bytes: [UInt8]) throws(DocumentError) -> VirtualField {
        let (card, faults) = try parse(bytes)
        return VirtualField(cards: [card], faults: faults)
    }

    private static func parse(_ bytes: [UInt8]) throws(DocumentError) -> (card: VirtualFeliCaCard, faults: FaultPlan) {
        guard bytes.count <= CardDump.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: CardDump.longestDocument)
        }
        let json = try JSONValue(parsing: bytes)
        let root = JSONCursor(json)
        let schema = try root.required("schema").text()
        let options = try VirtualOptions(root.optional("virtual"))
        let faults = try options.faults()
        switch schema {
        case self.schema: return (try HandWrittenCard.load(root, options), faults)
        case CardDump.schema: return (try card(of: CardDump(json: json), options), faults)
        default: throw .unknownSchema(found: schema, supported: "\(CardDump.schema) or \(self.schema)")
        }
    }

    /// The card that a dump is of.
    ///
    /// - Throws: `DocumentError` when it is no dump of a FeliCa card.
    public static func card(of dump: CardDump) throws(DocumentError) -> VirtualFeliCaCard {
        try card(of: dump, VirtualOptions(nil))
    }

    private static func card(
        of dump: CardDump, _ options: VirtualOptions
    ) throws(DocumentError) -> VirtualFeliCaCard {
        guard dump.card.technology == .felica else {
            throw .malformed(key: "card.technology", expected: "felica; virtual cards of other kinds are not made yet")
        }
        guard let first = dump.systems.first else { throw .missing(key: "felica.systems") }
        guard dump.systems.count <= 16 else {
            throw .malformed(key: "felica.systems", expected: "at most 16 systems")
        }
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
