// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Recipes", .waits)
struct RecipeTests {
    @Test("A tap clock: each card goes in and out, each event once")
    func tapClock() throws {
        let page = String(decoding: try TestFiles.read("Docs/recipes/tap-clock.md"), as: UTF8.self)
        let block = try #require(page.components(between: "```sh\n#!/bin/sh\n", and: "```"))
        #expect(block.split(separator: "\n").count <= 10)
        let folder = try TemporaryFolder()
        let program = try folder.script(block, as: "punch")
        let log = "\(folder.path)/taps.txt"
        let event = #"{"id":"i","at":"2026-11-21T20:45:00.123+09:00","tag":"t"}"#
        for (id, type, tag) in [
            ("1", "reader", ""), ("2", "on", "aa"), ("2", "on", "aa"), ("3", "off", "aa"), ("4", "on", "bb"),
            ("5", "on", "aa"), ("6", "on", ""), ("7", "on", "aa"),
        ] {
            let result = try ChildProcess.run(
                "/bin/sh", ["-c", "printf '%s\\n' \"$EVENT\" | \"$PROGRAM\""],
                environment: [
                    "EVENT": event, "PROGRAM": program, "TAP_CLOCK": log, "KAZASU_EVENT_ID": id,
                    "KAZASU_EVENT_TYPE": type, "KAZASU_EVENT_TAG": tag,
                ])
            #expect(result.end == .exited(0), "\(result.errors)")
        }
        let time = "2026-11-21T20:45:00.123+09:00"
        #expect(
            try folder.text("taps.txt") == "\(time) aa in 2\n\(time) bb in 4\n\(time) aa out 5\n\(time) aa in 7\n")
    }

    @Test("Without a file of its own, the tap clock writes to the home folder, as under the unit for systemd")
    func tapClockAtHome() throws {
        let page = String(decoding: try TestFiles.read("Docs/recipes/tap-clock.md"), as: UTF8.self)
        let block = try #require(page.components(between: "```sh\n#!/bin/sh\n", and: "```"))
        let folder = try TemporaryFolder()
        let program = try folder.script(block, as: "punch")
        let result = try ChildProcess.run(
            "/bin/sh", ["-c", "echo '{\"at\":\"now\"}' | \"$PROGRAM\""],
            environment: [
                "PROGRAM": program, "HOME": folder.path, "TAP_CLOCK": "", "KAZASU_EVENT_ID": "1",
                "KAZASU_EVENT_TYPE": "on", "KAZASU_EVENT_TAG": "aa",
            ])
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(try folder.text("taps.txt") == "now aa in 1\n")
    }

    @Test(
        "A door opens for a genuine card that is known, in both languages, and not for a copy or a stranger",
        arguments: ["door.md", "door.ja.md"])
    func door(_ name: String) throws {
        let page = String(decoding: try TestFiles.read("Docs/recipes/\(name)"), as: UTF8.self)
        let block = try #require(page.components(between: "```sh\n#!/bin/sh\n", and: "```"))
        let folder = try TemporaryFolder()
        let program = try folder.script(block, as: "open-door")
        let master = try folder.write(Array("000102030405060708090A0B0C0D0E0F1011121314151617\n".utf8), as: "master")
        let cards = [
            ("lite-s-issued.json", "012E34E829CE1E71", true), ("lite-s-issued.json", "0000000000000001", false),
            ("lite-s.json", "012E4CD2C0FFEE42", false),
        ]
        for (number, (card, known, isOpened)) in cards.enumerated() {
            let staff = try folder.write(Array("\(known)\tHanako\n".utf8), as: "staff.tsv")
            let child = try Service.watch(
                "-r", "virtual:\(TestFiles.root)/Fixtures/felica/\(card)", "--require-mac", "file:\(master)", "--only",
                staff, "--only-known", "--ask", program,
                environment: ["DOOR_LOG": "\(folder.path)/\(number).log"])
            #expect(try child.event(of: "answer")["answer"] == .string(isOpened ? "yes" : "no"))
            child.send(SIGTERM)
            #expect(child.finish().end == .exited(0))
            let log = (try? folder.text("\(number).log")) ?? ""
            #expect(log.split(separator: "\n").count == (isOpened ? 1 : 0), "\(card) \(known)")
            #expect(log.contains("012e34e829ce1e71") == isOpened)
        }
    }

    @Test("The tap clock under watch")
    func watched() throws {
        let page = String(decoding: try TestFiles.read("Docs/recipes/tap-clock.md"), as: UTF8.self)
        let block = try #require(page.components(between: "```sh\n#!/bin/sh\n", and: "```"))
        let folder = try TemporaryFolder()
        let program = try folder.script(block, as: "punch")
        let child = try Service.watch(
            "-r", "virtual:\(Service.visitor)", "--exec", program, "--outbox", "\(folder.path)/o",
            environment: ["TAP_CLOCK": "\(folder.path)/taps.txt"])
        for _ in 1...2 { _ = try child.event(of: "off") }
        child.send(SIGTERM)
        #expect(child.finish().end == .exited(0))
        let ways = try folder.text("taps.txt").split(separator: "\n").map { $0.split(separator: " ")[2] }
        #expect(ways.starts(with: ["in", "out"]))
    }
}

extension String {
    /// The text between two others.
    fileprivate func components(between start: String, and end: String) -> String? {
        guard let first = firstRange(of: start), let last = self[first.upperBound...].firstRange(of: end) else {
            return nil
        }
        return String(self[first.upperBound..<last.lowerBound])
    }
}
