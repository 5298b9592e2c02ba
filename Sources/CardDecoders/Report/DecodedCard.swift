// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// `card` of the documents about a decoded card: its identity, its kind and its brand.
package struct DecodedCard: Hashable, Sendable {
    /// The card's answers when the reader found it.
    package var identity: CardIdentity
    /// The decoder's id, as in `transit`, or `nil` when no decoder knows the card.
    package var kind: String?
    /// The brand, or `nil` when it is unknown.
    package var brand: CardBrand?
    /// The day on which the chip was made, for documents that give it.
    package var manufactured: CalendarDate?

    /// Describes a card on a reader.
    package init(identity: CardIdentity, kind: String?, brand: CardBrand?) {
        self.identity = identity
        self.kind = kind
        self.brand = brand
    }

    /// Describes the card of a dump.
    ///
    /// - Parameter kind: the id of the decoder that read it, or of another kind of card.
    package init(_ dump: CardDump, kind: String?) {
        let decoder = kind.flatMap { DecoderRegistry.standard.decoder(id: $0) }
        self.init(identity: dump.card, kind: kind, brand: decoder?.brand(dump))
    }

    /// Writes the object: the members of the identity, `manufactured` where it is set, `kind`, and the id of the brand as
    /// `brand`.
    package func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.members(of: identity.members)
            if let manufactured { $0.member("manufactured") { manufactured.writeManufactured(to: &$0) } }
            $0.member("kind", kind)
            $0.member("brand", brand?.id)
        }
    }
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
