// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import Glibc
import Kazasu

/// The user's terminal, independent of the redirection of standard input and output.
package final class Terminal {
    private let descriptor: Int32

    /// Returns `nil` when there is none: in a script, under cron.
    package init?() {
        guard CommandHost.current == nil else { return nil }
        descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Asks for a secret, which is not echoed.
    ///
    /// - Returns: `nil` when nothing was typed, or more than the longest secret.
    package func secret(_ question: String) throws(CommandError) -> SecretLine {
        try ask(question, isSecret: true)
    }

    /// Asks for a line, which is shown while it is typed.
    package func line(_ question: String) throws(CommandError) -> SecretLine {
        try ask(question, isSecret: false)
    }

    /// Asks a question that only the word yes confirms.
    package func confirms(_ question: String) throws(CommandError) -> Bool {
        let text = question + tr(" Type yes to continue: ", "続けるには yes と入力してください: ")
        guard case .secret(let answer) = try ask(text, isSecret: false) else { return false }
        return answer.withUnsafeBytes { $0.elementsEqual("yes".utf8) || $0.elementsEqual("はい".utf8) }
    }

    /// Input typed before the question is discarded: it cannot have been meant as the answer.
    private func ask(_ question: String, isSecret: Bool) throws(CommandError) -> SecretLine {
        Interrupt.hold()
        defer { Interrupt.release() }
        var before = termios()
        let isTerminal = tcgetattr(descriptor, &before) == 0
        if isTerminal {
            var settings = before
            settings.c_lflag |= tcflag_t(ICANON | ISIG | ECHO)
            if isSecret { settings.c_lflag &= ~tcflag_t(ECHO) }
            tcsetattr(descriptor, TCSAFLUSH, &settings)
        }
        // A signal that ends the process immediately must not leave a terminal with echo off.
        let cleanup = ExitCleanup.add { [descriptor, before] in
            var before = before
            if isTerminal { tcsetattr(descriptor, TCSANOW, &before) }
        }
        defer {
            if isTerminal { tcsetattr(descriptor, TCSADRAIN, &before) }
            cleanup.remove()
            if isSecret { _ = Descriptor.write("\n", to: descriptor) }
        }
        _ = Descriptor.write(question, to: descriptor)
        return try SecretLine.read(descriptor, name: "/dev/tty")
    }
}

/// A question that `--yes` answers in advance.
package enum Confirmation {
    /// Asks the question; only y or yes continues.
    ///
    /// - Throws: ``CommandError`` with status 64 where there is nobody to ask, 130 when the answer is no.
    package static func ask(_ question: String) throws(CommandError) {
        try check()
        Output.message(question + " [y/N] ")
        // Not by `readLine`, which a signal does not end while a reader is held.
        guard case .secret(let answer) = try SecretLine.read(STDIN_FILENO, name: Files.name("-")),
            answer.withUnsafeBytes({ ["y", "yes"].contains(String(decoding: $0, as: UTF8.self).lowercased()) })
        else { throw .cancelled() }
    }

    /// Checks that there is somebody to ask, before work that ends in a question.
    package static func check() throws(CommandError) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandError(.confirmationYes)
        }
    }

    /// Asks on the terminal before a command overwrites what is on a card; every command that does so asks here.
    ///
    /// - Parameters:
    ///   - fact: what will be lost, as a clause without a full stop.
    ///   - isGiven: whether the user said yes in advance.
    ///   - command: the command that tells the number of the card.
    /// - Throws: ``CommandError``: 64 `confirmationNeeded` where there is nobody to ask, 77 `declined` for no.
    package static func overwrite(
        _ fact: String, isGiven: Bool, numberFrom command: String = "tag info"
    ) throws(CommandError) {
        if isGiven { return }
        guard let terminal = Terminal() else {
            let isTyped = Caller.current == .commandLine
            throw CommandError(
                isTyped ? .confirmationNoTerminal : .confirmationNotGiven, values: [fact, advance(command)])
        }
        guard try terminal.confirms(fact.prefix(1).uppercased() + fact.dropFirst() + tr(".", "。")) else {
            throw CommandError(.confirmationDeclined)
        }
    }

    /// Shows what an issuance changes, and asks for it on the terminal.
    ///
    /// - Parameter no: the hint after another answer than yes.
    /// - Throws: ``CommandError``: 64 `confirmationNeeded` where there is nobody to ask, 77 `declined` for no.
    package static func issue(_ lines: [String], _ question: String, no: String) throws(CommandError) {
        guard let terminal = Terminal() else {
            throw CommandError(.confirmationDryRun)
        }
        for line in lines { Output.message(line) }
        guard try terminal.confirms(question) else {
            throw CommandError(.issueDeclined, values: [no])
        }
    }

    /// How to say yes in advance.
    private static func advance(_ command: String) -> String {
        let caller = Caller.current
        guard caller != .commandLine else { return tr("add --yes", "--yes を付けてください") }
        let confirm = caller.option("confirm", tr("NUMBER", "番号"))
        let information = caller.command(command)
        return command == "tag info"
            ? tr(
                "to overwrite it, add \(confirm) with the tag's number from \(information)",
                "上書きするには \(confirm) にタグの番号を指定してください（番号は \(information) で確認できます）")
            : tr(
                "to write, add \(confirm) with the card's number from \(information)",
                "書き込むには \(confirm) にカードの番号を指定してください（番号は \(information) で確認できます）")
    }
}
