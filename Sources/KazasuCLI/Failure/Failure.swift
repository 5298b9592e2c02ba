// SPDX-License-Identifier: Apache-2.0

import CardModel

/// Why a command did not give its answer: the exit status, one sentence, and what to do.
struct Failure: Error, Equatable, Sendable {
    var status: ExitStatus
    /// One word for scripts, `reason` of `kazasu.error/1`.
    var reason: String
    /// One sentence that says what, without personal data.
    var message: String
    /// What to do about it.
    var hint: String?

    init(_ status: ExitStatus, _ reason: String, _ message: String, hint: String? = nil) {
        self.status = status
        self.reason = reason
        self.message = message
        self.hint = hint
    }

    /// Nobody reads standard output any more: nothing is said.
    static let brokenPipe = Failure(.brokenPipe, "brokenPipe", "")

    /// An output file could not be written; `error` is `errno`.
    static func unwritable(_ path: String, _ error: Int32) -> Failure {
        Failure(
            .cannotWrite, "cannotWrite",
            tr("\(path) cannot be written: ", "\(path) に書けません: ") + SystemMessage.text(error),
            hint: tr("choose a file in a folder of yours", "書き込めるフォルダーのファイルを指定してください"))
    }

    /// The document `kazasu.error/1`.
    var json: JSONValue {
        [
            "schema": "kazasu.error/1", "status": .int(status.rawValue), "reason": .string(reason),
            "message": .string(message), "hint": .text(hint),
        ]
    }

    /// The lines for people.
    var text: String {
        var text = "kazasu: " + VisibleText.line(message) + "\n"
        if let hint { text += tr("  hint: ", "  ヒント: ") + VisibleText.line(hint) + "\n" }
        return text
    }
}
