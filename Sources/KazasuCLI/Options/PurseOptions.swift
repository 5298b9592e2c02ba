// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import Kazasu

/// What `balance` and `history` read: a card on a reader, or a dump.
package struct PurseOptions: ParsableArguments {
    package init() {}

    @Argument(
        help: help(
            "A dump of any supported format instead of a card; - is standard input.",
            "カードの代わりに読むダンプ（対応する形式すべて）。- は標準入力。", value: "file"), completion: .file())
    package var file: String?

    @OptionGroup(title: ReaderOptions.title) package var readerOptions: ReaderOptions

    @Option(name: .long, help: help("Only this kind of card.", "この種類のカードだけ。", value: "kind"))
    package var card: CardKind?

    package func validate() throws {
        guard file != nil else { return }
        let options = readerOptions
        for (option, isGiven) in [
            ("--reader", options.reader != nil), ("--trace", options.trace != nil),
            ("--wait-reader", options.waitReader), ("--virtual-writes", options.virtualWrites != nil),
        ] where isGiven {
            throw ValidationError(
                tr("\(option) cannot be used with a dump", "\(option) はダンプと同時に指定できません"))
        }
    }

    /// The kinds of `--card`; `nil` for any.
    var kinds: [CardKind]? { card.map { [$0] } }

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

    /// The history of a dump, for the ledger.
    func kept(_ dump: CardDump) -> KeptHistory { .dump(dump, kind: card, place: file ?? "") }
}
