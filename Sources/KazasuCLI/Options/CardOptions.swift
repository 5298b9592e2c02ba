// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders
import CardModel
import DumpFormats
import DumpFormatsXML

/// The values of `--card`: the decoders of cards with money, by their id.
struct CardKind: ExpressibleByArgument, Equatable, Sendable {
    var id: String

    init?(argument: String) {
        guard DecoderRegistry.standard.decoder(id: argument)?.hasBalance == true else { return nil }
        id = argument
    }

    static var allValueStrings: [String] { DecoderRegistry.standard.purses.map(\.id) }

    /// The decoders to try, in order.
    static func decoders(_ kind: CardKind?) -> [any CardDecoder] {
        guard let kind else { return DecoderRegistry.standard.purses }
        return DecoderRegistry.standard.purses.filter { $0.id == kind.id }
    }

    /// The systems of these decoders, each once, in order.
    static func systems(_ decoders: [any CardDecoder]) -> [SystemCode] {
        var seen: Set<SystemCode> = []
        return decoders.map(\.system).filter { seen.insert($0).inserted }
    }
}

/// Kinds of records as a user lists them: `rail,bus`.
struct KindList: ExpressibleByArgument, Equatable, Sendable {
    var kinds: Set<RecordKind>

    init?(argument: String) {
        kinds = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let kind = RecordKind(rawValue: String(part)) else { return nil }
            kinds.insert(kind)
        }
        if kinds.isEmpty { return nil }
    }
}

/// The filter for the records of a history.
struct HistoryFilter: ParsableArguments {
    @Option(name: .long, help: help("Only from that day on, YYYY-MM-DD.", "この日以降だけ（YYYY-MM-DD）。", value: "date"))
    var since: DateArgument?

    @Option(name: .long, help: help("Only up to that day, YYYY-MM-DD.", "この日までだけ（YYYY-MM-DD）。", value: "date"))
    var until: DateArgument?

    @Option(
        name: .long,
        help: help(
            "Only these kinds: rail, bus, purchase, charge, issue, ticket, adjustment, point, other.",
            "この種別だけ: rail, bus, purchase, charge, issue, ticket, adjustment, point, other。", value: "kinds"))
    var kind: KindList?

    /// Whether a record passes; one without a date does not when days are given.
    func wants(_ record: HistoryRecord) -> Bool {
        if let kind, !kind.kinds.contains(record.kind) { return false }
        guard since != nil || until != nil else { return true }
        guard let date = record.date else { return false }
        return (since.map { $0.date <= date } ?? true) && (until.map { date <= $0.date } ?? true)
    }
}

/// A dump format that can be written, by its id.
struct DumpFormatName: ExpressibleByArgument, Equatable, Sendable {
    var id: String

    init?(argument: String) {
        guard DumpFormatName.allValueStrings.contains(argument) else { return nil }
        id = argument
    }

    static let hex = DumpFormatName(known: "hex")
    static let json = DumpFormatName(known: "json")

    private init(known id: String) { self.id = id }

    static var allValueStrings: [String] { DumpFormatRegistry.complete.writable.map(\.id) }

    /// Returns the dump in this format, masked under `--redact`.
    ///
    /// - Parameter option: the option that named the format, for the hint.
    func text(_ dump: CardDump, _ redaction: Redaction, option: String) throws(CommandError) -> String {
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
                    "this dump cannot be written as \(id): \(error.text[.english])",
                    "このダンプは \(id) 形式にできません: \(error.text[.japanese])"),
                hint: tr("--\(option) json can store every dump", "--\(option) json ならどのダンプも保存できます"))
        }
    }
}
