// SPDX-License-Identifier: Apache-2.0

/// The exit statuses that scripts can rely on, as in `sysexits.h`.
package enum ExitStatus: Int32, Sendable {
    case done = 0
    /// The answer is no: `stations lookup` found nothing, `diff --exit-code` found a difference.
    case negative = 1
    case usage = 64
    case badFile = 65
    case missingFile = 66
    case noReader = 69
    case bug = 70
    case cannotWrite = 73
    case interruptedReading = 74
    case noCard = 75
    case otherCard = 76
    case refused = 77
    /// By Ctrl-C, or a hangup of the terminal.
    case interrupted = 130
    /// By SIGTERM.
    case terminated = 143
    /// The reader of a pipe went away, as a shell shows it for SIGPIPE.
    case brokenPipe = 141
}
