// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders

/// Which records of a history are wanted.
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

    /// Whether a record is wanted; one without a date is not when days are asked for.
    func wants(_ record: HistoryRecord) -> Bool {
        if let kind, !kind.kinds.contains(record.kind) { return false }
        guard since != nil || until != nil else { return true }
        guard let date = record.date else { return false }
        return (since.map { $0.date <= date } ?? true) && (until.map { date <= $0.date } ?? true)
    }
}
