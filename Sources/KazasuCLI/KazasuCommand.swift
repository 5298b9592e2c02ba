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
        try execute(context)
    }
}
