// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// Ctrl-C ends every command although a file of it is on a server that is gone, where the system's own calls do not return.
@Suite(
    "Commands do not hang with a file on a dead mount", .waits, .timeLimit(.minutes(15)),
    .enabled(if: DeadMount.obstacle == nil, "\(DeadMount.obstacle ?? "")"))
struct DeadMountTests {
    /// The kinds of completion that stand for a file to read or to write, or a folder.
    private static let kinds = ["file", "directory"]
    /// Options of every command that takes a reader: once is enough.
    private static let common = ["trace", "virtual-writes", "reader"]
    private static let reader = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"

    /// A command and one of its files, which is in the dead folder; `DEAD` stands for it.
    struct Case: Sendable, CustomTestStringConvertible {
        var command: String
        var file: String

        var testDescription: String { "\(command) \(file)" }
    }

    /// Programs that go on without a file that they do not need yet: those that they look at are named.
    private static let services = [
        Case(command: "watch", file: "--config DEAD"), Case(command: "watch", file: "--only DEAD"),
        Case(command: "watch", file: "--ask DEAD"), Case(command: "watch", file: "--outbox DEAD --exec-all /bin/true"),
        Case(command: "watch", file: "-r virtual:DEAD"), Case(command: "serve", file: "-r virtual:DEAD"),
        Case(command: "rpc", file: "-r virtual:DEAD"), Case(command: "bridge", file: "-r virtual:DEAD"),
    ]

    /// Every file argument of every command, and every reader that is a file.
    static let cases: [Case] = {
        func cases(_ command: JSONCursor, below: [String]) throws -> [Case] {
            let names = try below + [command.required("commandName").text()]
            let name = names.dropFirst().joined(separator: " ")
            guard !["watch", "serve", "collect"].contains(name) else { return [] }
            let inner = try command.optional("subcommands")?.elements() ?? []
            let own = try (command.optional("arguments")?.elements() ?? []).compactMap { argument -> Case? in
                let kind = try argument.optional("completionKind")?.members().first?.key
                guard let kind, kinds.contains(kind) else { return nil }
                let options = try argument.optional("names")?.elements().map { try $0.required("name").text() } ?? []
                guard let option = options.last else { return Case(command: name, file: "DEAD") }
                return common.contains(option) ? nil : Case(command: name, file: "--\(option) DEAD")
            }
            return try own + inner.flatMap { try cases($0, below: names) }
        }
        return ((try? cases(Kazasu.listing(), below: [])) ?? []) + [Case(command: "poll", file: "--trace DEAD")]
            + HangingReaderTests.commands.map { Case(command: $0, file: "-r virtual:DEAD") } + services
    }()

    /// Commands that need a card before they come to their file.
    private static let readers = Set(HangingReaderTests.commands + ["watch"])

    @Test("A signal ends the wait", arguments: cases)
    func signal(_ test: Case) throws {
        let (folder, dead) = (try TemporaryFolder(), try TemporaryFolder())
        var words = try HangingReaderTests.words(test.command, folder)
        words += test.file.split(separator: " ").map { String($0).replacing("DEAD", with: "\(dead.path)/file") }
        if Self.readers.contains(test.command), !words.contains("-r"), !["DEAD", "--config DEAD"].contains(test.file) {
            words += ["-r", Self.reader]
        }
        if ["serve", "bridge"].contains(test.command) { words += ["--port", "\(try LoopbackPort.free())"] }
        let child = try DeadMount.start(
            dead.path, [Kazasu.path] + words, environment: HangingReaderTests.environment)
        // Some refuse their arguments, or ask for more, before they look.
        guard child.hangs(as: ["kazasu", "kazasud"]) else { return }
        child.send(SIGINT)
        // A service ends as it should, and what has not yet taken over signals by this one. Some had only waited for a disk for a
        // moment, and end by themselves. What hangs is killed when its limit is over.
        let end = child.finish().end
        #expect(end != .signalled(SIGKILL), "\(end)")
    }
}
