// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@testable import KazasuTaps

@Suite("kazasu outbox", .waits)
struct OutboxCommandTests {
    @Test("Before the first watch there is no outbox, and it says what makes one")
    func noOutbox() throws {
        let folder = try TemporaryFolder()
        let result = try Service.run("outbox", "status", "--json", "--outbox", "\(folder.path)/none")
        #expect(result.end == .exited(66) && result.errors.contains(#""reason":"noOutbox""#), "\(result.errors)")
        #expect(access("\(folder.path)/none", F_OK) != 0)
    }

    /// An outbox with an event that was not delivered to one sink, and waits for another.
    private static func outbox(_ folder: TemporaryFolder, confirms: Bool = false) async throws -> String {
        let path = "\(folder.path)/o"
        let outbox = try Outbox(path, isWatcher: true)
        let event = try StoredEvent(
            parsing:
                #"{"schema":"kazasu.tap/1","id":"0193-1","seq":1,"type":"on","at":"2023-11-15T07:13:20.000+09:00","#
                + #""mono":1,"clock":"synchronised","site":"here","reader":"door","technology":"felica","#
                + #""tag":"0101031234567890","identity":"fixed"}"#)
        try await outbox.remember(sinks: ["exec:/bin/a", "mqtt:b"], confirms: confirms)
        try await outbox.store([event], for: confirms ? [] : ["exec:/bin/a", "mqtt:b"])
        if !confirms {
            try await outbox.record([.init(event: event, result: .dead("exit3"))], at: "exec:/bin/a")
            try await outbox.record([.init(event: event, result: .retry("errno2"))], at: "mqtt:b")
        }
        await outbox.close()
        return path
    }

    @Test("Reasons are words, in both languages; programs get the codes")
    func reasons() async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.outbox(folder)
        let english = try Service.run("outbox", "status", "--outbox", path).output
        #expect(english.contains("no such file or folder") && !english.contains("errno"), "\(english)")
        let japanese = try Service.run("outbox", "dead", "--outbox", path, "--lang", "ja").output
        #expect(japanese.contains("終了ステータス 3") && !japanese.contains("exit3"), "\(japanese)")
        let codes = try Service.run("outbox", "status", "--json", "--outbox", path).output
        #expect(codes.contains("\"errno2\""), "\(codes)")
    }

    @Test("Undeliverable events are shown with a heading, their reader, type and tag, which --redact masks")
    func deadTable() async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.outbox(folder)
        let lines = try Service.run("outbox", "dead", "--outbox", path).output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.split(separator: " ") == ["ID", "TIME", "READER", "TYPE", "TAG", "SINK", "REASON"])
        let cells = try #require(lines.last).split(separator: " ").map(String.init)
        #expect(cells.first == "0193-1" && cells[1].hasPrefix("2023-11-15T07:13:20"), "\(cells)")
        #expect(cells[2...] == ["door", "on", "0101031234567890", "exec:/bin/a", "exit", "status", "3"])
        let masked = try Service.run("outbox", "dead", "--redact", "--outbox", path).output
        #expect(!masked.contains("1234567890"), "\(masked)")
        #expect(try Service.run("outbox", "drop", "--yes", "--outbox", path).end == .exited(0))
        let empty = try Service.run("outbox", "dead", "--outbox", path)
        #expect(empty.output.isEmpty && empty.errors.contains("no undeliverable events"), "\(empty.errors)")
    }

    @Test(
        "A sink that the outbox does not know is an error that names those it knows",
        arguments: ["dead", "resend", "drop"])
    func unknownSink(command: String) async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.outbox(folder)
        let yes = command == "drop" ? ["--yes"] : []
        func run(_ sink: String) throws -> ChildResult {
            try ChildProcess.run(
                Service.path, ["outbox", command, "--outbox", path, "--sink", sink] + yes,
                environment: Service.environment)
        }
        let wrong = try run("exec:a")
        #expect(wrong.end == .exited(64))
        #expect(wrong.errors.contains("exec:/bin/a, mqtt:b"), "\(wrong.errors)")
        #expect(try run("exec:/bin/a").end == .exited(0))
    }

    @Test("Shows unacknowledged events, which can be discarded")
    func unconfirmed() async throws {
        let folder = try TemporaryFolder()
        let path = try await Self.outbox(folder, confirms: true)
        let status = try Service.run("outbox", "status", "--outbox", path)
        #expect(status.errors.contains("1 event stored, 1 not acknowledged"), "\(status.errors)")
        let dropped = try Service.run("outbox", "drop", "--pending", "--yes", "--outbox", path)
        #expect(dropped.errors.contains("discarded: 1"), "\(dropped.errors)")
        let after = try Service.run("outbox", "status", "--outbox", path)
        #expect(after.errors.contains("1 event stored, 0 not acknowledged"), "\(after.errors)")
    }
}
