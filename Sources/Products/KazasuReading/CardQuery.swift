// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import CardReading
package import ReaderCore

/// The card to wait for.
public struct CardQuery: Hashable, Sendable {
    /// The kinds of card that a program can wait for.
    @nonexhaustive
    public enum Kind: Hashable, Sendable, CaseIterable {
        case feliCa
        case isoDEP
        case license
        case myNumber
        case residence
        case passport
        case tag
        case classic
        case desfire
        case any

        /// The technologies that such a card may have.
        public var technologies: [Technology] {
            switch self {
            case .feliCa: [.felica]
            case .isoDEP, .license, .myNumber, .residence, .passport: [.typeA, .typeB]
            case .classic, .desfire: [.typeA]
            case .tag, .any: Technology.allCases
            }
        }
    }

    /// How a reader searches for it.
    package enum Search: Hashable, Sendable {
        /// A FeliCa card with one of these systems, in order of preference.
        case systems([SystemCode], requestCode: UInt8)
        /// One card of each technology; a phone answers as several.
        case each([Technology])
        /// The first card that answers one of these requests.
        case first([ActivationRequest])
        /// The first card of one of these technologies.
        case firstOf([Technology])
        /// A card that accepts APDUs.
        case isoDEP([Technology])
        /// A card that may be an NFC Forum tag.
        case tag

        /// The technologies that were chosen; all where none were.
        var technologies: [Technology] {
            switch self {
            case .each(let technologies), .firstOf(let technologies): technologies
            case .first(let requests): Technology.allCases.filter { requests.map(\.technology).contains($0) }
            case .systems, .isoDEP, .tag: Technology.allCases
            }
        }

        /// Whether it goes on after the first card, which then is no longer selected.
        var looksForMore: Bool {
            if case .each(let technologies) = self { technologies.count > 1 } else { false }
        }
    }

    /// The kind of card.
    public let kind: Kind
    package let search: Search

    /// The technologies that a closer look is for: those that were chosen, and all where one kind of card is wanted.
    var technologiesOfCloserLook: [Technology] { kind == .any ? search.technologies : Technology.allCases }

    package init(_ kind: Kind, _ search: Search) {
        self.kind = kind
        self.search = search
    }

    /// Any card.
    public static let any = CardQuery(.any, .each(CardFinder.usualOrder))
    /// Returns a query for the first card of one of these technologies, such as the one of a dump to resume.
    public static func first(of technologies: [Technology] = Technology.allCases) -> CardQuery {
        CardQuery(.any, .firstOf(technologies))
    }

    /// Any FeliCa card; the transit system of a phone is activated first.
    public static let feliCa = feliCa(systems: CardFinder.anySystem)
    /// Any card but FeliCa cards without the transit system, unless `wildcard` is true: a phone opens its wallet when a
    /// reader asks for any FeliCa card.
    package static func phones(wildcard: Bool) -> CardQuery {
        let wild: [ActivationRequest] = wildcard ? [.felica(.any, requestCode: 1)] : []
        return CardQuery(.any, .first([.felica(.transit, requestCode: 1), .typeA(), .typeB()] + wild))
    }
    /// A card that accepts APDUs (ISO-DEP, type A or B).
    public static let isoDEP = CardQuery(.isoDEP, .isoDEP([.typeA, .typeB]))
    /// A Japanese driver's license, or the license on a My Number card.
    public static let license = CardQuery(.license, .isoDEP([.typeB, .typeA]))
    /// A My Number card.
    public static let myNumber = CardQuery(.myNumber, .isoDEP([.typeB, .typeA]))
    /// A residence card or a special permanent resident certificate.
    public static let residence = CardQuery(.residence, .isoDEP([.typeB, .typeA]))
    /// An electronic passport.
    public static let passport = CardQuery(.passport, .isoDEP([.typeB, .typeA]))
    /// An NFC Forum tag: Type 2, 3 or 4.
    public static let tag = CardQuery(.tag, .tag)
    /// A FeliCa card with a readable purse.
    public static let purse = decoders(DecoderRegistry.standardPurses)

    /// Returns a query for a FeliCa card of one of these kinds.
    public static func purse(of kinds: [CardKind]) -> CardQuery {
        decoders(DecoderRegistry.standardPurses.filter { kinds.contains($0.kind) })
    }

    /// Returns a query for a FeliCa card with one of these systems.
    ///
    /// The first listed system that the card has wins, whatever the order on the card.
    public static func feliCa(systems: [SystemCode]) -> CardQuery {
        feliCa(systems: systems, requestCode: 1)
    }

    /// Returns the same query, with the request code of the Polling: 1 requests the system code, 0 nothing more.
    package static func feliCa(systems: [SystemCode], requestCode: UInt8) -> CardQuery {
        CardQuery(.feliCa, .systems(systems, requestCode: requestCode))
    }

    /// How many systems are polled for by code; a card with none of them is asked for its list.
    static let polledByName = 2

    /// Returns a query for a card that one of these decoders may know.
    public static func decoders(_ decoders: [any CardDecoder]) -> CardQuery {
        let codes = DecoderRegistry(decoders).systems
        return codes.count <= polledByName
            ? feliCa(systems: codes, requestCode: 0) : feliCa(systems: codes.prefix(polledByName) + [.any])
    }
}

extension CardQuery.Kind: SelfDescribing {
    /// What is expected, in the singular.
    public var message: LocalizedText {
        switch self {
        case .feliCa: LocalizedText("a FeliCa card", "FeliCa カード")
        case .isoDEP: LocalizedText("an ISO-DEP card of type A or B", "Type A/B の ISO-DEP カード")
        case .license: LocalizedText("a driver's license", "運転免許証")
        case .myNumber: LocalizedText("a My Number card", "マイナンバーカード")
        case .residence: LocalizedText("a residence card", "在留カード・特別永住者証明書")
        case .passport: LocalizedText("a passport", "パスポート")
        case .tag: LocalizedText("an NFC Forum tag", "NFC フォーラムのタグ")
        case .classic: LocalizedText("a MIFARE Classic", "MIFARE Classic")
        case .desfire: LocalizedText("a MIFARE DESFire", "MIFARE DESFire")
        case .any: LocalizedText("another card", "別の種類のカード")
        }
    }
}
