// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// What people see of `watch`; `script` is a terminal.
@Suite("kazasu watch on a terminal", .waits)
struct WatchTextTests {
    /// Starts `watch` on a terminal of 80 columns.
    private static func onTerminal(_ line: String, _ environment: [String: String] = [:]) throws -> RunningChild {
        try RunningChild(
            "/usr/bin/script", ["-qefc", "exec '\(Service.path)' watch \(line)", "/dev/null"],
            environment: Service.environment.merging(environment) { $1 }, limit: .seconds(120))
    }

    /// Reads lines until one that matches, which it returns without its end.
    private static func line(_ child: RunningChild, matching pattern: Regex<Substring>) throws -> String {
        while let line = try child.line(of: .output) {
            let text = line.last == "\r" || line.last == "\r\n" ? String(line.dropLast()) : line
            if text.firstMatch(of: pattern) != nil { return text }
        }
        Issue.record("no line matches")
        return ""
    }

    @Test("One aligned line an event, in both languages, within 80 columns", arguments: ["en", "ja"])
    func lines(language: String) throws {
        let isEnglish = language == "en"
        let child = try Self.onTerminal("-r 'door=virtual:\(Service.card)' --read history --lang \(language)")
        _ = try Self.line(
            child,
            matching: isEnglish
                ? /^kazasu: watching door \(virtual:.*\); press Ctrl-C to stop$/
                : /^kazasu: door（virtual:.*）を監視しています。Ctrl-C で終了します$/)
        _ = try Self.line(child, matching: isEnglish ? /^.{8}  door  ready$/ : /^.{8}  door  使用可$/)
        let line = try Self.line(
            child,
            matching: isEnglish
                ? /^\d\d:\d\d:\d\d  door  on     .* …7890 .*¥[0-9,]+  .+/
                : /^\d\d:\d\d:\d\d  door  タッチ  .* …7890 .*[0-9,]+円  .+/)
        let width = line.unicodeScalars.reduce(0) { $0 + ($1.value >= 0x2E80 ? 2 : 1) }
        #expect(width <= 80, "\(line)")
        child.send(SIGTERM)
        _ = child.finish()
    }

    @Test("on is green on a terminal with colors, and a bell rings for each card")
    func colors() throws {
        let child = try Self.onTerminal("-r 'door=virtual:\(Service.card)' -q --bell", ["TERM": "xterm"])
        _ = try Self.line(child, matching: /\u{1B}\[32mon\u{1B}\[0m/)
        // `script` passes nothing on once it was told to end.
        #expect(try child.writes("\u{7}", to: .output))
        child.send(SIGTERM)
        _ = child.finish()
    }

    @Test("--json and --format json are JSON on a terminal, too", arguments: ["--json", "--format json"])
    func json(option: String) throws {
        let child = try Self.onTerminal("-r 'door=virtual:\(Service.card)' -q \(option)")
        #expect(try Self.line(child, matching: /^\{"schema":"kazasu\.tap\/1".*"type":"on"/).hasSuffix("}"))
        child.send(SIGTERM)
        _ = child.finish()
    }

    @Test("--format text is text in a pipe, without colors; with --json it is refused")
    func text() throws {
        let child = try Service.watch("-r", "door=virtual:\(Service.visitor)", "--format", "text", "-q")
        var lines: [String] = []
        while lines.count < 3 { lines.append(try #require(try child.line(of: .output))) }
        #expect(lines.map { String($0.dropFirst(8)) }[0] == "  door  ready")
        #expect(lines[1].contains("  on     FeliCa …"))
        #expect(lines[2].wholeMatch(of: /.{8}  door  off    FeliCa …[0-9A-F]{4} +[0-9.]+ s/) != nil, "\(lines[2])")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        #expect(try Service.run("watch", "--format", "text", "--json").end == .exited(64))
    }

    @Test("The digits of any card are in capitals, as everywhere")
    func capitals() throws {
        let tag = "\(TestFiles.root)/Fixtures/virtual/ntag213.json"
        let child = try Service.watch("-r", "door=virtual:\(tag)", "--format", "text", "-q")
        var lines: [String] = []
        while lines.count < 2 { lines.append(try #require(try child.line(of: .output))) }
        #expect(lines[1].contains("Type A …2B80"), "\(lines)")
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
    }

    // MARK: Cards with names

    private static let number = "0101031234567890"

    static let files = [
        "# cards\n\(number)\t山田花子\n", "'01 01 03 12 34 56 78 90': 山田花子\n",
        "4101:0312:3456:7890\t山田花子\tleft out\r\n",
    ]

    @Test("A card has the name of its file, wherever its event goes", arguments: files)
    func named(file: String) throws {
        let folder = try TemporaryFolder()
        let cards = try folder.write(Array(file.utf8), as: "cards")
        let program = try folder.script(
            "cat >> '\(folder.path)/got'; echo \"$KAZASU_EVENT_NAME\" >> '\(folder.path)/names'")
        let child = try Service.watch(
            "-r", "door=virtual:\(Service.card)", "--only", cards, "--only-known", "--exec-all", program, "--outbox",
            "\(folder.path)/o", "-q")
        #expect(try child.event(of: "on")["name"] == "山田花子")
        child.send(SIGTERM)
        let result = child.finish().checkingSchemas()
        #expect(result.end == .exited(0))
        #expect(result.output.contains(#""name":"山田花子""#))
        #expect(try folder.text("got").contains(#""name":"山田花子""#))
        #expect(try folder.text("names") == "\n山田花子\n山田花子\n")
    }

    @Test("With --only-known the events of other cards are printed without a number, and go nowhere")
    func onlyKnown() throws {
        let folder = try TemporaryFolder()
        let cards = try folder.write(Array("0102030405060708\tYamada\n".utf8), as: "cards")
        let program = try folder.script("cat >> '\(folder.path)/got'")
        let child = try Service.watch(
            "-r", "door=virtual:\(Service.card)", "--only", cards, "--only-known", "--exec-all", program, "--outbox",
            "\(folder.path)/o", "-q")
        let on = try child.event(of: "on")
        #expect(on["seq"] == nil && on["name"] == nil && on["tag"] == .string(Self.number))
        child.send(SIGTERM)
        let result = child.finish().checkingSchemas()
        #expect(result.output.contains(#""type":"off""#))
        let got = try folder.text("got")
        #expect(got.contains(#""type":"reader""#) && !got.contains(Self.number))
        let status = try Service.run("outbox", "status", "--json", "--outbox", "\(folder.path)/o")
        #expect(!status.output.contains(#""events": 3"#) && !status.output.contains(#""events":3"#))
    }

    @Test("--redact masks the name of a card in every form", arguments: ["json", "text"])
    func redacted(format: String) throws {
        let folder = try TemporaryFolder()
        let cards = try folder.write(Array("\(Self.number)\tAya\n".utf8), as: "cards")
        let child = try Service.watch(
            "-r", "door=virtual:\(Service.card)", "--only", cards, "--redact", "-q", "--format", format)
        for _ in 0..<2 { _ = try child.line(of: .output) }
        child.send(SIGTERM)
        let result = child.finish()
        #expect(result.output.contains("***") && !result.output.contains("Aya"), "\(result.output)")
        #expect(!result.output.contains("7890"))
    }

    static let wrong: [(file: String, message: String)] = [
        ("x\tYamada\n", "line 1"), ("# a\n\(number)\tA\n\(number)\tB\n", "line 3"), ("\(number)\t \n", "line 1"),
        ("- a\n- b\n", "line 1"), ("\u{0}: {", "YAML"), ("ab: c\n", "line 1"), ("\(number): [a]\n", "line 1"),
    ]

    @Test("A file with anything else is refused with its line", arguments: wrong)
    func wrongFile(file: String, message: String) throws {
        let folder = try TemporaryFolder()
        let cards = try folder.write(Array(file.utf8), as: "cards")
        let result = try Service.run("watch", "-r", "virtual:\(Service.card)", "--only", cards)
        #expect(result.end == .exited(65), "\(result.errors)")
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(try Service.run("watch", "--only-known").end == .exited(64))
    }
}
