// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
public import CardReading
public import FeliCa
package import ISO7816
public import ReaderCore

/// A card on a reader.
///
/// It can be read as long as it stays there; nothing is written to it except by ``writeNDEF(_:)`` and ``lite()``. It
/// belongs to the thread of its ``CardReader``.
public final class Card {
    /// The card, with the request that finds it again.
    package let found: FoundCard
    /// The reader that the card is on.
    public let reader: CardReader
    /// One session for the card's lifetime, so that the limits it learns are kept.
    private lazy var session = feliCa.map { target in
        CardSession(
            reader: reader.device, target: target, cancellation: reader.cancellation,
            clock: reader.answersTakeTime ? reader.clock : nil)
    }

    /// The guard of earlier sessions with the card.
    private let pinGuard: PINGuard?

    /// A card that a reader has just selected.
    package init(_ found: FoundCard, reader: CardReader, pinGuard: PINGuard? = nil) {
        self.found = found
        self.reader = reader
        self.pinGuard = pinGuard
    }

    /// FeliCa, or ISO 14443 type A or B.
    public var technology: Technology { found.technology }

    /// The card's identity: IDm and PMm; UID, ATQA, SAK and ATS; or ATQB.
    public var identity: CardIdentity { found.picc.identity }

    /// Whether its number is random each time, as on phones: then it identifies nobody.
    public var hasRandomID: Bool { picc.isRandom }

    /// The card's answer when it was selected.
    public var picc: PICC { found.picc }

    /// The FeliCa card; `nil` for a card of another kind.
    package var feliCa: FeliCaTarget? { found.feliCa }

    /// Identifies the card without a key.
    ///
    /// It uses the card's answers and, for a card that accepts APDUs, the applications that can be selected.
    ///
    /// - Parameter applications: whether to select known applications; otherwise nothing is sent to the card.
    /// - Throws: ``KazasuError/apdu(_:)``, ``KazasuError/reader(_:id:)``.
    public func identify(applications: Bool = true) throws(KazasuError) -> [RecognizedCard] {
        let known = [CardRecognizer.recognize(picc)].compactMap { $0 }
        guard applications, picc.isISODEP else { return known }
        let request: ActivationRequest = technology == .typeA ? .typeA() : .typeB()
        let again: PICC?
        do throws(TransportError) {
            again = try reader.device.activate(request)
        } catch {
            throw .reader(error, id: reader.information.id)
        }
        guard let again, again.isISODEP else { return known }
        do throws(ISO7816Error) {
            let kinds = try CardRecognizer(reader: reader.device, picc: again, request: request).applications()
            return kinds.isEmpty ? known : kinds
        } catch {
            throw .apdu(error)
        }
    }

    /// Asks a phone for its model; it opens no wallet.
    ///
    /// - Returns: `nil` if it is not a phone, or gave no usable answer.
    public func phoneModel() -> PhoneModel? { phoneModel(isSelected: true) }

    /// Asks a phone for its model, as ``phoneModel()`` does.
    ///
    /// - Parameter isSelected: whether no other card was searched for since this one was found.
    package func phoneModel(isSelected: Bool) -> PhoneModel? {
        guard let feliCa, PhoneModel.isPhone(feliCa.pmm) else { return nil }
        guard !isSelected else { return session?.phoneModel() }
        // The request that it answered before.
        guard case .felica(let target)? = try? reader.device.activate(found.request) else { return nil }
        return CardSession(reader: reader.device, target: target, cancellation: reader.cancellation).phoneModel()
    }

    // MARK: Money and history

    /// Reads the card's balance: in the first purse that it has, or in all.
    ///
    /// Reads only the blocks that hold a balance.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of card to try; `nil` for all. They are always tried in Kazasu's own order.
    ///   - all: whether to read every purse on the card instead of the first.
    /// - Throws: ``KazasuError/wrongCard(_:)`` if the card has no known purse, ``KazasuError/refused(_:_:)``,
    ///   ``KazasuError/decoding(_:)``, ``KazasuError/reading(_:)``.
    public func balance(kinds: [CardKind]? = nil, all: Bool = false) throws(KazasuError) -> BalanceReport {
        try balance(kinds: kinds, all: all, keys: nil)
    }

    /// Reads the card's balance as ``balance(kinds:all:)`` does.
    ///
    /// - Parameter keyring: the owner's keys for services that are refused without one.
    package func balance(
        kinds: [CardKind]?, all: Bool, keys keyring: StandardKeyring?
    ) throws(KazasuError) -> BalanceReport {
        try balance(with: Card.decoders(kinds), all: all, keys: keyring)
    }

    /// Reads the card's balance with decoders of your own, or with a choice of Kazasu's.
    ///
    /// - Parameters:
    ///   - registry: the decoders to try, in this order; only their ``CardDecoder/balanceRead`` is read.
    ///   - all: whether to read every purse on the card instead of the first.
    /// - Throws: the errors of ``balance(kinds:all:)``.
    public func balance(with registry: DecoderRegistry, all: Bool = false) throws(KazasuError) -> BalanceReport {
        try balance(with: registry, all: all, keys: nil)
    }

    private func balance(
        with registry: DecoderRegistry, all: Bool, keys keyring: StandardKeyring?
    ) throws(KazasuError) -> BalanceReport {
        let reports = try reports(
            registry.decoders, all: all, keys: keyring, reads: { [$0.balanceRead] },
            decode: { decoder, dump throws(CardDecodingError) in try decoder.balance(dump) })
        return BalanceReport(balances: reports.flatMap(\.balances), warnings: reports.flatMap(\.warnings))
    }

    /// Reads the card's history, newest first, with its balance and everything else that was read for them. A purse
    /// without a readable history has a report without one.
    ///
    /// - Parameters:
    ///   - kinds: as in ``balance(kinds:all:)``.
    ///   - stations: the table of names of stations and stops; codes are always reported.
    /// - Throws: the errors of ``balance(kinds:all:)``.
    public func history(
        kinds: [CardKind]? = nil, stations: any StationNames = ShippedStations()
    ) throws(KazasuError) -> CardReport {
        try history(kinds: kinds, stations: stations, keys: nil)
    }

    /// Reads the card's history as ``history(kinds:stations:)`` does.
    ///
    /// - Parameter keyring: the owner's keys for services that are refused without one.
    package func history(
        kinds: [CardKind]?, stations: any StationNames, keys keyring: StandardKeyring?
    ) throws(KazasuError) -> CardReport {
        try report(with: Card.decoders(kinds), stations: stations, keys: keyring)
    }

    /// Reads what decoders of your own need, or a choice of Kazasu's, and decodes it with the first that knows the card.
    ///
    /// ```swift
    /// let card = try reader.waitForCard(.decoders([CanteenDecoder()]))
    /// let report = try card.report(with: [CanteenDecoder()])
    /// ```
    ///
    /// - Parameters:
    ///   - registry: the decoders to try, in this order; their ``CardDecoder/historyReads`` are read.
    ///   - stations: the table of names of stations and stops.
    /// - Throws: the errors of ``balance(kinds:all:)``.
    public func report(
        with registry: DecoderRegistry, stations: any StationNames = ShippedStations()
    ) throws(KazasuError) -> CardReport {
        try report(with: registry, stations: stations, keys: nil)
    }

    private func report(
        with registry: DecoderRegistry, stations: any StationNames, keys keyring: StandardKeyring?
    ) throws(KazasuError) -> CardReport {
        let decoders = registry.decoders
        func decode(_ decoder: any CardDecoder, _ dump: CardDump) throws(CardDecodingError) -> CardReport {
            try decoder.decode(dump, stations: stations)
        }
        let reports: [CardReport]
        do throws(KazasuError) {
            reports = try self.reports(
                decoders, all: false, keys: keyring, reads: { $0.historyReads }, decode: decode)
        } catch .wrongCard(let card) {
            // A purse without the service of a history is still a known card.
            guard case .noService = card.reason,
                let purses = try? self.reports(
                    decoders, all: false, keys: keyring, reads: { [$0.balanceRead] }, decode: decode)
            else { throw .wrongCard(card) }
            reports = purses
        }
        guard let report = reports.first else { throw .wrongCard(WrongCard(picc, .kind(wanted: .feliCa))) }
        return report
    }

    /// Reads and decodes with every decoder that knows the card, in their order: a card may have several purses.
    ///
    /// - Parameters:
    ///   - registry: the decoders; their ``CardDecoder/historyReads`` are read.
    ///   - stations: the table of names of stations and stops.
    /// - Returns: at least one report.
    /// - Throws: the errors of ``balance(kinds:all:)``.
    public func reports(
        with registry: DecoderRegistry, stations: any StationNames = ShippedStations()
    ) throws(KazasuError) -> [CardReport] {
        try reports(
            registry.decoders, all: true, reads: { $0.historyReads },
            decode: { decoder, dump throws(CardDecodingError) in try decoder.decode(dump, stations: stations) })
    }

    private static func decoders(_ kinds: [CardKind]?) -> DecoderRegistry {
        DecoderRegistry(DecoderRegistry.standardPurses.filter { kinds?.contains($0.kind) ?? true })
    }

    /// The session for APDUs, with the guard that every PIN passes through; one, so that the guard keeps track of what
    /// was sent.
    package private(set) lazy var iso7816 = ISO7816Session(
        reader: reader.device, picc: picc, request: found.request, owner: reader,
        pinGuard: pinGuard ?? PINGuard())

    /// A session for FeliCa commands; `nil` for a card of another kind.
    package var feliCaSession: CardSession? { session }
}
