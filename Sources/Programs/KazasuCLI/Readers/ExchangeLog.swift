// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// The exchanges of one command, for `--verbose`.
final class ExchangeLog {
    /// When the program began with its command.
    package static let start = ContinuousClock.now

    private var tally = ExchangeTally()
    private var isTold = false

    /// Adds an exchange.
    package func add(_ entry: TranscriptEntry, took time: Duration) { tally.add(entry.event, took: time) }

    /// Says on standard error, with `--verbose`, how many exchanges there were and how long they took.
    package func explain(_ context: Context) {
        guard !isTold, tally.measured > .zero else { return }
        isTold = true
        let measured = Self.milliseconds(tally.measured)
        let whole = Self.milliseconds(ContinuousClock.now - Self.start)
        context.detail(
            tr(
                "\(searches): \(measured) ms\(expected), \(whole) ms since the program started",
                "\(searches): \(measured) ms\(expected)、プログラムの開始から \(whole) ms"))
    }

    private var searches: String {
        let others = tally.otherSearches
        return tr(
            Words.count(tally.pollings, "Polling")
                + (others > 0 ? ", " + others.description + " for types A and B" : "")
                + ", " + Words.count(tally.commands, "command"),
            "Polling \(tally.pollings) 回" + (others > 0 ? "、Type A・B の検索 \(others) 回" : "")
                + "、コマンド \(tally.commands) 回")
    }

    /// What the model says, which is for FeliCa only.
    private var expected: String {
        guard tally.isFeliCaOnly, tally.pollings > 0 else { return "" }
        let time = Self.milliseconds(tally.expected)
        return tr(" (model: \(time) ms on air and in the card)", "（モデル: 電波とカードで \(time) ms）")
    }

    private static func milliseconds(_ time: Duration) -> Int { Int((time / .milliseconds(1)).rounded()) }
}
