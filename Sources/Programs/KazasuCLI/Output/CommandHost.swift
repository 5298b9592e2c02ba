// SPDX-License-Identifier: Apache-2.0

import CommandDescription
package import Kazasu
import Synchronization

/// Runs one command for a client of `serve` or `rpc`.
///
/// While a command runs in it, ``current`` replaces what belongs to the process: its answer is kept here, `-` is the
/// client's input, messages for people are dropped, and there is no terminal.
package final class CommandHost: Sendable {
    /// The host of the command that runs on this thread.
    @TaskLocal package static var current: CommandHost?

    /// What `-` reads.
    package let input: [UInt8]?
    /// The tag that the client wants to overwrite, by its number in hexadecimal; `nil` for any.
    package let confirmed: String?
    /// Decides the words of messages.
    package let caller: Caller
    private let progress: @Sendable (_ done: Int) -> Void
    /// How many nodes and blocks each system has, as far as it was read.
    private let counts = Mutex<[SystemCode: Int]>([:])
    package let answer = CommandAnswer()

    /// - Parameter progress: receives the nodes and blocks read so far; only grows. The total is unknown.
    package init(
        for caller: Caller, input: [UInt8]? = nil, confirmed: String? = nil,
        progress: @escaping @Sendable (_ done: Int) -> Void = { _ in }
    ) {
        (self.caller, self.input, self.confirmed, self.progress) = (caller, input, confirmed, progress)
    }

    /// Parses the options of a command.
    ///
    /// - Parameters:
    ///   - words: the words of the command, as in `tag info`.
    ///   - caller: decides the words of messages.
    /// - Throws: ``CommandError`` with status 64.
    package static func parse(
        _ command: any KazasuCommand.Type, named words: [String], _ arguments: [String], for caller: Caller
    ) throws(CommandError) -> any KazasuCommand {
        let host = CommandHost(for: caller)
        do {
            return try $current.withValue(host) { try command.parse(arguments) }
        } catch {
            // By the name of its command, a message knows that its arguments may be secret.
            throw $current.withValue(host) {
                CommandError(error, parsing: command, words + arguments, below: words.dropLast())
            }
        }
    }

    /// Runs a command.
    ///
    /// - Parameters:
    ///   - reader: the reader that it uses instead of its own.
    ///   - cancellation: cancels it.
    /// - Returns: why it failed.
    package func run(
        _ command: any KazasuCommand, on reader: (any Reader)?, redaction: Redaction, cancellation: CancellationToken
    ) -> CommandError? {
        CommandHost.$current.withValue(self) { () -> CommandError? in
            var context = Context(
                json: true, verbosity: -1, redaction: redaction, cancellation: cancellation,
                command: type(of: command).configuration.commandName)
            context.lent = reader.map(LentReader.init)
            do {
                try command.execute(context)
                return context.late.first
            } catch {
                return CommandError.of(error) as? CommandError ?? CommandError.bug("\(error)")
            }
        }
    }

    /// Passes on how far the command is.
    package func report(_ progress: ReadingProgress) {
        self.progress(
            counts.withLock { counts in
                counts[progress.system] = max(counts[progress.system] ?? 0, progress.nodes + progress.blocks)
                return counts.values.reduce(0, +)
            })
    }

    /// Checks that a card is the one that the client means.
    ///
    /// - Parameter command: the command that tells its number.
    package func check(_ card: CardIdentity, numberFrom command: String = "tag info") throws(CommandError) {
        guard let confirmed, (card.uid ?? card.idm?.bytes ?? []).hexadecimal != confirmed else { return }
        throw CommandError(command == "tag info" ? .hostOtherTag : .hostOtherCard, values: [caller.command(command)])
    }
}
