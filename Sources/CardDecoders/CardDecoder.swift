// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One kind of card: what to read, and what the bytes mean.
///
/// A decoder is a pure function of a dump. It never talks to a card, and no bytes can make it trap.
public protocol CardDecoder: Sendable {
    /// The identifier for scripts and for `--card`, such as `transit`; never changes.
    var id: String { get }
    /// The name for people.
    var name: LocalizedText { get }
    /// The one block that contains the balance; for a card without money, a block that identifies the card.
    var balanceRead: ReadRequest { get }
    /// All blocks that the history and the checks on it need.
    var historyReads: [ReadRequest] { get }
    /// The bytes that identify the holder: every byte that a personal field is decoded from, and bytes known to contain a
    /// number or name that is not decoded. `--redact` masks exactly these.
    var personal: [PersonalBytes] { get }
    /// Whether such cards contain money that this decoder can read; if not, ``balance(_:)`` always throws.
    var hasBalance: Bool { get }
    /// Whether the dump is of such a card; never without its ``system``.
    func recognises(_ dump: CardDump) -> Bool
    /// The money on the card; needs no more than ``balanceRead``.
    ///
    /// - Throws: ``CardDecodingError`` when the dump does not hold it.
    func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport
    /// Everything the decoder sees in the dump; what was not read is `nil` in the report.
    ///
    /// - Parameter stations: where names of places are looked up.
    /// - Throws: ``CardDecodingError`` when the dump holds nothing of such a card.
    func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport
}

extension CardDecoder {
    /// The system that the card is found by.
    public var system: SystemCode { balanceRead.system }

    /// Most cards do.
    public var hasBalance: Bool { true }

    /// Transit cards and many others keep no number that opens without a key.
    public var personal: [PersonalBytes] { [] }

    /// Everything the decoder sees in the dump, places without names.
    ///
    /// - Throws: ``CardDecodingError`` when the dump holds nothing of such a card.
    public func decode(_ dump: CardDump) throws(CardDecodingError) -> CardReport {
        try decode(dump, stations: NoStationNames())
    }
}

/// A decoder of cards on which no balance can be read: they hold none, or where they hold it is not published.
public protocol PurselessDecoder: CardDecoder {}

extension PurselessDecoder {
    /// Never.
    public var hasBalance: Bool { false }

    /// Throws always.
    ///
    /// - Throws: ``CardDecodingError`` with the reason `noBalance`, or why the block that shows the card is not there.
    public func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        throw noBalance(dump)
    }

    /// Why there is no balance: the card is not there, or it is and has none.
    func noBalance(_ dump: CardDump) -> CardDecodingError {
        CardDecodingError(
            card: id, field: "balance", system: balanceRead.system, service: balanceRead.service,
            block: balanceRead.blocks.lowerBound, offset: 0, reason: recognises(dump) ? .noBalance : .noSuchService)
    }
}

/// Blocks that a decoder needs, as data: reading merges several requests into few commands.
public struct ReadRequest: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service; readable without a key.
    public let service: ServiceCode
    /// The numbers of the blocks; it is not an error if the service ends earlier.
    public let blocks: Range<UInt16>
    /// Whether decoding is impossible without them; when a card refuses other blocks, the rest is decoded.
    public let isRequired: Bool

    /// A request for blocks.
    public init(system: SystemCode, service: ServiceCode, blocks: Range<UInt16>, isRequired: Bool = true) {
        self.system = system
        self.service = service
        self.blocks = blocks
        self.isRequired = isRequired
    }
}

extension ReadRequest {
    /// A request for blocks by the numbers of system and service.
    init(_ system: UInt16, _ service: UInt16, _ blocks: Range<UInt16>, isRequired: Bool = true) {
        self.init(
            system: SystemCode(rawValue: system), service: ServiceCode(rawValue: service), blocks: blocks,
            isRequired: isRequired)
    }
}

/// A list of decoders, in the order in which they are tried.
public struct DecoderRegistry: Sendable {
    /// The decoders in order.
    public let decoders: [any CardDecoder]
    /// The system of each.
    private let codes: [SystemCode]

    /// A registry of these decoders.
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

/// Bytes of an open service that identify the holder: a number, a name, an ID.
public struct PersonalBytes: Hashable, Sendable {
    /// The system.
    public let system: SystemCode
    /// The service; services that open the same blocks with other rights are meant as well.
    public let service: ServiceCode
    /// The numbers of the blocks.
    public let blocks: ClosedRange<UInt16>
    /// The bytes of each of these blocks, 0 to 15.
    public let bytes: Range<Int>

    /// Bytes of some blocks of a service; by default all bytes of all blocks.
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
    /// The same by the numbers of system and service.
    init(
        _ system: UInt16, _ service: UInt16, blocks: ClosedRange<UInt16> = 0...UInt16.max, bytes: Range<Int> = 0..<16
    ) {
        self.init(
            system: SystemCode(rawValue: system), service: ServiceCode(rawValue: service), blocks: blocks, bytes: bytes)
    }
}

/// What on FeliCa cards tells whose card it is, as their decoders declare it: the one place that `--redact` asks.
package struct PersonalData: Sendable {
    /// What the decoders of Kazasu declare.
    package static let standard = PersonalData(DecoderRegistry.standard)

    /// What is declared, by the group of services that open the same blocks.
    private let declared: [UInt16: [PersonalBytes]]

    /// What the decoders of a registry declare.
    package init(_ registry: DecoderRegistry) {
        declared = Dictionary(grouping: registry.decoders.flatMap(\.personal), by: \.service.overlapGroup)
    }

    /// Whether a block holds personal bytes; `system` as in ``masked(_:at:of:in:)``.
    package func isPersonal(_ number: UInt16, of service: ServiceCode, in system: SystemCode?) -> Bool {
        declared[service.overlapGroup]?.contains { row in
            row.blocks.contains(number) && (system == nil || system == row.system)
        } ?? false
    }

    /// A block with 00 in place of each personal byte.
    ///
    /// - Parameters:
    ///   - number: the number of the block in its service.
    ///   - system: the system, or `nil` where it is not known: then a byte is masked that is personal in any system.
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
    /// This block with 00 in place of some bytes.
    fileprivate func zeroing(_ range: Range<Int>) -> Block {
        if range == 0..<16 { return .zero }
        return Block(bytes.enumerated().map { range.contains($0.offset) ? 0 : $0.element }) ?? .zero
    }
}
