// SPDX-License-Identifier: Apache-2.0

import CardReading

/// One line on a terminal's stderr that says how far long work has come; shown after half a second.
final class ProgressLine {
    private let isOn: Bool
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private var isShown = false

    init(_ context: Context) {
        isOn = Output.messagesAreOnTerminal && context.verbosity >= 0
        start = clock.now
        last = start
    }

    func show(_ progress: ReadingProgress) {
        guard isOn else { return }
        let now = clock.now
        guard now - start > .milliseconds(500), now - last > .milliseconds(80) else { return }
        last = now
        isShown = true
        Output.eraseLine()
        Output.message(
            tr(
                "system \(progress.system): \(progress.nodes) nodes, \(progress.blocks) blocks",
                "システム \(progress.system): ノード \(progress.nodes)、ブロック \(progress.blocks)"))
    }

    func end() {
        if isShown { Output.eraseLine() }
        isShown = false
    }
}
