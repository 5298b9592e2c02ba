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
        let late = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1,"to":400}"#))
        let english = try onTerminal("balance -r \(late)")
        #expect(english.output == "Put a card on the reader …\r\u{1B}[K10\r\n")
        #expect(try onTerminal("balance --lang ja -r \(late)").output.contains("カードをかざしてください …"))
        #expect(try onTerminal("balance -q -r \(late)").output == "10\r\n")
        let absent = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#))
        #expect(try !onTerminal("balance -t 0 -r \(absent)").output.contains("Put a card on"))
        #expect(try onTerminal("balance -r \(Card.fixture("edy"))").output == "10814\r\n", "a card that is there")
    }

    /// Each answer is late, by the clock of the simulated card.
    @Test("Long work shows how far it is, and leaves nothing behind")
    func progress() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Array(Card.transit(faults: #"{"fault":"late","milliseconds":60,"every":1}"#).utf8), as: "late.json")
        let reader = try SimulatedReader(file, link: "\(folder.path)/pn532", options: ["--timing"])
        let result = try onTerminal("dump -t 30 -o '\(folder.path)/dump' -r \(reader.id)")
        #expect(result.end == .exited(0), "\(result.output)")
        #expect(result.output.contains("\r\u{1B}[Ksystem 0003: "))
        #expect(result.output.hasSuffix("\r\u{1B}[K"))
        #expect(try onTerminal("scan -q -r \(reader.id) > '\(folder.path)/scan'").output.isEmpty)
        #expect(reader.interrupt().end == .exited(0))
    }

    @Test("Nothing is coloured where NO_COLOR is set")
    func noColour() throws {
        let result = try ChildProcess.run(
            "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' history -r \(Card.fixture("edy"))", "/dev/null"],
            environment: Kazasu.environment.merging(["NO_COLOR": "1"]) { $1 })
        #expect(!result.output.contains("\u{1B}["))
    }
}
