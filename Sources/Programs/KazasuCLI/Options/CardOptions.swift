// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import Glibc
public import Kazasu

/// A value of `--card`: a kind of card with money, or one of the brands that it covers.
package struct PurseName: ExpressibleByArgument, Equatable, Sendable {
    package let kind: CardKind
    /// The only brand that is wanted; any for `nil`.
    package let brand: CardBrand?

    /// Reads a kind or one of the names that people use for it, in any case.
    package init?(argument: String) {
        guard let purse = DecoderRegistry.standard.purse(ofName: argument) else { return nil }
        (kind, brand) = (purse.decoder.kind, purse.brand)
    }

    /// Each kind, followed by the brands that it covers; not listed while nobody asks for help, since a table is read.
    package static var allValueStrings: [String] {
        guard !CommandLineParsing.isPlain else { return [] }
        var seen: Set<String> = []
        return DecoderRegistry.standardPurses.flatMap { [$0.kind.rawValue] + $0.brands.map(\.id) }
            .filter { seen.insert($0).inserted }
    }

    /// Completes the values that are listed.
    package static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
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
        name: .long,
        help: help(
            "Only records from this day on: YYYY-MM-DD, today or yesterday.",
            "この日以降だけ（YYYY-MM-DD、today、yesterday）。", value: "date"))
    package var since: CalendarDate?

    @Option(
        name: .long,
        help: help(
            "Only records up to this day, in the same form.", "この日までだけ（書き方は同じ）。", value: "date"))
    package var until: CalendarDate?

    @Option(
        name: .long,
        help: help(
            "Only records of these kinds, as in rail,bus.", "この種別の履歴だけ（例: 鉄道,バス）。", value: "kinds"))
    package var kind: KindList?

    package func validate() throws {
        guard let since, let until, until < since else { return }
        let (first, last) = (Caller.current.option("since"), Caller.current.option("until"))
        throw ValidationError(tr("\(first) is after \(last)", "\(first) が \(last) より後の日付です"))
    }

    /// Whether a record passes; one without a date does not when days are given.
    package func wants(_ record: HistoryRecord) -> Bool {
        if let kind, !kind.kinds.contains(record.kind) { return false }
        guard since != nil || until != nil else { return true }
        guard let date = record.date else { return false }
        return (since.map { $0 <= date } ?? true) && (until.map { date <= $0 } ?? true)
    }
}

extension CalendarDate: ExpressibleByArgument {
    /// Reads a day as `2026-11-20`, or as `today` or `yesterday`: those of Japan, as on cards.
    public init?(argument: String) {
        guard let back = ["today": 0, "今日": 0, "yesterday": 1, "昨日": 1][argument] else {
            self.init(argument)
            return
        }
        self.init(daysSince2000: UInt16(clamping: (time(nil) + 9 * 3_600) / 86_400 - 10_957 - back))
    }
}

/// The values of `--to` and `--format`: the formats that can be written.
extension DumpFileFormat: ExpressibleByArgument {
    /// The formats that can be written.
    public static var allValueStrings: [String] { all.map(\.rawValue) }
    /// Completes the formats that can be written.
    public static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    /// Returns the dump in this format, masked under `--redact`.
    ///
    /// - Parameter option: the option that named the format, for the hint.
    package func text(_ dump: CardDump, _ redaction: Redaction, option: String) throws(CommandError) -> String {
        let dump = redaction.apply(dump)
        if self == .json { return redaction.apply(dump.json).prettyText + "\n" }
        do throws(DumpWritingError) {
            return String(decoding: try dump.encoded(as: self), as: UTF8.self)
        } catch {
            throw CommandError(
                .badFile, "notWritable",
                tr(
                    "cannot write this dump as \(self): \(error.words)", "このダンプは \(self) 形式にできません: \(error.words)"),
                hint: tr("--\(option) json can store every dump", "--\(option) json ならどのダンプも保存できます"))
        }
    }
}
