// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Everything that the decoders find in a dump.
public struct DumpReports: Hashable, Sendable {
    /// One report for each decoder that knows the card, in their order.
    public var cards: [CardReport] = []
    /// Why a decoder that recognizes the card found nothing in the dump.
    public var errors: [CardDecodingError] = []
    /// The identity documents among them, in the order in which they are shown.
    package var documents: [IdentityReport] = []

    /// The document of this kind; `nil` if the dump contains none.
    func document<Document: IdentityDocument>() -> Document? {
        documents.lazy.compactMap { $0.document as? Document }.first
    }

    /// The memory of a MIFARE Classic; `nil` if the dump contains none.
    package var classic: ClassicDump?

    /// A MIFARE DESFire; `nil` if the dump contains none.
    package var desfire: DESFireMemory?

    /// The kind of the first report; `nil` if there is none.
    public var kind: CardKind? {
        cards.first?.kind ?? documents.first?.kind ?? (classic != nil ? .classic : nil)
            ?? (desfire != nil ? .desfire : nil)
    }
}

/// Why a dump gives no balance or history.
@nonexhaustive
public enum DumpDecodingError: Error, Hashable, Sendable {
    /// The dump contains none of these kinds of card; `nil` stands for every kind with a readable balance.
    case otherCard(wanted: [CardKind]?)
    /// The dump contains such a card, but not the requested data.
    case decoding(CardDecodingError)
}

extension DumpDecodingError: SelfDescribing {
    /// What the dump lacks.
    public var message: LocalizedText {
        switch self {
        case .decoding(let error): return error.message
        case .otherCard(let wanted):
            let names = (wanted ?? []).compactMap { DecoderRegistry.standard.decoder(of: $0)?.name }
            guard !names.isEmpty else {
                return LocalizedText("the dump contains no card with a supported balance", "残高を読めるカードのダンプではありません")
            }
            return LocalizedText(
                "the dump contains no \(names.map(\.english).joined(separator: ", "))",
                "\(names.map(\.japanese).joined(separator: ", ")) のダンプではありません")
        }
    }
}

extension CardDump {
    /// Decodes the dump with every decoder that recognizes it.
    ///
    /// - Parameters:
    ///   - decoders: the decoders to try.
    ///   - stations: the table used to look up names of stations and stops; codes are always reported.
    public func decode(
        with decoders: DecoderRegistry = .standard, stations: any StationNames = ShippedStations()
    ) -> DumpReports {
        var reports = DumpReports()
        reports.documents = IdentityReport.all(in: self)
        reports.classic = classic
        reports.desfire = desfire
        for decoder in decoders.recognizing(self) {
            do throws(CardDecodingError) {
                reports.cards.append(try decoder.decode(self, stations: stations))
            } catch {
                reports.errors.append(error)
            }
        }
        return reports
    }

    /// Returns the money in the first purse of the dump, or in all; where only a history was read, that of its newest
    /// record.
    ///
    /// - Parameters:
    ///   - kinds: the kinds of card to look for; `nil` for all. They are always tried in Kazasu's own order.
    ///   - all: whether to report every purse instead of the first.
    /// - Throws: ``DumpDecodingError``.
    public func balance(kinds: [CardKind]? = nil, all: Bool = false) throws(DumpDecodingError) -> BalanceReport {
        let reports = try purses(kinds) { decoder throws(CardDecodingError) in try decoder.balanceOrNewest(self) }
        let wanted = all ? reports[...] : reports.prefix(1)
        return BalanceReport(balances: wanted.flatMap(\.balances), warnings: wanted.flatMap(\.warnings))
    }

    /// Returns the report of the first purse with a history, or of the first purse if none has one.
    ///
    /// - Parameters:
    ///   - kinds: as in ``balance(kinds:all:)``.
    ///   - stations: the table used to look up names of stations and stops; codes are always reported.
    /// - Throws: ``DumpDecodingError``.
    public func history(
        kinds: [CardKind]? = nil, stations: any StationNames = ShippedStations()
    ) throws(DumpDecodingError) -> CardReport {
        let reports = try purses(kinds) { decoder throws(CardDecodingError) in
            try decoder.decode(self, stations: stations)
        }
        guard let report = reports.first(where: { $0.history != nil }) ?? reports.first else {
            throw .otherCard(wanted: kinds)
        }
        return report
    }

    /// The reports of the decoders that know the card, in their order, at least one.
    private func purses<Report>(
        _ kinds: [CardKind]?, _ decode: (any CardDecoder) throws(CardDecodingError) -> Report
    ) throws(DumpDecodingError) -> [Report] {
        var reports: [Report] = []
        var failure: CardDecodingError?
        for decoder in DecoderRegistry.standard.recognizing(self)
        where decoder.hasBalance && kinds?.contains(decoder.kind) ?? true {
            do throws(CardDecodingError) {
                reports.append(try decode(decoder))
            } catch {
                failure = failure ?? error
            }
        }
        guard reports.isEmpty else { return reports }
        throw failure.map { .decoding($0) } ?? .otherCard(wanted: kinds)
    }
}
