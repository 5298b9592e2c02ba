// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Glibc
import Kazasu
import KazasuCLI
import KazasuService
import Synchronization

/// The values of `--format`.
enum EventFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}

/// Prints events on standard output, on a thread of its own: a slow reader of the pipe holds up nothing else.
final class EventPrinter: Sendable {
    private let redaction: Redaction
    private let text: Mutex<EventText>
    /// Whether events are printed for people.
    let isText: Bool
    private let ringsBell: Bool
    private let lines: AsyncStream<[UInt8]>
    private let line: AsyncStream<[UInt8]>.Continuation
    private let done = DispatchSemaphore(value: 0)
    private let failure = Mutex<CommandError?>(nil)

    /// - Parameters:
    ///   - readers: the names of the readers that the user named.
    ///   - ringsBell: whether the terminal rings for each card.
    init(_ redaction: Redaction, _ format: EventFormat, readers: [String], ringsBell: Bool) {
        (self.redaction, self.ringsBell) = (redaction, ringsBell)
        text = Mutex(EventText(redaction, readers: readers))
        isText = format == .text
        (lines, line) = AsyncStream.makeStream(of: [UInt8].self)
    }

    /// Why standard output could not be written.
    var error: CommandError? { failure.withLock { $0 } }

    /// - Parameter tap: what the event is about.
    func print(_ event: TapEvent, _ tap: Tap?) {
        // Before the event is printed in any form, and before a message speaks of it.
        if redaction.isOn { RedactionGate.shared.learn(json: Array(event.line.utf8)) }
        if isText {
            let isColored = Color.isOnOutput
            let shown = text.withLock { $0.line(event, tap, width: Output.lineWidth, isColored: isColored) }
            line.yield(Array(VisibleText.lines(shown, keepingColors: isColored).utf8))
        } else {
            var masked = event
            masked.rename { redaction.apply($0) }
            line.yield(Array((redaction.apply(masked.json).compactText + "\n").utf8))
        }
        if ringsBell, case .on = event.kind, event.sequence > 0 { Self.ring() }
    }

    /// Rings the bell of the terminal, wherever it is.
    private static func ring() {
        let bell: [UInt8] = [7]
        if Output.messagesAreOnTerminal { _ = write(STDERR_FILENO, bell, 1) } else { _ = write(STDOUT_FILENO, bell, 1) }
    }

    /// - Parameter failed: called when standard output cannot be written any more.
    func start(failed: @escaping @Sendable () -> Void) {
        Task.detached { [lines, done] in
            for await line in lines {
                guard self.error == nil else { continue }
                do throws(CommandError) {
                    try Output.write(line)
                } catch {
                    self.failure.withLock { $0 = error }
                    failed()
                }
            }
            done.signal()
        }
    }

    /// Waits until everything is printed.
    func finish() {
        line.finish()
        done.wait()
    }
}
