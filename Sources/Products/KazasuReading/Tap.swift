// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import CardReading
internal import NDEF
internal import ReaderCore

/// A card being put on a reader or taken off.
public struct Tap: Sendable {
    /// The kinds of tap.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        case on
        case off
        /// The reader was unplugged or failed while the card was on it: nobody saw the card leave.
        case lost
    }

    /// The kind of tap.
    public let kind: Kind
    /// The card.
    public let card: CardIdentity
    /// Whether its number is random each time, as on phones: then it identifies nobody.
    public let isRandom: Bool
    /// The FeliCa system that answered; `nil` for other cards, and if the card did not name it.
    public let system: SystemCode?
    /// The reader's ID.
    public let reader: String
    /// When the card was found, or first missed.
    public let time: ContinuousClock.Instant
    /// The money on the card, if it was requested and could be read.
    public let balance: BalanceReport?
    /// The history, if it was requested and could be read.
    public let history: CardReport?
    /// The brand of the card, if its money or history was read and the card tells it.
    public let brand: CardBrand?
    /// The identifier that Home Assistant's app has written to the tag, if something was requested.
    package let homeAssistantTag: String?
    /// Why the requested data could not be read.
    public let readError: KazasuError?

    /// Makes a tap, for tests of what handles one.
    ///
    /// - Parameters:
    ///   - kind: the kind of tap.
    ///   - card: the card.
    ///   - reader: the reader's ID.
    ///   - time: when the card was found, or first missed.
    ///   - isRandom: whether the card's number is random each time.
    ///   - system: the FeliCa system that answered.
    ///   - balance: the money on the card.
    ///   - history: the history.
    ///   - brand: the brand of the card.
    ///   - readError: why the requested data could not be read.
    public init(
        _ kind: Kind, _ card: CardIdentity, reader: String, time: ContinuousClock.Instant = .now,
        isRandom: Bool = false,
        system: SystemCode? = nil, balance: BalanceReport? = nil, history: CardReport? = nil, brand: CardBrand? = nil,
        readError: KazasuError? = nil
    ) {
        (self.kind, self.card, self.reader, self.time) = (kind, card, reader, time)
        (self.isRandom, self.system) = (isRandom, system)
        (self.balance, self.history, self.brand, self.readError) = (balance, history, brand, readError)
        homeAssistantTag = nil
    }

    package init(
        _ kind: Kind, _ card: FoundCard, reader: String, time: ContinuousClock.Instant, _ report: Report = Report()
    ) {
        self.kind = kind
        self.card = card.picc.identity
        isRandom = card.picc.isRandom
        system = card.answeringSystem
        self.reader = reader
        self.time = time
        balance = report.balance
        history = report.history
        brand = report.brand
        homeAssistantTag = report.homeAssistantTag
        readError = report.error
    }

    /// The data read while the card was there.
    package struct Report {
        var balance: BalanceReport?
        var history: CardReport?
        var brand: CardBrand?
        var homeAssistantTag: String?
        package var error: KazasuError?

        package init(
            balance: BalanceReport? = nil, history: CardReport? = nil, brand: CardBrand? = nil,
            homeAssistantTag: String? = nil, error: KazasuError? = nil
        ) {
            (self.balance, self.history, self.brand, self.error) = (balance, history, brand, error)
            self.homeAssistantTag = homeAssistantTag
        }
    }
}

/// The data to read from each card that is put on a reader.
@nonexhaustive
public enum TapReading: Sendable {
    /// Only its number.
    case id
    /// The money in its first purse.
    case balance
    /// Its history, and the money with it.
    case history
    /// What decoders of your own need, or a choice of Kazasu's, decoded by the first that knows the card: ``Tap/history``.
    case decoders(DecoderRegistry)

    /// Reads it. A failure becomes part of the tap, since the card was there regardless.
    package func read(_ card: Card, _ stations: any StationNames) -> Tap.Report {
        if self != .id, let tag = card.homeAssistantTag { return Tap.Report(homeAssistantTag: tag) }
        do throws(KazasuError) {
            switch self {
            case .id: return Tap.Report()
            case .balance:
                let report = try card.balance()
                return Tap.Report(balance: report, brand: Self.brand(report.balances.first?.kind, of: card))
            case .history:
                let report = try card.history(stations: stations)
                return Tap.Report(
                    balance: report.balanceReport, history: report, brand: Self.brand(report.kind, of: card))
            case .decoders(let registry):
                let report = try card.report(with: registry, stations: stations)
                return Tap.Report(balance: report.balanceReport, history: report)
            }
        } catch {
            return Tap.Report(error: error)
        }
    }

    /// The brand is worth no failure: what was asked for is known.
    private static func brand(_ kind: CardKind?, of card: Card) -> CardBrand? {
        kind.flatMap { try? card.brand(of: $0) }
    }
}

extension TapReading: Hashable {
    /// Whether the same is read: with decoders, those of the same kinds in the same order.
    public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    /// Hashes what makes readings equal.
    public func hash(into hasher: inout Hasher) { hasher.combine(words) }

    private var words: [String] {
        switch self {
        case .id: ["id"]
        case .balance: ["balance"]
        case .history: ["history"]
        case .decoders(let registry): ["decoders"] + registry.decoders.map(\.kind.rawValue)
        }
    }
}

extension Card {
    /// What the apps of Home Assistant write: https://companion.home-assistant.io/docs/integrations/universal-links
    private static let homeAssistant = "https://www.home-assistant.io/tag/"

    /// The identifier in the link of Home Assistant's app on an NFC Forum Type 2 Tag; `nil` for anything else.
    fileprivate var homeAssistantTag: String? {
        guard case .type2? = tag, let message = try? readNDEF(),
            let link = message.records.lazy.compactMap(\.uri).first(where: { $0.hasPrefix(Self.homeAssistant) })
        else { return nil }
        let name = link.dropFirst(Self.homeAssistant.count)
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && (1...64).contains(name.utf8.count) ? String(name) : nil
    }
}

extension FoundCard {
    /// The system that answered: the one polled for, or the one that the card named when it was polled for any.
    fileprivate var answeringSystem: SystemCode? {
        guard system == .any else { return system }
        guard case .felica(_, requestCode: 1, _, _) = request else { return nil }
        return feliCa?.requestData.map(SystemCode.init(rawValue:))
    }
}
