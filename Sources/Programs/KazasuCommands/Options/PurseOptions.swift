// SPDX-License-Identifier: Apache-2.0

package import CommandDescription
import Kazasu
package import KazasuCLI

/// What `balance` and `history` read: a card on a reader, or a dump.
package struct PurseOptions: ParsableArguments {
    package init() {}

    @Argument(
        reach: .never,
        help: help(
            "A dump of any supported format instead of a card; - is standard input.",
            "カードの代わりに読むダンプ（対応する形式すべて）。- は標準入力。", value: "file"), completion: .file())
    package var file: String?

    @OptionGroup(title: ReaderOptions.title) package var readerOptions: ReaderOptions

    @Option(reach: .network, name: .long, help: help("Only this kind of card.", "この種類のカードだけ。", value: "kind"))
    package var card: PurseName?

    @OptionGroup package var keyOptions: OwnerKeyOptions

    package func validate() throws {
        guard file != nil else { return }
        let options = readerOptions
        for (option, isGiven) in [
            ("--reader", options.reader != nil), ("--trace", options.trace != nil),
            ("--wait-reader", options.waitReader), ("--virtual-writes", options.virtualWrites != nil),
            ("--keys", !keyOptions.files.keys.isEmpty),
        ] where isGiven {
            throw ValidationError(
                tr("\(option) cannot be used with a dump", "\(option) はダンプと同時に指定できません"))
        }
    }

    /// The kinds of `--card`; `nil` for any.
    var kinds: [CardKind]? { card.map { [$0.kind] } }

    /// What the options name.
    enum Source {
        /// A card on a reader, which the session closes.
        case card(Card, ReaderSession)
        /// The dump of a file.
        case dump(CardDump)
    }

    /// Waits for the card, or reads the file.
    func open(_ context: Context) throws -> Source {
        if let file {
            let dump = try DumpFile.read(file)
            context.noteLimits(of: dump)
            return .dump(dump)
        }
        let session = try ReaderSession(readerOptions, context)
        do {
            return .card(try session.find(kinds.map(CardQuery.purse(of:)) ?? .purse), session)
        } catch {
            session.close()
            throw error
        }
    }

    /// Reads the brand of the card, where `--card` names one or the command has use for it.
    ///
    /// - Parameter isUseful: whether a document names it or the ledger keeps it, which takes further exchanges. The answer
    ///   does not depend on it: a card that leaves now has given it.
    func brand(
        of card: Card, as kind: CardKind?, isUseful: Bool, _ context: Context
    ) throws -> CardBrand? {
        guard let kind else { return nil }
        guard self.card?.brand != nil else {
            guard isUseful else { return nil }
            return try? card.brand(of: kind)
        }
        let brand = try card.brand(of: kind)
        try check(brand, context)
        return brand
    }

    /// Refuses a card of another brand than `--card` names; one of unknown brand is taken with a note.
    func check(_ brand: CardBrand?, _ context: Context) throws(CommandError) {
        guard let wanted = card?.brand, brand != wanted else { return }
        let names = [brand, wanted].map { $0?.name[Language.current] ?? "" }
        guard brand != nil else {
            return context.note(
                tr(
                    "the card does not reveal its brand; treated as \(names[1])",
                    "カードからブランドを判別できないため、\(names[1]) とみなします"))
        }
        throw CommandError(.purseOtherCard, values: [names[0], names[1]])
    }

    /// The history of a dump, for the ledger.
    func kept(_ dump: CardDump) -> KeptHistory { .dump(dump, kind: card?.kind, place: file ?? "") }
}
