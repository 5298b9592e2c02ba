// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What is only there on a terminal; `script` is one.
@Suite("On a terminal")
struct TerminalTests {
    private func onTerminal(_ line: String) throws -> ChildResult {
        try ChildProcess.run(
            "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' \(line)", "/dev/null"], environment: Kazasu.environment)
    }

    @Test("Who holds no card there is asked for one")
    func note() throws {
        let folder = try TemporaryFolder()
        let late = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1,"to":40}"#))
        let english = try onTerminal("balance -r \(late)")
        #expect(english.output == "Put a card on the reader …\r\u{1B}[K10\r\n")
        #expect(try onTerminal("balance --lang ja -r \(late)").output.contains("カードをかざしてください …"))
        #expect(try onTerminal("balance -q -r \(late)").output == "10\r\n")
        let absent = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#))
        #expect(try !onTerminal("balance -t 0 -r \(absent)").output.contains("Put a card on"))
        #expect(try onTerminal("balance -r \(Card.fixture("edy"))").output == "10814\r\n", "a card that is there")
    }

    @Test("Nothing is coloured where NO_COLOR is set")
    func noColour() throws {
        let result = try ChildProcess.run(
            "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' history -r \(Card.fixture("edy"))", "/dev/null"],
            environment: Kazasu.environment.merging(["NO_COLOR": "1"]) { $1 })
        #expect(!result.output.contains("\u{1B}["))
    }
}
