// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A command: parses its options, gives its answer or throws a ``Failure``.
protocol KazasuCommand: ParsableCommand {
    var common: CommonOptions { get }
    func execute(_ context: Context) throws
}

extension KazasuCommand {
    func run() throws {
        let context = Context(
            json: common.json, verbosity: common.quiet ? -1 : common.verbose ? 1 : 0,
            redaction: Redaction(isOn: common.redact), cancellation: Interrupt.token,
            command: Self.configuration.commandName)
        do {
            try execute(context)
        } catch {
            // The command's own failure has the exit status; the other one is not kept back.
            if let late = context.late.first { Output.message(late, json: context.json) }
            throw error
        }
        if let late = context.late.first { throw late }
    }
}
