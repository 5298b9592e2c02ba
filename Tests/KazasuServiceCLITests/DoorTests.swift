// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@testable import KazasuTaps

/// Whoever takes an example of the help or of a page as it is must not have a door that opens for a cable.
@Suite("Examples that run a program for a card", .waits)
struct DoorTests {
    /// A line `kazasu watch …` that runs a program or asks one.
    struct Example: Sendable, CustomTestStringConvertible {
        var words: [String]
        var place: String
        var testDescription: String { "\(place): \(words.joined(separator: " "))" }

        /// The program's name.
        var program: String {
            zip(words, words.dropFirst()).first { $0.0 == "--exec" || $0.0 == "--ask" }?.1 ?? ""
        }
        /// Whether the page has it open something, so that not everybody may.
        var isDoor: Bool {
            words.contains("--require-mac") || ["door", "unlock", "lock", "gate"].contains { program.contains($0) }
        }
    }

    private static let pages =
        ["README", "Docs/watch", "Docs/serve", "Docs/lite-s", "Docs/first-door"]
        + ["door", "tap-clock", "home-assistant", "python", "node", "kiosk"].map { "Docs/recipes/\($0)" }

    static let examples: [Example] = {
        let files =
            pages.flatMap { ["\($0).md", "\($0).ja.md"] }
            + ["watch", "serve"].map { "Fixtures/cli/help/\($0).txt" }
        return files.flatMap { file -> [Example] in
            let text = (try? TestFiles.read(file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.split(separator: "\n").compactMap { line in
                let line = line.split(separator: "#", maxSplits: 1).first ?? ""
                let words = line.split(separator: " ").map(String.init)
                guard words.starts(with: ["kazasu", "watch"]), words.contains("--exec") || words.contains("--ask")
                else { return nil }
                return Example(words: words, place: file)
            }
        }
    }()

    /// A folder with what the examples name, and a program that writes down each run. It says yes, and so opens.
    private struct Stand {
        let folder: TemporaryFolder
        let program: String

        init() throws {
            folder = try TemporaryFolder()
            program = try folder.script("echo \"$KAZASU_EVENT_TYPE\" >> '\(folder.path)/ran'; exit 0", as: "program")
            // A card that was issued with another key, whose number is that of a card of the staff.
            _ = try folder.write(Array("012E4CD2C0FFEE42\tHanako\n".utf8), as: "staff.tsv")
            _ = try folder.write(Array("000102030405060708090A0B0C0D0E0F1011121314151617\n".utf8), as: "key")
        }

        /// The runs so far.
        var runs: [String] {
            (try? folder.text("ran"))?.split(separator: "\n").map(String.init) ?? []
        }

        /// Starts an example with this reader.
        func start(_ example: Example, _ reader: String) throws -> RunningChild {
            var words = Array(example.words.dropFirst(2))
            for (index, word) in words.enumerated() {
                switch word {
                case example.program: words[index] = program
                case "staff.tsv": words[index] = "\(folder.path)/staff.tsv"
                case "file:key", "file:master": words[index] = "file:\(folder.path)/key"
                default: break
                }
            }
            if let index = words.firstIndex(of: "-r") { words.removeSubrange(index...index + 1) }
            return try Service.watch(words + ["-r", "door=\(reader)", "--outbox", "\(folder.path)/outbox"])
        }
    }

    @Test("There are such examples, in both languages")
    func found() {
        #expect(Self.examples.count { $0.isDoor } >= 4)
        #expect(Self.examples.count { $0.place.hasPrefix("Fixtures") } >= 8)
        #expect(Self.examples.contains { $0.place == "Docs/recipes/door.ja.md" })
    }

    @Test("A reader that is pulled out and put back runs nothing", arguments: examples)
    func reader(example: Example) throws {
        let stand = try Stand()
        let link = "\(stand.folder.path)/reader"
        let card = String(decoding: try TestFiles.read(Service.card), as: UTF8.self)
        let absent = #""virtual": { "faults": [ { "fault": "absent", "from": 1 } ] }, "#
        let empty = try stand.folder.write(
            Array(card.replacing("{", with: "{ " + absent, maxReplacements: 1).utf8), as: "empty.json")
        func plug() throws -> RunningChild {
            let child = try RunningChild(
                Service.kazasu, ["simulate", empty, "--link", link], environment: Service.environment,
                limit: .seconds(120), hasTerminal: false)
            _ = try child.line(of: .output)
            return child
        }
        let first = try plug()
        let child = try stand.start(example, "pn532_uart:\(link)")
        func wait(for state: String) throws {
            while try child.event(of: "reader")["state"] != .string(state) {}
        }
        try wait(for: "ready")
        first.send(SIGTERM)
        _ = first.finish()
        try wait(for: "gone")
        let second = try plug()
        try wait(for: "ready")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        second.send(SIGTERM)
        _ = second.finish()
        #expect(stand.runs == [])
    }

    @Test("A door stays shut for a strange card, and for a copy of a number", arguments: examples.filter(\.isDoor))
    func strangers(example: Example) throws {
        try #require(example.words.contains("--ask"), "what --exec delivers late opens a door")
        for card in [Service.card, "\(TestFiles.root)/Fixtures/felica/lite-s.json"] {
            let stand = try Stand()
            let child = try stand.start(example, "virtual:\(card)")
            let answer = try child.event(of: "answer")
            #expect(answer["answer"] == "no")
            child.send(SIGTERM)
            #expect(child.finish().checkingSchemas().end == .exited(0))
            #expect(stand.runs == [], "\(card)")
        }
    }

    @Test("A door stays shut for an event that comes late", arguments: examples.filter(\.isDoor))
    func late(example: Example) async throws {
        try #require(example.words.contains("--ask"), "what --exec delivers late opens a door")
        let stand = try Stand()
        let outbox = try Outbox("\(stand.folder.path)/outbox", isWatcher: true)
        let sinks = [ExecSink(stand.program).name]
        try await outbox.remember(sinks: sinks, confirms: false)
        let event = try StoredEvent(
            parsing: #"{"schema":"kazasu.tap/1","id":"01930000-0000-7000-8000-000000000001","seq":1,"type":"on","#
                + #""at":"2026-11-21T20:45:00.123+09:00","mono":1,"clock":"synchronised","site":"here","reader":"door","#
                + #""technology":"felica","system":"88B4","tag":"012e4cd2c0ffee42","name":"Hanako","identity":"fixed"}"#
        )
        try await outbox.store([event], for: sinks)
        await outbox.close()
        let child = try stand.start(example, "virtual:\(Service.card)")
        _ = try child.event(of: "answer")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        #expect(stand.runs == [])
    }

    @Test("--exec-all runs for every type of event, --exec for cards that come alone", arguments: ["exec", "exec-all"])
    func types(option: String) throws {
        let stand = try Stand()
        let asker = try stand.folder.script("exit 10", as: "asker")
        let child = try Service.watch(
            "-r", "door=virtual:\(Service.visitor)", "--\(option)", stand.program, "--ask", asker, "--outbox",
            "\(stand.folder.path)/outbox")
        _ = try child.event(of: "answer")
        _ = try child.event(of: "off")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        #expect(Set(stand.runs) == (option == "exec" ? ["on"] : ["on", "off", "reader", "answer"]))
    }

    @Test("A card that needs no proof runs a program, one that does not give it runs none")
    func proof() throws {
        for isNeeded in [false, true] {
            let stand = try Stand()
            let child = try Service.watch(
                ["-r", "door=virtual:\(Service.card)", "--exec", stand.program, "--outbox", "\(stand.folder.path)/o"]
                    + (isNeeded ? ["--require-mac", "file:\(stand.folder.path)/key"] : []))
            _ = try child.event(of: "on")
            child.send(SIGTERM)
            #expect(child.finish().end == .exited(0))
            #expect(stand.runs == (isNeeded ? [] : ["on"]))
        }
    }
}
