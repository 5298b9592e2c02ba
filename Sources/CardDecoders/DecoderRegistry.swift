// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The decoders that there are, in the order in which they are asked.
public struct DecoderRegistry: Sendable {
    /// The decoders in order.
    public let decoders: [any CardDecoder]
    /// The system of each.
    private let codes: [SystemCode]

    /// A list of one's own.
    public init(_ decoders: [any CardDecoder]) {
        self.decoders = decoders
        codes = decoders.map(\.system)
    }

    /// Every decoder of Kazasu.
    ///
    /// The order is the order in which systems are polled and purses are shown: the transit purse first, since it is
    /// what most people carry and since a card that holds both (a Suica with a common area) is a transit card to its
    /// owner; then the common area's e-money, each told by its own services, so that their order among themselves
    /// does not matter. Cards of one town or country follow, each with a system of its own; then what is no purse.
    public static let standard = DecoderRegistry(
        [
            CyberneticsDecoder.transit,
            EdyDecoder(),
            NanacoDecoder(),
            WaonDecoder(),
            UniversityCoopDecoder(),
            CyberneticsDecoder.iruca,
            CyberneticsDecoder.paspy,
            CyberneticsDecoder.sapica,
            CyberneticsDecoder.setamaru,
            CyberneticsDecoder.saitama,
            OkicaDecoder(),
            RyutoDecoder(),
            ToyamaDecoder(),
            AyucaDecoder(),
            ICaDecoder(),
            RapiCaDecoder(),
            NicePassDecoder(),
            OctopusDecoder.octopus,
            OctopusDecoder.shenzhenTong,
            KMTDecoder(),
            MRTJakartaDecoder(),
            HoChiMinhCityDecoder(),
            DhakaDecoder(),
            QuicPayDecoder.commonArea,
            QuicPayDecoder.ana,
            QuicPayDecoder.speedpass,
            FeliCaLiteDecoder(),
            NDEFDecoder(),
            CampusCardDecoder.fcf,
            CampusCardDecoder.gifu,
        ] + NamedCardDecoder.all)

    /// The decoders of cards with money that can be read, in order: what to ask of a card for balance and history.
    public var purses: [any CardDecoder] { decoders.filter(\.hasBalance) }

    /// The decoder with this id, or `nil`.
    public func decoder(id: String) -> (any CardDecoder)? {
        decoders.first { $0.id == id }
    }

    /// The decoders that recognise the dump, in order; a card may be several kinds at once.
    public func recognising(_ dump: CardDump) -> [any CardDecoder] {
        // Most decoders are left out by their system alone: looking at a code is quicker than at a dump. Cards that are not
        // FeliCa have no systems.
        guard dump.card.technology == .felica else { return decoders.filter { $0.recognises(dump) } }
        let present = dump.systems.map(\.systemCode)
        var found: [any CardDecoder] = []
        for place in codes.indices where present.contains(codes[place]) && decoders[place].recognises(dump) {
            found.append(decoders[place])
        }
        return found
    }

    /// The systems of the decoders in order, each once: what to poll for when the kind of card is not known.
    public var systems: [SystemCode] {
        var seen: Set<SystemCode> = []
        return decoders.map(\.system).filter { seen.insert($0).inserted }
    }
}
