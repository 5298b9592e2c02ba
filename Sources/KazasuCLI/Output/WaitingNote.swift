// SPDX-License-Identifier: Apache-2.0

/// "Put a card on the reader", shown on a terminal while nothing is there; it goes away when a card comes.
final class WaitingNote {
    private let isShown: Bool

    init(_ context: Context) {
        isShown = Output.messagesAreOnTerminal && context.verbosity >= 0
        if isShown { Output.message(tr("Put a card on the reader …", "カードをかざしてください …")) }
    }

    func end() {
        if isShown { Output.eraseLine() }
    }
}
