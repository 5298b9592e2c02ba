// SPDX-License-Identifier: Apache-2.0

/// How the chip carried out a host command.
enum CommandOutcome: Hashable, Sendable {
    /// What follows the answer's command code.
    case answer([UInt8])
    /// The command or its parameters are not the chip's.
    case syntaxError
    /// The host gave the command up: no answer.
    case aborted
}
