// SPDX-License-Identifier: Apache-2.0

public import CommandDescription
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
        var seen: Set<String> = []
        return DecoderRegistry.standardPurses.flatMap { [$0.kind.rawValue] + $0.brands.map(\.id) }
            .filter { seen.insert($0).inserted }
    }

    /// Completes the values that are listed.
    package static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

/// Kinds of records as a user lists them: `rail,bus`, or as tables show them: `top-up`, `チャージ`.
package struct KindList: ExpressibleByArgument, Equatable, Sendable {
    package static var argumentKind: ArgumentKind { .list }

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

    package static var defaultCompletionKind: CompletionKind { ListCompletion.of { allValueStrings } }
}

/// The filter for the records of a history.
package struct HistoryFilter: ParsableArguments {
    package init() {}

    @Option(
        reach: .network, name: .long,
        help: help(
            "Only records from this day on: YYYY-MM-DD, today or yesterday.",
            "この日以降だけ（YYYY-MM-DD、today、yesterday）。", value: "date"))
    package var since: CalendarDate?

    @Option(
        reach: .network, name: .long,
        help: help(
            "Only records up to this day, in the same form.", "この日までだけ（書き方は同じ）。", value: "date"))
    package var until: CalendarDate?

    @Option(
        reach: .network, name: .long,
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

/// A month as people write it, `2026-11`, or by its distance from the one of the computer's clock: `this`, `last`.
package struct MonthArgument: ExpressibleByArgument, Equatable, Sendable {
    package static var example: LocalizedText? { LocalizedText("2026-04, this or last", "2026-04、this、last") }
    package static var pattern: String? { "^([0-9]{4}-[0-9]{2}|this|last)$" }

    package let days: ClosedRange<CalendarDate>

    package init?(argument: String) {
        let today = CalendarDate(String(Timestamp.now.text(.local, .seconds).prefix(10)))
        let months = ["this": 0, "今月": 0, "last": -1, "先月": -1]
        let first: CalendarDate? =
            if let distance = months[argument.lowercased()] {
                today.flatMap { today in
                    let month = today.year * 12 + today.month - 1 + distance
                    return CalendarDate(year: month / 12, month: month % 12 + 1, day: 1)
                }
            } else {
                CalendarDate(argument + "-01")
            }
        guard let first,
            let last = (28...31).compactMap({ CalendarDate(year: first.year, month: first.month, day: $0) }).last
        else { return nil }
        days = first...last
    }
}

extension CalendarDate: ExpressibleByArgument {
    /// An ISO 8601 date.
    public static var example: LocalizedText? { LocalizedText("2026-04-01", "2026-04-01") }
    /// An ISO 8601 date.
    public static var pattern: String? { "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }

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
    package func file(_ dump: CardDump, _ redaction: Redaction, option: String) throws(CommandError) -> [UInt8] {
        let dump = redaction.apply(dump)
        if self == .json { return Array((redaction.apply(dump.json).prettyText + "\n").utf8) }
        do throws(DumpWritingError) {
            return try dump.encoded(as: self)
        } catch {
            if case .accessNotKnown = error {
                throw CommandError(.formatCannotSay, values: ["\(self)", error.words])
            }
            throw CommandError(.formatNotWritable, values: ["\(self)", error.words, option])
        }
    }
}

extension Context {
    /// Warns of what a file in this format does not say of PINs and of a MIFARE Classic.
    package func noteLimits(of format: DumpFileFormat, _ dump: CardDump) {
        if format == .hex, dump.applications.contains(where: { $0.files.contains { $0.pin != nil } }) {
            warn(
                tr(
                    "the file does not say how many tries of the PINs are left: .json can",
                    "暗証番号の残り回数は書いていません（.json なら記録できます）"))
        }
        guard let memory = redaction.apply(dump).classic else { return }
        let unknown = memory.incompleteBlocks
        if !format.marksUnknown, !unknown.isEmpty {
            let blocks = Words.ranges(unknown) { "\($0)" }
            warn(
                tr(
                    "the file has zeros for unknown bytes of \(unknown.count == 1 ? "block" : "blocks") \(blocks): .json, .mct and .nfc can mark them",
                    "ブロック \(blocks) の不明なバイトはゼロで書きました（.json、.mct、.nfc なら不明と記録できます）"))
        }
        if format == .flipper, dump.card.atqa == nil {
            warn(
                tr(
                    "the file has no ATQA, which is unknown: a Flipper may not load it",
                    "ATQA が不明のため、ファイルに含まれません（Flipper で読み込めないことがあります）"))
        }
    }
}
