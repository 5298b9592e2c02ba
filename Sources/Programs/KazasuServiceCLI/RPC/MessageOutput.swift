// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Kazasu
import KazasuCLI
import ReaderCore
import Server

/// Writes messages on standard output, one a line, on a thread of its own.
///
/// What waits for a client that does not read is limited, as it is for a WebSocket: no request begins while some of it waits,
/// and too many messages that nobody asked for end the program.
final class MessageOutput: Sendable {
    /// Bytes that may wait while requests begin.
    private static let fewUnsent = 1 << 20

    private struct State: Sendable {
        var error: CommandError?
        var unsent = 0
        var failed: (@Sendable (_ error: CommandError, _ isBehind: Bool) -> Void)?
    }

    private let queue = DispatchQueue(label: "messages")
    private let state = Gate(State())
    private let write: @Sendable ([UInt8]) throws(CommandError) -> Void

    /// - Parameter write: writes a line; tests replace it.
    init(
        write: @escaping @Sendable ([UInt8]) throws(CommandError) -> Void = { line throws(CommandError) in
            try Output.write(line)
        }
    ) { self.write = write }

    /// Why standard output could not be written.
    var error: CommandError? { state.withLock(\.error) }

    /// Calls a handler when messages can no longer be sent, with whether the client did not read them.
    func failed(_ handler: @escaping @Sendable (_ error: CommandError, _ isBehind: Bool) -> Void) {
        state.withLock { $0.failed = handler }
    }

    /// Sends a message; those of one caller keep their order.
    func send(_ message: JSONValue) {
        let line = Array((message.compactText + "\n").utf8)
        let isTooMuch = state.withLock { state -> Bool? in
            guard state.error == nil else { return nil }
            state.unsent += line.count
            return state.unsent > OutputLimit.bytes
        }
        guard let isTooMuch else { return }
        guard !isTooMuch else { return fail(Self.behind, isBehind: true) }
        queue.async { [self] in
            guard error == nil else { return }
            do throws(CommandError) {
                try write(line)
                state.withLock { $0.unsent -= line.count }
            } catch {
                fail(error, isBehind: false)
            }
        }
    }

    /// Waits until the client has read most of what was sent, or sending has failed.
    func ready() async {
        await state.wait { $0.unsent <= Self.fewUnsent || $0.error != nil ? () : nil }
    }

    /// Waits until everything is written.
    func finish() { queue.sync {} }

    private static var behind: CommandError {
        CommandError(.messagesUnread)
    }

    private func fail(_ error: CommandError, isBehind: Bool) {
        let failed = state.withLock { state in
            defer { (state.error, state.failed) = (error, nil) }
            return state.failed
        }
        failed?(error, isBehind)
    }
}
