// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Readers that are there, and those that are not", .waits)
struct ReaderTests {
    /// Whether a program may be run as nobody here: only root can, and only where nobody can reach the program.
    static let canBeNobody =
        geteuid() == 0
        && (try? ChildProcess.run("/usr/bin/setpriv", nobody + ["--version"]))?.end == .exited(0)
    static let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups", Kazasu.path]

    @Test("A list is a list, with and without readers")
    func list() throws {
        let text = try Kazasu.run("readers")
        #expect(text.end == .exited(0))
        let json = try Kazasu.run("readers", "--json")
        #expect(json.end == .exited(0))
        #expect(json.output.hasPrefix(#"{"schema": "kazasu.readers/1", "readers": ["#) || json.output.hasPrefix("{\n"))
        let readers = try JSONCursor(JSONValue(parsing: Array(json.output.utf8))).required("readers").elements()
        #expect(text.output.isEmpty == readers.isEmpty)
        if readers.isEmpty { #expect(text.errors.contains("--reader virtual:FILE works without one")) }
        for reader in readers {
            // A reader that is known and that nothing opens has none.
            if let id = try reader.optional("id")?.text() { #expect(text.output.contains(id)) }
            if try reader.required("state").text() == "unavailable" {
                #expect(try !reader.required("hint").text().isEmpty)
            }
        }
    }

    @Test("A reader that libnfc is configured with is listed and used")
    func configured() throws {
        let folder = try TemporaryFolder()
        let card = try SimulatedReader(Card.file("edy"), link: "\(folder.path)/pn532")
        let list = try Kazasu.run(["readers"], environment: ["LIBNFC_DEVICE": card.id])
        #expect(list.output.contains("\(card.id)  not checked"))
        #expect(try Kazasu.run(["balance"], environment: ["LIBNFC_DEVICE": card.id]).output == "10814\n")
        #expect(card.interrupt().end == .exited(0))
    }

    /// An ID and what is said of it.
    static let wrongIDs: [(id: String, status: Int32, reason: String)] = [
        ("pn532_uart:/dev/nowhere", 69, "absent"), ("pn532_uart:/dev/null", 69, "absent"),
        ("pn532_uart:\(TestFiles.root)/LICENSE", 69, "unsupported"), ("pn532_uart:", 69, "unsupported"),
        ("pn532_uart:ttyUSB0", 69, "unsupported"), ("pn532_uart:/dev/ttyUSB0:fast", 69, "unsupported"),
        ("pn532_uart:/dev/ttyUSB0:115201", 69, "unsupported"), ("acr122_usb:x", 69, "unsupported"),
        ("acr122_usb:250:250", 69, "absent"), ("foo", 64, "unknownReader"), ("virtual", 64, "unknownReader"),
        (String(repeating: "x", count: 5000), 64, "unknownReader"),
        ("pn532_uart:/" + String(repeating: "x", count: 5000), 69, "unsupported"),
    ]

    @Test("A connection string that is wrong", arguments: wrongIDs)
    func wrong(_ row: (id: String, status: Int32, reason: String)) throws {
        let result = try Kazasu.run("poll", "--reader", row.id, "-t", "0")
        result.expectError(row.status)
        let japanese = try Kazasu.run("poll", "--reader", row.id, "-t", "0", "--lang", "ja")
        japanese.expectError(row.status)
        for english in [" the ", " is ", " no ", " not "] {
            #expect(japanese.messages.first?.contains(english) == false, "\(japanese.errors)")
        }
        let json = try Kazasu.run("poll", "--json", "--reader", row.id, "-t", "0")
        #expect(try json.errorDocument().required("reason").text() == row.reason)
        let fromEnvironment = try Kazasu.run(["poll", "-t", "0"], environment: ["KAZASU_READER": row.id])
        #expect(fromEnvironment.end == result.end)
    }

    @Test("A serial port that the user may not open", .enabled(if: canBeNobody))
    func permission() throws {
        let folder = try TemporaryFolder()
        let card = try SimulatedReader(Card.file("edy"), link: "\(folder.path)/pn532")
        #expect(chmod(folder.path, 0o755) == 0)
        #expect(chmod("\(folder.path)/pn532", 0o600) == 0)
        // Where coverage is measured, nobody may not write its profile, and says so.
        let environment = Kazasu.environment.merging(["LLVM_PROFILE_FILE": "/dev/null"]) { $1 }
        func poll(_ options: String...) throws -> ChildResult { try poll(options) }
        func poll(_ options: [String]) throws -> ChildResult {
            try ChildProcess.run(
                "/usr/bin/setpriv", Self.nobody + ["poll", "-r", card.id] + options, environment: environment)
        }
        try poll().expectError(69, "no permission to use the reader")
        try poll("--lang=ja").expectError(69, "権限がありません")
        #expect(try poll("--json").errorDocument().required("reason").text() == "permission")
        #expect(try poll("--json").errorDocument().required("hint").text().contains("doctor --fix"))

        // A group that may open it: no rule is missing.
        let dialout = try #require(unsafe getgrnam("dialout"))
        #expect(chown("\(folder.path)/pn532", geteuid(), unsafe dialout.pointee.gr_gid) == 0)
        #expect(chmod("\(folder.path)/pn532", 0o660) == 0)
        try poll().expectError(69, "only members of the group dialout may open")
        for options in [["--json"], ["--json", "--lang", "ja"]] {
            let hint = try poll(options).errorDocument().required("hint").text()
            #expect(hint.contains("'sudo usermod -aG dialout $USER'") && !hint.contains("doctor"), "\(hint)")
        }
    }

    @Test("Two readers, each with its own card")
    func two() throws {
        let folder = try TemporaryFolder()
        let suica = try SimulatedReader(Card.file("suica-p1"), link: "\(folder.path)/suica")
        let edy = try SimulatedReader(Card.file("edy"), link: "\(folder.path)/edy")
        #expect(try Kazasu.run("balance", "-r", edy.id).output == "10814\n")
        #expect(try Kazasu.run("balance", "-r", suica.id).output == "10\n")
        let first = try Kazasu.run(["balance", "-r", edy.id], environment: ["KAZASU_READER": suica.id])
        #expect(first.output == "10814\n", "the option comes before the environment")
        #expect(try Kazasu.run(["balance"], environment: ["KAZASU_READER": edy.id]).output == "10814\n")
    }

    @Test("A reader that is not there yet is waited for", arguments: ["en", "ja"])
    func waitsForReader(language: String) throws {
        let folder = try TemporaryFolder()
        let link = "\(folder.path)/pn532"
        let line = ["balance", "-r", "pn532_uart:\(link)", "--lang", language]
        #expect(try Kazasu.run(line).hasEnded(69))
        let waiting = try RunningChild(Kazasu.path, line + ["--wait-reader"], environment: Kazasu.environment)
        let note = try #require(try waiting.line(of: .errors))
        #expect(note.hasSuffix(language == "en" ? "; waiting for it" : "。接続されるまで待ちます"), "\(note)")
        let reader = try SimulatedReader(Card.file("edy"), link: link)
        let result = waiting.finish()
        #expect(result.hasEnded(0) && result.output == "10814\n", "\(result.errors)")
        #expect(result.messages.count == 1, "said once: \(result.errors)")
        #expect(reader.interrupt().hasEnded(0))
        let stopped = try RunningChild(Kazasu.path, line + ["--wait-reader"], environment: Kazasu.environment)
        _ = try stopped.line(of: .errors)
        stopped.send(SIGINT)
        #expect(stopped.finish().hasEnded(130))
    }

    @Test("Tells a second program that the reader is in use")
    func busy() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Array(Card.transit(faults: #"{"fault":"absent","from":1}"#).utf8), as: "absent.json")
        let reader = try SimulatedReader(file, link: "\(folder.path)/pn532")
        let holder = try Kazasu.start("poll", "-t", "forever", "-r", reader.id, "--trace", "/dev/stderr")
        for _ in 0..<3 { _ = try holder.line(of: .errors) }
        try Kazasu.run("poll", "-r", reader.id).expectError(69, "the reader is in use")
        try Kazasu.run("poll", "-r", reader.id, "--lang=ja").expectError(69, "使用中です")
        #expect(try Kazasu.run("poll", "-r", reader.id, "--json").errorDocument().required("reason").text() == "busy")
        holder.send(SIGINT)
        #expect(holder.finish().end == .exited(130))
    }

    @Test("A reader that stops answering, and one that is unplugged")
    func stops() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Array(Card.transit(faults: #"{"fault":"absent","from":1}"#).utf8), as: "absent.json")
        for (signal, status, words) in [
            (SIGSTOP, Int32(74), "the reader stopped answering"), (SIGKILL, 74, "unplugged"),
        ] {
            let reader = try SimulatedReader(file, link: "\(folder.path)/pn532")
            let waiting = try Kazasu.start("poll", "-t", "forever", "-r", reader.id, "--trace", "/dev/stderr")
            for _ in 0..<4 { _ = try waiting.line(of: .errors) }
            reader.send(signal)
            var result = waiting.finish()
            result.errors =
                result.errors.split(separator: "\n").filter { !$0.hasPrefix("{") }
                .joined(separator: "\n") + "\n"
            result.expectError(status, words)
            reader.send(SIGCONT)
            reader.send(SIGKILL)
            _ = reader.finish()
            unlink("\(folder.path)/pn532")
        }
    }

    @Test("A port behind which nothing answers")
    func nobodyThere() throws {
        let folder = try TemporaryFolder()
        let reader = try SimulatedReader(Card.file("edy"), link: "\(folder.path)/pn532")
        reader.send(SIGSTOP)
        defer { reader.send(SIGCONT) }
        try Kazasu.run("poll", "-t", "0", "-r", reader.id).expectError(69, "no reader answers at")
        try Kazasu.run("poll", "-t", "0", "-r", reader.id, "--lang=ja").expectError(69, "リーダーが応答しません")
    }
}
