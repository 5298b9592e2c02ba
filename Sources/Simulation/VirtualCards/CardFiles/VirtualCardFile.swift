// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Virtual cards from files, with an optional member `virtual` for limits and deviations. A file is a dump
/// (`kazasu.dump/1`) or a card written by hand (`kazasu.card/1`); `Docs/virtual-cards.md` describes both.
package enum VirtualCardFile {
    /// The schema of cards that are written by hand.
    package static let schema = "kazasu.card/1"

    /// Creates the FeliCa card of a file.
    ///
    /// - Throws: `DocumentError` with the path of the error, also for a file of other cards.
    package static func load(_ bytes: [UInt8]) throws(DocumentError) -> VirtualFeliCaCard {
        let cards = try parse(bytes).cards
        guard cards.count == 1, let card = cards.first as? VirtualFeliCaCard else {
            throw .malformed(key: "", expected: .init(.feliCaCard))
        }
        return card
    }

    /// Creates the cards of a file, of any kind.
    ///
    /// - Throws: `DocumentError` with the path of the error.
    package static func loadCards(_ bytes: [UInt8]) throws(DocumentError) -> [any VirtualCard] {
        try parse(bytes).cards
    }

    /// What a file puts before a reader.
    struct Content {
        var cards: [any VirtualCard]
        var faults: InjectedFaults
        var visits: CardVisits?
        var collision = VirtualField.Collision.firstIsHeard
        var reader = ReaderQuirks.none
    }

    static func parse(_ bytes: [UInt8]) throws(DocumentError) -> Content {
        guard bytes.count <= CardDump.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: CardDump.longestDocument)
        }
        let root = JSONCursor(try JSONValue(parsing: bytes))
        _ = try root.required("schema").text()
        let faults = InjectedFaults(
            try root.optional("virtual")?.optional("faults")?.list { rule throws(DocumentError) in
                try InjectedFaultRule(json: rule)
            } ?? [])
        let visits = try root.optional("virtual")?.optional("visits").map { json throws(DocumentError) in
            try CardVisits(json: json)
        }
        let quirks = try CardQuirks(root.optional("virtual")?.optional("quirks"))
        let reader = try ReaderQuirks(quirks)
        let collision: VirtualField.Collision = quirks.has(.twoCards) ? .damaged : .firstIsHeard
        guard let list = try root.optional("cards") else {
            var cards = [try card(root)]
            if quirks.has(.twoCards), let other = try card(root) as? VirtualFeliCaCard {
                other.renumber(besides)
                cards.append(other)
            }
            return Content(cards: cards, faults: faults, visits: visits, collision: collision, reader: reader)
        }
        try root.allowOnly(["schema", "comment", "cards", "phone", "virtual"])
        try root.optional("virtual")?.allowOnly(["faults", "visits", "quirks"])
        _ = try CardQuirks(root.optional("virtual")?.optional("quirks"), [.twoCards])
        let elements = try list.elements()
        guard (1...8).contains(elements.count) else { throw list.malformed(.cardCount, "1–8") }
        var cards: [any VirtualCard] = []
        for element in elements {
            for key in ["faults", "visits"] {
                if let json = try element.optional("virtual")?.optional(key) {
                    throw json.malformed(.fieldOnly, key)
                }
            }
            if let json = try element.optional("virtual")?.optional("quirks"), try CardQuirks(json).haveReader {
                throw json.malformed(.fieldOnly, "quirks")
            }
            cards.append(try card(element))
        }
        if let phone = try root.optional("phone") { cards = [try VirtualPhone(json: phone, cards)] }
        return Content(cards: cards, faults: faults, visits: visits, collision: collision, reader: reader)
    }

    /// The IDm of the card that `two-cards` puts beside another one.
    private static let besides: UInt64 = 0x0112_BE51_DE00_0001

    /// The card described by a document, or by an element of `cards`.
    private static func card(_ json: JSONCursor) throws(DocumentError) -> any VirtualCard {
        let schema = try json.optional("schema")?.text() ?? self.schema
        switch schema {
        case self.schema:
            if try json.optional("type2") != nil { return try Type2CardFile.load(json) }
            if try json.optional("classic") != nil { return try ClassicCardFile.load(json) }
            let interfaces = [try json.optional("typeA"), try json.optional("typeB")]
            guard interfaces.allSatisfy({ $0 == nil }) else { return try FileCardFile.load(json) }
            return try HandWrittenCard.load(json, VirtualOptions(json.optional("virtual")))
        case CardDump.schema:
            let dump = try CardDump(json: json.value)
            if let tag = dump.type2 { return try Type2CardFile.card(of: dump, tag, json.optional("virtual")) }
            if let memory = dump.classic {
                return try ClassicCardFile.card(of: dump, memory, json.optional("virtual"))
            }
            guard dump.card.technology == .felica else {
                return try FileCardFile.card(of: dump, json.optional("virtual"))
            }
            return try card(of: dump, VirtualOptions(json.optional("virtual")))
        default: throw .unknownSchema(found: schema, supported: "\(CardDump.schema) or \(self.schema)")
        }
    }

    /// Creates the card of a FeliCa dump.
    ///
    /// - Throws: `DocumentError` when it is not a dump of a FeliCa card.
    package static func card(of dump: CardDump) throws(DocumentError) -> VirtualFeliCaCard {
        try card(of: dump, VirtualOptions(nil))
    }

    private static func card(
        of dump: CardDump, _ options: VirtualOptions
    ) throws(DocumentError) -> VirtualFeliCaCard {
        guard dump.card.technology == .felica else {
            throw .malformed(key: "card.technology", expected: .init(.oneOf, "felica"))
        }
        guard let first = dump.systems.first else { throw .missing(key: "felica.systems") }
        guard dump.systems.count <= 16 else {
            throw .malformed(key: "felica.systems", expected: .init(.atMostSystems, "16"))
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

extension CardVisits {
    /// Reads `virtual.visits`.
    fileprivate init(json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(["seed", "frames", "from", "within", "startup", "stay", "pace"])
        let within = try json.optional("within")?.integer(in: 0...3_600_000)
        let first = try json.optional("from")?.integer(in: 0...3_600_000) ?? 0
        let frames = try json.optional("frames")?.integer(in: 0...1_000_000)
        self.init(
            seed: UInt64(clamping: try json.optional("seed")?.integer(in: 0...Int.max) ?? 0),
            within.map { .within(.milliseconds($0), from: .milliseconds(first)) } ?? .frames(frames ?? 60),
            startup: .milliseconds(try json.optional("startup")?.integer(in: 0...60_000) ?? 0),
            stay: try json.optional("stay")?.integer(in: 1...1_000_000),
            pace: try json.optional("pace")?.integer(in: 1...1000) ?? 1)
    }
}

extension VirtualPhone {
    /// Reads `phone`; its cards are those of `cards`.
    fileprivate convenience init(json: JSONCursor, _ cards: [any VirtualCard]) throws(DocumentError) {
        try json.allowOnly(["firstAnswer", "start", "grace", "seed"])
        var rules = Rules()
        if let number = try json.optional("firstAnswer") { rules.firstAnswer = try number.integer(in: 1...100) }
        if let time = try json.optional("start") { rules.startTime = .milliseconds(try time.integer(in: 0...60_000)) }
        if let time = try json.optional("grace") { rules.gracePeriod = .milliseconds(try time.integer(in: 0...60_000)) }
        let feliCa = cards.compactMap { $0 as? VirtualFeliCaCard }
        guard feliCa.count <= 1 else { throw json.malformed(.onePhoneCard) }
        self.init(
            express: feliCa.first, others: cards.filter { !($0 is VirtualFeliCaCard) }, rules: rules,
            seed: UInt64(clamping: try json.optional("seed")?.integer(in: 0...Int.max) ?? 0))
    }
}

extension JSONCursor {
    /// Checks that this object has no other members, so that a typo is not taken for a setting.
    func allowOnly(_ keys: Set<String>) throws(DocumentError) {
        for (key, value) in try members() where !keys.contains(key) {
            throw value.malformed(.knownMember, values: keys.sorted())
        }
    }

    /// Parses this as one of a set of keywords.
    func word<Value>(_ meanings: [String: Value]) throws(DocumentError) -> Value {
        guard let value = meanings[try text()] else {
            throw malformed(.oneOf, values: meanings.keys.sorted())
        }
        return value
    }

    /// The bytes of this hexadecimal text, `nil` for anything else.
    var hexadecimal: [UInt8]? {
        guard case .string(let text) = value else { return nil }
        return try? Hex.decode(text)
    }

    /// The code in this text, `nil` for anything else.
    package func text<Code: FourDigitCode>(as type: Code.Type) -> Code? {
        guard case .string(let text) = value else { return nil }
        return Code(text)
    }

    /// Parses this as hexadecimal bytes, at most `limit` of them.
    package func bytes(atMost limit: Int) throws(DocumentError) -> [UInt8] {
        let data = try bytes()
        guard data.count <= limit else { throw malformed(.atMostBytes, "\(limit)") }
        return data
    }

    /// Parses this as a list of command codes of two hexadecimal digits.
    func commands() throws(DocumentError) -> Set<CommandCode> {
        Set(
            try list { element throws(DocumentError) in
                guard let code = try element.bytes(count: 1).first.flatMap(CommandCode.init(rawValue:)) else {
                    let known = CommandCode.allCases.map { Hex.encode($0.rawValue, digits: 2) }
                    throw element.malformed(.knownCommand, values: Array(known))
                }
                return code
            })
    }
}
