// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import CardDecoders
package import CardModel
import DumpFormats
import DumpFormatsXML

/// The values of `--card`: the decoders of cards with money, by their id.
package struct CardKind: ExpressibleByArgument, Equatable, Sendable {
    package var id: String

    package init?(argument: String) {
        guard let decoder = DecoderRegistry.standard.purse(named: argument) else { return nil }
        id = decoder.id
    }

    /// Each kind, followed by the brands that it covers; not listed while nobody asks for help, since a table is read.
    package static var allValueStrings: [String] {
        guard !CommandLineParsing.isPlain else { return [] }
        var seen: Set<String> = []
        return DecoderRegistry.standardPurses.flatMap { [$0.id] + $0.brands.map(\.id) }
            .filter { seen.insert($0).inserted }
    }
    package static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// The decoders to try, in order.
    package static func decoders(_ kind: CardKind?) -> [any CardDecoder] {
        guard let kind else { return DecoderRegistry.standardPurses }
        return DecoderRegistry.standardPurses.filter { $0.id == kind.id }
    }

    /// The systems of these decoders, each once, in order.
    package static func systems(_ decoders: [any CardDecoder]) -> [SystemCode] {
        var seen: Set<SystemCode> = []
        return decoders.map(\.system).filter { seen.insert($0).inserted }
    }
}

/// Kinds of records as a user lists them: `rail,bus`, or as tables show them: `top-up`, `チャージ`.
package struct KindList: ExpressibleByArgument, Equatable, Sendable {
    package var kinds: Set<RecordKind>

    package init?(argument: String) {
        kinds = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let kind = RecordKind.allCases.first { kind in
                [kind.rawValue, kind.name.english, kind.name.japanese].contains { $0 == part }
            }
            guard let kind else { return nil }
            kinds.insert(kind)
        }
        if kinds.isEmpty { return nil }
    }

    /// The words of the tables in this language, then those of documents.
    package static var allValueStrings: [String] {
        let names = RecordKind.allCases.map { $0.name[Language.current] }
        return names + RecordKind.allCases.map(\.rawValue).filter { !names.contains($0) }
    }

    package static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

/// The filter for the records of a history.
package struct HistoryFilter: ParsableArguments {
    package init() {}

    @Option(
        name: .long, help: help("Only records from this day on, YYYY-MM-DD.", "この日以降だけ（YYYY-MM-DD）。", value: "date"))
    package var since: DateArgument?

    @Option(name: .long, help: help("Only records up to this day, YYYY-MM-DD.", "この日までだけ（YYYY-MM-DD）。", value: "date"))
    package var until: DateArgument?

    @Option(
        name: .long,
        help: help(
            "Only records of these kinds, as in rail,bus.", "この種別の履歴だけ（例: 鉄道,バス）。", value: "kinds"))
    package var kind: KindList?

    package func validate() throws {
        guard let since, let until, until.date < since.date else { return }
        throw ValidationError(tr("--since is after --until", "--since が --until より後の日付です"))
    }

    /// Whether a record passes; one without a date does not when days are given.
    package func wants(_ record: HistoryRecord) -> Bool {
        if let kind, !kind.kinds.contains(record.kind) { return false }
        guard since != nil || until != nil else { return true }
        guard let date = record.date else { return false }
        return (since.map { $0.date <= date } ?? true) && (until.map { date <= $0.date } ?? true)
    }
}

/// A day as `2026-11-20`.
package struct DateArgument: ExpressibleByArgument, Equatable, Sendable {
    package var date: CalendarDate

    package init?(argument: String) {
        guard let date = CalendarDate(argument) else { return nil }
        self.date = date
    }
}

/// A dump format that can be written, by its id.
package struct DumpFormatName: ExpressibleByArgument, Equatable, Sendable {
    package var id: String

    package init?(argument: String) {
        guard DumpFormatName.allValueStrings.contains(argument) else { return nil }
        id = argument
    }

    package static let hex = DumpFormatName(known: "hex")
    package static let json = DumpFormatName(known: "json")
    package static let flipper = DumpFormatName(known: "flipper")
    package static let proxmark = DumpFormatName(known: "proxmark")
    package static let metrodroid = DumpFormatName(known: "metrodroid")

    private init(known id: String) { self.id = id }

    package static var allValueStrings: [String] { DumpFormatRegistry.complete.writable.map(\.id) }
    package static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// Returns the dump in this format, masked under `--redact`.
    ///
    /// - Parameter option: the option that named the format, for the hint.
    package func text(_ dump: CardDump, _ redaction: Redaction, option: String) throws(CommandError) -> String {
        let dump = redaction.apply(dump)
        if self == .json { return redaction.apply(dump.json).prettyText + "\n" }
        guard let format = DumpFormatRegistry.complete.writable.first(where: { $0.id == id }) else {
            throw CommandError.bug("no format \(id)")
        }
        do {
            return String(decoding: try format.write(dump), as: UTF8.self)
        } catch {
            throw CommandError(
                .badFile, "notWritable",
                tr(
                    "cannot write this dump as \(id): \(error.words)", "このダンプは \(id) 形式にできません: \(error.words)"),
                hint: tr("--\(option) json can store every dump", "--\(option) json ならどのダンプも保存できます"))
        }
    }
}
