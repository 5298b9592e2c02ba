// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Kazasu

/// Why a command did not give its answer: the exit status, one sentence, and the remedy.
package struct CommandError: Error, Equatable, Sendable {
    package var status: ExitStatus
    /// A machine-readable identifier, `reason` of `kazasu.error/1`.
    package var reason: String
    /// One sentence that describes the failure, without personal data.
    package var message: String
    /// The remedy.
    package var hint: String?
    /// The tries left for a password that the card did not accept, where it counts them.
    package var triesLeft: Int?

    package init(_ status: ExitStatus, _ reason: String, _ message: String, hint: String? = nil) {
        self.status = status
        self.reason = reason
        self.message = message
        self.hint = hint
    }

    /// Nobody reads standard output any more: nothing is printed.
    package static let brokenPipe = CommandError(.brokenPipe, "brokenPipe", "")
    /// `diff --exit-code` found a difference, which its answer already shows.
    package static let differs = CommandError(.negative, "differs", "")

    /// The same about a value that was not on the command line.
    ///
    /// - Parameter variable: the environment variable that it came from; `nil` for the command line.
    package func about(variable: String?) -> CommandError {
        guard let variable else { return self }
        var error = self
        error.message += tr(" (from the variable \(variable))", "（環境変数 \(variable) の値）")
        return error
    }

    /// Whether only the exit status reports it.
    package var isSilent: Bool { message.isEmpty }

    /// A file name is empty, as from a shell variable that is not set.
    package static func emptyName(_ what: String) -> CommandError {
        CommandError(.emptyFileName, values: [what])
    }

    /// Interrupted by a signal.
    package static func cancelled(_ suffix: String = "") -> CommandError {
        CommandError(Interrupt.status, "interrupted", tr("interrupted", "中断しました") + suffix)
    }

    /// A bug: a state that no input should cause.
    package static func bug(_ what: String) -> CommandError {
        CommandError(
            .bug, "bug", tr("a bug in Kazasu: ", "Kazasu の不具合: ") + what,
            hint: tr("please report it with the output of --trace and --redact", "--trace と --redact の出力を添えてご報告ください"))
    }

    /// An output file could not be written; `error` is `errno`.
    package static func unwritable(_ path: String, _ error: Int32) -> CommandError {
        let code: Code =
            switch error {
            case ENOSPC, EDQUOT: .unwritableFull
            case EBADF: .unwritableClosed
            case EISDIR: .unwritableFolder
            case ENOENT, ENOTDIR: .unwritablePath
            case ENXIO: .unwritablePipe
            case EROFS: .unwritableDisk
            default: .unwritable
            }
        return CommandError(code, values: [path, SystemMessage.text(error)])
    }

    /// The document `kazasu.error/1`.
    package var json: JSONValue {
        var object = JSONObject([
            ("schema", "kazasu.error/1"), ("status", .int(status.rawValue)), ("reason", .string(reason)),
            ("message", .string(message)), ("hint", .text(hint)),
        ])
        if let triesLeft { object["triesLeft"] = .int(triesLeft) }
        return .object(object)
    }

    /// The lines for display.
    package var text: String {
        Output.paragraph("kazasu:", message, color: .red)
            + (hint.map { Output.paragraph(tr("  hint:", "  ヒント:"), $0) } ?? "")
    }
}

/// An error of a library that a command may throw as it is.
package protocol CommandFailure: Error {
    /// The same for the user.
    var commandError: CommandError { get }
}

extension SystemMessage {
    /// The message in the language of this run.
    package static func text(_ error: Int32) -> String { SystemMessage.of(error)[Language.current] }
}
