// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// `card` of the documents about a decoded card: its identity, its kind and its brand.
package struct DecodedCard: Hashable, Sendable {
    /// The card's answers when the reader found it.
    package var identity: CardIdentity
    /// The kind of card, or `nil` when no decoder knows it.
    package var kind: CardKind?
    /// The brand, or `nil` when it is unknown.
    package var brand: CardBrand?
    /// The day on which the chip was made, for documents that give it.
    package var manufactured: CalendarDate?

    /// Describes a card on a reader.
    package init(identity: CardIdentity, kind: CardKind?, brand: CardBrand?) {
        self.identity = identity
        self.kind = kind
        self.brand = brand
    }

    /// Describes the card of a dump.
    package init(_ dump: CardDump, kind: CardKind?) {
        let decoder = kind.flatMap(DecoderRegistry.standard.decoder(of:))
        self.init(identity: dump.card, kind: kind, brand: decoder?.brand(dump))
    }

    /// Writes the object: the members of the identity, `manufactured` where it is set, `kind`, and the id of the brand as
    /// `brand`.
    package func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.members(of: identity.members)
            if let manufactured { $0.member("manufactured") { manufactured.writeManufactured(to: &$0) } }
            $0.member("kind", kind?.rawValue)
            $0.member("brand", brand?.id)
        }
    }
}

/// A kind of card: what a decoder reads.
///
/// Each decoder in Kazasu adds its kind as a static member, such as ``transit``; a decoder of your own names another.
public struct CardKind: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The word in documents and of `--card`, as in `transit`; never changes.
    public let rawValue: String

    /// Creates a kind from its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates a kind from its word.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// The word.
    public var description: String { rawValue }

    /// A MIFARE Classic.
    public static let classic = CardKind(rawValue: "classic")

    /// A MIFARE DESFire.
    package static let desfire = CardKind(rawValue: "desfire")
}

/// The brand that is printed on a card.
public struct CardBrand: Hashable, Sendable {
    /// The identifier for machine use, as in `suica`; never changes.
    public let id: String
    /// The display name.
    public let name: LocalizedText

    /// Creates a brand.
    public init(id: String, name: LocalizedText) {
        self.id = id
        self.name = name
    }
}
