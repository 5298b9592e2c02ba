// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One kind of card: which blocks to read, and what their bytes mean.
///
/// A decoder is a pure function of a dump. It never talks to a card, and no input can make it trap.
public protocol CardDecoder: Sendable {
    /// The kind of card; its raw value is a word of documents and of `--card`.
    var kind: CardKind { get }
    /// The display name.
    var name: LocalizedText { get }
    /// The block that contains the balance; for a card without money, a block that identifies the card.
    var balanceRead: ReadRequest { get }
    /// All blocks needed for the history and its checks.
    var historyReads: [ReadRequest] { get }
    /// How the serial numbers of the history count, or `nil` if its records have none. What follows from two of them
    /// (how many records were lost in between) depends on it.
    var serials: SerialNumbers? { get }
    /// Other systems whose presence on the card decides what the balance is; usually empty.
    var companions: [SystemCode] { get }
    /// What tells the brand where this kind of card covers several; otherwise empty.
    ///
    /// Of a service without blocks, only the presence is needed.
    var brandReads: [ReadRequest] { get }
    /// The brands that this kind of card covers, as in ``brand(_:)``.
    var brands: [CardBrand] { get }
    /// The bytes that identify the holder; `--redact` masks exactly these.
    ///
    /// They comprise every byte that a personal field is decoded from, and bytes known to contain a number or name that
    /// is not decoded.
    var personal: [PersonalBytes] { get }
    /// Whether such cards hold money that this decoder can read; if not, ``balance(_:)`` always throws.
    var hasBalance: Bool { get }
    /// Returns whether the dump is of such a card; of a FeliCa card never true without its ``system``.
    func recognizes(_ dump: CardDump) -> Bool
    /// Returns the brand of the card, or `nil` when it is unknown; needs only ``brandReads``.
    func brand(_ dump: CardDump) -> CardBrand?
    /// Returns the card's balance; needs only ``balanceRead``.
    ///
    /// - Throws: ``CardDecodingError`` when the dump does not contain it.
    func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport
    /// Returns everything that can be decoded from the dump; values that were not read are `nil`.
    ///
    /// - Parameter stations: the table for looking up place names.
    /// - Throws: ``CardDecodingError`` when the dump contains nothing of such a card.
    func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport
}

extension CardDecoder {
    /// The system by which the card is found.
    public var system: SystemCode { balanceRead.system }

    /// The default: other systems decide nothing.
    public var companions: [SystemCode] { [] }

    /// The default: most cards have a balance.
    public var hasBalance: Bool { true }

    /// The default: the records have no serial numbers, or there is no history.
    public var serials: SerialNumbers? { nil }

    /// The default: the card has a service of ``historyReads`` that is required.
    public func recognizes(_ dump: CardDump) -> Bool { historyReads.contains { $0.isRequired && dump.holds($0) } }

    /// The default: most kinds are one brand.
    public var brandReads: [ReadRequest] { [] }

    /// The default: the brand that the kind is named after.
    public var brands: [CardBrand] { [CardBrand(id: kind.rawValue, name: name)] }

    /// The default: a card with money is of the only brand.
    public func brand(_ dump: CardDump) -> CardBrand? { hasBalance ? brands.first : nil }

    /// The default: transit cards and many others keep no number that is readable without a key.
    public var personal: [PersonalBytes] { [] }

    /// Returns everything that can be decoded from the dump, without place names.
    ///
    /// - Throws: ``CardDecodingError`` when the dump contains nothing of such a card.
    public func decode(_ dump: CardDump) throws(CardDecodingError) -> CardReport {
        try decode(dump, stations: NoStationNames())
    }
}

/// A decoder of cards without a readable balance: they hold none, or its location is not published.
public protocol PurselessDecoder: CardDecoder {}

extension PurselessDecoder {
    /// Always `false`.
    public var hasBalance: Bool { false }

    /// Always throws.
    ///
    /// - Throws: ``CardDecodingError`` with the reason `noBalance`, or why the block that identifies the card is
    ///   missing.
    public func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        throw noBalance(dump)
    }

    /// Returns why there is no balance: the card is missing from the dump, or it has no balance.
    func noBalance(_ dump: CardDump) -> CardDecodingError {
        CardDecodingError(
            kind: kind, field: "balance", system: balanceRead.system, service: balanceRead.service,
            block: balanceRead.blocks.lowerBound, offset: 0, reason: recognizes(dump) ? .noBalance : .noSuchService)
    }
}

/// How the serial numbers of a card's history count.
public struct SerialNumbers: Hashable, Sendable {
    /// The width of the counter in bits, 1 to 32; after its largest value it starts again.
    public let bits: Int
    /// Whether a ride by rail may count two, once at the entry and once at the exit; anything else counts one.
    public let countsEntries: Bool

    /// Creates the description of a counter; by default each record counts one.
    public init(bits: Int, countsEntries: Bool = false) {
        self.bits = min(max(bits, 1), 32)
        self.countsEntries = countsEntries
    }
}

/// Blocks that a decoder needs, expressed as data so that several requests can be merged into few commands.
public struct ReadRequest: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service, readable without a key.
    public let service: ServiceCode
    /// The block numbers; it is not an error if the service has fewer blocks.
    public let blocks: Range<UInt16>
    /// Whether decoding is impossible without them; if a card refuses other blocks, the rest is still decoded.
    public let isRequired: Bool

    /// Creates a request for blocks.
    public init(system: SystemCode, service: ServiceCode, blocks: Range<UInt16>, isRequired: Bool = true) {
        self.system = system
        self.service = service
        self.blocks = blocks
        self.isRequired = isRequired
    }
}

extension ReadRequest {
    /// Creates a request from plain system and service codes, for block 0 only unless other blocks are given.
    init(_ system: UInt16, _ service: UInt16, _ blocks: Range<UInt16> = 0..<1, isRequired: Bool = true) {
        self.init(
            system: SystemCode(rawValue: system), service: ServiceCode(rawValue: service), blocks: blocks,
            isRequired: isRequired)
    }
}

/// A list of decoders, in the order in which they are tried.
public struct DecoderRegistry: Sendable {
    /// The decoders in order.
    public let decoders: [any CardDecoder]
    /// The system of each decoder.
    private let codes: [SystemCode]

    /// Creates a registry of these decoders.
    public init(_ decoders: [any CardDecoder]) {
        self.decoders = decoders
        codes = decoders.map(\.system)
    }

    /// All decoders in Kazasu.
    ///
    /// Systems are polled and purses are shown in this order. The transit purse comes first: it is what most people
    /// carry, and a card that has both (a Suica with a common area) is a transit card to its owner. The e-money cards
    /// of the common area follow; each is identified by its own services, so their relative order does not matter. Then
    /// come the cards of one town or country, each with its own system, and last the cards without a purse.
    public static let standard = DecoderRegistry(known + NamedCardDecoder.all)

    /// The purses of ``standard``, made without its table of named cards, which reading a balance does not need.
    package static let standardPurses: [any CardDecoder] = known.filter(\.hasBalance)

    /// The decoders with code of their own.
    private static let known: [any CardDecoder] = [
        CyberneticsDecoder.transit,
        EdyDecoder(),
        NanacoDecoder(),
        WaonDecoder(),
        UniversityCoopDecoder(),
        ICUDecoder(),
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
        KururuDecoder(),
        OctopusDecoder.octopus,
        OctopusDecoder.shenzhenTong,
        KMTDecoder(),
        JakartaPurseDecoder.mrtJakarta,
        JakartaPurseDecoder.hoChiMinhCity,
        DhakaDecoder(),
        QuicPayDecoder.commonArea,
        QuicPayDecoder.ana,
        QuicPayDecoder.speedpass,
        FeliCaLiteDecoder(),
        NDEFDecoder(),
        CampusCardDecoder.fcf,
        CampusCardDecoder.gifu,
        CoopMembershipDecoder(),
    ]

    /// The decoders of cards with readable money, in order: those to use for balance and history.
    public var purses: [any CardDecoder] { decoders.filter(\.hasBalance) }

    /// The decoder of this kind of card, or `nil`.
    public func decoder(of kind: CardKind) -> (any CardDecoder)? {
        decoders.first { $0.kind == kind }
    }

    /// Returns the decoder of a purse that people know by this name: its kind, or the id or name of one of its brands, in
    /// any case.
    public func purse(named name: String) -> (any CardDecoder)? { purse(ofName: name)?.decoder }

    /// Returns the same with the brand that the name is of; `nil` for the name of a kind, and where a kind is one brand.
    package func purse(ofName name: String) -> (decoder: any CardDecoder, brand: CardBrand?)? {
        let name = name.lowercased()
        if let decoder = purses.first(where: { $0.kind.rawValue == name }) { return (decoder, nil) }
        for decoder in purses {
            let brand = decoder.brands.first { brand in
                [brand.id, brand.name.english, brand.name.japanese].contains { $0.lowercased() == name }
            }
            if let brand { return (decoder, decoder.brands.count > 1 ? brand : nil) }
        }
        return nil
    }

    /// Returns the decoders that recognize the dump, in order; a card can be of several kinds.
    public func recognizing(_ dump: CardDump) -> [any CardDecoder] {
        // The system alone rules out most decoders: comparing a code is faster than inspecting a dump. Tags other than
        // FeliCa have no systems.
        guard dump.card.technology == .felica else { return decoders.filter { $0.recognizes(dump) } }
        let present = dump.systems.map(\.systemCode)
        var found: [any CardDecoder] = []
        for place in codes.indices where present.contains(codes[place]) && decoders[place].recognizes(dump) {
            found.append(decoders[place])
        }
        return found
    }

    /// The systems of the decoders in order, each once: those to poll for when the kind of card is unknown.
    public var systems: [SystemCode] {
        var systems: [SystemCode] = []
        for decoder in decoders where !systems.contains(decoder.system) { systems.append(decoder.system) }
        return systems
    }
}

extension DecoderRegistry: ExpressibleByArrayLiteral {
    /// Creates a registry of these decoders.
    public init(arrayLiteral decoders: any CardDecoder...) { self.init(decoders) }
}

/// Bytes of an open service that identify the holder: a number, a name, an ID.
public struct PersonalBytes: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service, including services that give other access to the same blocks.
    public let service: ServiceCode
    /// The block numbers.
    public let blocks: ClosedRange<UInt16>
    /// The byte range in each of these blocks, within 0 to 15.
    public let bytes: Range<Int>

    /// Creates a range of bytes in some blocks of a service; by default, all bytes of all blocks.
    public init(
        system: SystemCode, service: ServiceCode, blocks: ClosedRange<UInt16> = 0...UInt16.max,
        bytes: Range<Int> = 0..<16
    ) {
        self.system = system
        self.service = service
        self.blocks = blocks
        self.bytes = bytes
    }
}

extension PersonalBytes {
    init(
        _ system: UInt16, _ service: UInt16, blocks: ClosedRange<UInt16> = 0...UInt16.max, bytes: Range<Int> = 0..<16
    ) {
        self.init(
            system: SystemCode(rawValue: system), service: ServiceCode(rawValue: service), blocks: blocks, bytes: bytes)
    }
}

/// The bytes on FeliCa cards that identify the holder, as declared by the decoders; `--redact` uses nothing else.
package struct PersonalData: Sendable {
    /// The declarations of all decoders in Kazasu.
    package static let standard = PersonalData(DecoderRegistry.standard)

    /// The declarations, keyed by the group of services that share the same blocks.
    private let declared: [UInt16: [PersonalBytes]]

    /// Collects the declarations of a registry's decoders.
    package init(_ registry: DecoderRegistry) {
        declared = Dictionary(grouping: registry.decoders.flatMap(\.personal), by: \.service.overlapGroup)
    }

    /// Returns whether a block contains personal bytes; `system` as in ``masked(_:at:of:in:)``.
    package func isPersonal(_ number: UInt16, of service: ServiceCode, in system: SystemCode?) -> Bool {
        declared[service.overlapGroup, default: []].contains { row in
            row.blocks.contains(number) && (system == nil || system == row.system)
        }
    }

    /// Returns a block with each personal byte replaced by 00.
    ///
    /// - Parameters:
    ///   - number: the number of the block in its service.
    ///   - system: the system, or `nil` when unknown; bytes that are personal in any system are then masked.
    package func masked(
        _ block: Block, at number: UInt16, of service: ServiceCode, in system: SystemCode?
    ) -> Block {
        guard let rows = declared[service.overlapGroup] else { return block }
        return rows.reduce(block) { block, row in
            guard row.blocks.contains(number), system == nil || system == row.system else { return block }
            return block.zeroing(row.bytes)
        }
    }
}

extension Block {
    /// Returns this block with some bytes replaced by 00.
    fileprivate func zeroing(_ range: Range<Int>) -> Block {
        Block(bytes.enumerated().map { range.contains($0.offset) ? 0 : $0.element }) ?? .zero
    }
}
