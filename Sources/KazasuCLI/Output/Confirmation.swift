// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A question that `--yes` answers beforehand.
enum Confirmation {
    /// Asks; only y or yes goes on.
    ///
    /// - Throws: ``Failure`` with status 64 where nobody can be asked, 130 when the answer is no.
    static func ask(_ question: String) throws(Failure) {
        try check()
        Output.message(question + " [y/N] ")
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else { throw .cancelled() }
    }

    /// Checks that somebody can be asked, before work is done whose end is a question.
    static func check() throws(Failure) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw Failure(
                .usage, "usage", tr("nobody is there to be asked", "確認する相手がいません"),
                hint: tr("give --yes as well", "--yes も付けてください"))
        }
    }
}
