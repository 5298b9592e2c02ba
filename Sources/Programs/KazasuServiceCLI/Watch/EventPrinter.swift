// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import Synchronization
import KazasuTaps

/// The values of `--format`.
enum EventFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}

extension Redaction {
    /// The document of an event, without its card's name.
    func apply(_ event: TapEvent) -> JSONValue {
        var masked = event
        masked.rename { apply($0) }
        return apply(masked.json)
    }
}

/// Prints events on standard output.
final class EventPrinter: Sendable {
    private let redaction: Redaction
    private let text: Mutex<EventText>
    /// Whether events are printed for people.
    let isText: Bool
    private let ringsBell: Bool
    private let output = LineOutput()
    private let bells = LineOutput { bell throws(CommandError) in _ = write(STDERR_FILENO, bell, bell.count) }

    /// - Parameter ringsBell: whether the terminal rings for each card.
    init(_ redaction: Redaction, _ format: EventFormat, ringsBell: Bool) {
        (self.redaction, self.ringsBell) = (redaction, ringsBell)
        text = Mutex(EventText(redaction))
        isText = format == .text
    }

    /// Why standard output could not be written.
    var error: CommandError? { output.error }

    /// Makes room for the names of the readers that the user named.
    func expect(readers: [String]) { text.withLock { $0.expect(readers: readers) } }

    /// - Parameter tap: what the event is about.
    func print(_ event: StoredEvent, _ tap: Tap?) {
        // Before the event is printed in any form, and before a message speaks of it.
        if redaction.isOn { RedactionGate.shared.learn(event.event.json) }
        if isText {
            let isColored = Color.isOnOutput
            let shown = text.withLock { $0.line(event.event, tap, width: Output.lineWidth, isColored: isColored) }
            output.write(VisibleText.lines(shown, keepingColors: isColored))
        } else {
            output.write((redaction.isOn ? redaction.apply(event.event).compactText : event.line) + "\n")
        }
        if ringsBell, case .on = event.kind, event.sequence > 0 { ring() }
    }

    /// Rings the bell of the terminal, if there is one.
    private func ring() {
        if Output.isTerminal {
            output.write("\u{7}")
        } else if Output.messagesAreOnTerminal {
            bells.write("\u{7}")
        }
    }

    /// - Parameters:
    ///   - lost: called when nobody reads standard output, so that events are not printed, and when that is over.
    ///   - failed: called when standard output cannot be written any more.
    func start(lost: @escaping @Sendable (LineOutput.Loss) -> Void, failed: @escaping @Sendable () -> Void) {
        output.whenLost(lost)
        output.whenFailed { _ in failed() }
    }

    /// Waits until everything is printed.
    func finish() {
        output.finish()
        bells.finish()
    }
}
