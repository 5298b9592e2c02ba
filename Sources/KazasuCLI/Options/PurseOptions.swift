// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import CardDecoders
package import CardModel
package import Kazasu

/// What `balance` and `history` read: a card on a reader, or a dump.
package struct PurseOptions: ParsableArguments {
    package init() {}

    @Argument(
        help: help(
            "A dump of any supported format instead of a card; - is standard input.",
            "カードの代わりに読むダンプ（対応する形式すべて）。- は標準入力。", value: "file"), completion: .file())
    package var file: String?

    @OptionGroup package var readerOptions: ReaderOptions

    @Option(name: .long, help: help("Only this kind of card.", "この種類のカードだけ。", value: "kind"))
    package var card: CardKind?

    package func validate() throws {
        guard file != nil else { return }
        for (option, value) in [("--reader", readerOptions.reader), ("--trace", readerOptions.trace)]
        where value != nil {
            throw ValidationError(
                tr("\(option) cannot be used with a dump", "\(option) はダンプと同時に指定できません"))
        }
    }

    /// A report, and the card that it is about.
    package struct Reading<Report> {
        package var report: Report
        package var card: DecodedCard
    }

    /// Reads the card or the dump.
    ///
    /// - Parameters:
    ///   - wantsBrand: whether the answer names the brand, which takes further exchanges with a card.
    ///   - kind: the decoder's id in a report.
    ///   - fromCard: reads a card on a reader.
    ///   - fromDump: decodes a dump.
    package func read<Report>(
        _ context: Context, wantsBrand: Bool, kind: (Report) -> String?,
        fromCard: (Card) throws(KazasuError) -> Report, fromDump: (DumpPurses) throws(CommandError) -> Report
    ) throws -> Reading<Report> {
        guard let file else {
            let session = try ReaderSession(readerOptions, context)
            return try closing(session) { session in
                let found = try session.find(.decoders(CardKind.decoders(card)))
                do throws(KazasuError) {
                    let report = try fromCard(found)
                    let id = kind(report)
                    // The answer does not depend on the brand: a card that leaves now has given it.
                    let brand = wantsBrand ? id.flatMap { try? found.brand(kind: $0) } : nil
                    let identity = context.redaction.apply(found.identity)
                    return Reading(report: report, card: DecodedCard(identity: identity, kind: id, brand: brand))
                } catch {
                    throw CommandError(error)
                }
            }
        }
        let dump = try DumpFile.read(file)
        context.noteLimits(of: dump)
        let report = try fromDump(DumpPurses(dump: dump, kind: card))
        var decoded = DecodedCard(dump, kind: kind(report))
        decoded.identity = context.redaction.apply(decoded.identity)
        return Reading(report: report, card: decoded)
    }
}

/// The cards with money in a dump.
package struct DumpPurses {
    package let dump: CardDump
    /// The only kind that is wanted, or `nil` for any.
    package let kind: CardKind?

    /// The money in the first purse, or in all.
    package func balance(all: Bool) throws(CommandError) -> BalanceReport {
        let reports = try reports { decoder throws(CardDecodingError) in try decoder.balanceOrNewest(dump) }
        let wanted = all ? reports[...] : reports.prefix(1)
        return BalanceReport(balances: wanted.flatMap(\.balances), warnings: wanted.flatMap(\.warnings))
    }

    /// The report of the first card with a history, or of the first card when none has one.
    package func history(_ names: any StationNames) throws(CommandError) -> CardReport {
        let reports = try reports { decoder throws(CardDecodingError) in try decoder.decode(dump, stations: names) }
        guard let report = reports.first(where: { $0.history != nil }) ?? reports.first else { throw otherCard }
        return report
    }

    /// The reports of the decoders that know the card, in order, at least one.
    private func reports<Report>(
        _ decode: (any CardDecoder) throws(CardDecodingError) -> Report
    ) throws(CommandError) -> [Report] {
        var reports: [Report] = []
        var failure: CommandError?
        for decoder in DecoderRegistry.standard.recognising(dump)
        where decoder.hasBalance && decoder.id == kind?.id ?? decoder.id {
            do throws(CardDecodingError) {
                reports.append(try decode(decoder))
            } catch {
                failure = failure ?? CommandError(ofDump: error)
            }
        }
        guard reports.isEmpty else { return reports }
        throw failure ?? otherCard
    }

    private var otherCard: CommandError {
        let name = kind.flatMap { DecoderRegistry.standard.decoder(id: $0.id)?.name[Language.current] }
        return CommandError(
            .otherCard, "otherCard",
            name.map { tr("the dump contains no \($0)", "\($0) のダンプではありません") }
                ?? tr("the dump contains no card with a supported balance", "残高を読めるカードのダンプではありません"),
            hint: CommandError.decodeHint)
    }
}
