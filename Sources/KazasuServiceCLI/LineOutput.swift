// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KazasuCLI
import Synchronization

/// Writes lines on standard output, on a thread of its own: a reader of the pipe that pauses holds up nothing else.
final class LineOutput: Sendable {
    /// Writes messages on standard error instead; those that are written directly may overtake them.
    static let messages = LineOutput { line throws(CommandError) in
        Output.message(String(decoding: line, as: UTF8.self))
    }

    private struct State {
        var error: CommandError?
        var failed: @Sendable (CommandError) -> Void = { _ in }
    }

    private let queue = DispatchQueue(label: "lines")
    private let state = Mutex(State())
    private let output: @Sendable ([UInt8]) throws(CommandError) -> Void

    /// - Parameter output: writes a line; tests replace it.
    init(
        output: @escaping @Sendable ([UInt8]) throws(CommandError) -> Void = { line throws(CommandError) in
            // On a terminal, earlier messages come first.
            LineOutput.messages.finish()
            try Output.write(line)
        }
    ) { self.output = output }

    /// Why standard output could not be written.
    var error: CommandError? { state.withLock(\.error) }

    /// Sets what to call when standard output cannot be written any more.
    func whenFailed(_ handler: @escaping @Sendable (CommandError) -> Void) { state.withLock { $0.failed = handler } }

    func write(_ line: String) { write(Array(line.utf8)) }

    func write(_ line: [UInt8]) {
        queue.async { [self] in
            guard error == nil else { return }
            do throws(CommandError) {
                try output(line)
            } catch {
                let failed = state.withLock { state in
                    state.error = error
                    return state.failed
                }
                failed(error)
            }
        }
    }

    /// Waits until everything is written.
    func finish() { queue.sync {} }
}
