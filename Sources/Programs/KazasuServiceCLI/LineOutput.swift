// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KazasuCLI
import Synchronization
import Server

/// Writes lines on standard output, on a thread of its own: a reader of the pipe that pauses holds up nothing else.
final class LineOutput: Sendable {
    /// Writes messages on standard error instead; those that are written directly may overtake them.
    static let messages: LineOutput = {
        let output = LineOutput { line throws(CommandError) in Output.message(String(decoding: line, as: UTF8.self)) }
        output.whenLost { [weak output] loss in
            guard case .ends(let count) = loss else { return }
            output?.write(
                tr(
                    "kazasu: \(Words.count(count, "message")) not written, as nobody read standard error\n",
                    "kazasu: 標準エラー出力が読まれなかったため、メッセージ \(count) 件を出力しませんでした\n"))
        }
        return output
    }()

    /// Lines that were dropped because nobody reads them.
    enum Loss: Equatable {
        /// The first of them.
        case begins
        /// It is over, after so many.
        case ends(count: Int)
    }

    private struct State {
        var unsent = 0
        var dropped = 0
        var lost: @Sendable (Loss) -> Void = { _ in }
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

    /// Sets what to call when lines are dropped, and when no more are: a reader that pauses for long costs no memory.
    func whenLost(_ handler: @escaping @Sendable (Loss) -> Void) { state.withLock { $0.lost = handler } }

    func write(_ line: String) { write(Array(line.utf8)) }

    func write(_ line: [UInt8]) {
        let (isDropped, loss, lost) = state.withLock { state -> (Bool, Loss?, @Sendable (Loss) -> Void) in
            // After a gap, lines are written again when there is room for many.
            let limit = state.dropped > 0 ? OutputLimit.bytes / 2 : OutputLimit.bytes
            guard state.unsent + line.count <= limit else {
                state.dropped += 1
                return (true, state.dropped == 1 ? .begins : nil, state.lost)
            }
            defer { state.dropped = 0 }
            state.unsent += line.count
            return (false, state.dropped > 0 ? .ends(count: state.dropped) : nil, state.lost)
        }
        if let loss { lost(loss) }
        if isDropped { return }
        queue.async { [self] in
            defer { state.withLock { $0.unsent -= line.count } }
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
