// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu simulate", .waits)
struct SimulateTests {
    @Test("Serves any program, one after another, and counts")
    func serves() throws {
        let folder = try TemporaryFolder()
        let stats = "\(folder.path)/stats.json"
        let reader = try SimulatedReader(
            Card.file("suica-p1"), link: "\(folder.path)/pn532", options: ["--stats", stats, "--timing"])
        #expect(reader.id == "pn532_uart:\(folder.path)/pn532")
        #expect(try Kazasu.run("balance", "-r", reader.id).output == "10\n")
        #expect(try Kazasu.run("balance", "-r", reader.id).output == "10\n")
        let result = reader.interrupt()
        #expect(result.end == .exited(0))
        #expect(result.output == reader.id + "\n")
        #expect(result.messages == ["kazasu: running; press Ctrl-C to stop"])
        let counters = JSONCursor(try JSONValue(parsing: TestFiles.read(stats)))
        #expect(
            try folder.text("stats.json").hasPrefix("{\n  \"schema\": \"kazasu.statistics/1\"")
                || folder.text("stats.json").hasPrefix("{\"schema\": \"kazasu.statistics/1\""))
        #expect(try counters.required("cardExchanges").integer() == 4, "one Polling and one read each")
        #expect(try counters.required("readCommands").integer() == 2)
        #expect(folder.names == ["stats.json"])
    }

    @Test("The connection string as a document")
    func json() throws {
        let child = try Kazasu.start("simulate", Card.file("edy"), "--json", "-q")
        let line = try #require(try child.line(of: .output))
        #expect(line.hasPrefix(#"{"schema":"kazasu.simulate/1","connectionString":"pn532_uart:/dev/pts/"#))
        child.send(2)
        let result = child.finish()
        #expect(result.end == .exited(0))
        #expect(result.errors.isEmpty, "-q")
    }

    @Test("The faults of the file happen")
    func faults() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Array(Card.transit(faults: #"{"fault":"absent","from":2}"#).utf8),
            as: "card.json")
        let reader = try SimulatedReader(file, link: "\(folder.path)/pn532")
        try Kazasu.run("balance", "-r", reader.id, "-t", "0").expectError(74, "the card left the reader")
        #expect(reader.interrupt().end == .exited(0))
    }
}
