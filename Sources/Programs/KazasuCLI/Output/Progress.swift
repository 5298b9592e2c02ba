// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// One line on a terminal's stderr that shows the progress of long work; it appears after half a second.
package final class ProgressLine {
    private let isOn: Bool
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private var isShown = false

    package init(_ context: Context) {
        isOn = Output.messagesAreOnTerminal && context.verbosity >= 0
        start = clock.now
        last = start
    }

    package func show(_ progress: ReadingProgress) {
        let host = CommandHost.current
        guard isOn || host != nil else { return }
        let now = clock.now
        guard now - start > .milliseconds(500), now - last > .milliseconds(80) else { return }
        last = now
        if let host { return host.report(progress) }
        isShown = true
        Output.eraseLine()
        Output.message(
            tr(
                "system \(progress.system): \(progress.nodes) nodes, \(progress.blocks) blocks",
                "システム \(progress.system): ノード \(progress.nodes)、ブロック \(progress.blocks)"))
    }

    package func end() {
        if isShown { Output.eraseLine() }
        isShown = false
    }
}

/// "Put a card on the reader", shown on a terminal while there is no card; it disappears when a card comes.
package final class WaitingNote {
    private let isShown: Bool

    package init(_ context: Context) {
        isShown = Output.messagesAreOnTerminal && context.verbosity >= 0
        if isShown { Output.message(tr("Put a card on the reader …", "カードをかざしてください …")) }
    }

    package func end() {
        if isShown { Output.eraseLine() }
    }
}
