// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("PINs stay in the process that was given them", .waits)
struct SecretKeepingTests {
    static let misplaced = [
        "license 8607", "license -- 8607", "license --8607", "license -p8607", "license --pin1=8607",
        "license --pin1 8607",
        "license --free=8607", "license --timeout 8607x", "license --lang 8607", "mynumber 8607", "mynumber -o x 8607",
        "8607 license", "licens 8607", "apdu --pin1-from 8607 00A4", "tag read 8607", "dump 8607", "license -t8607x",
    ]

    @Test("A PIN in the wrong place is not repeated", arguments: misplaced, ["en", "ja"])
    func parser(line: String, language: String) throws {
        for options in [["--lang", language], ["--lang", language, "--json"]] {
            let result = try Kazasu.run(options + line.split(separator: " ").map(String.init))
            #expect(result.hasEnded(64), "\(result.errors)")
            #expect(!result.errors.contains("8607"), "\(result.errors)")
        }
    }

    /// The commands with an option that names a secret, as in `lite verify`.
    private static func secretive(_ command: JSONCursor, _ above: [String] = []) throws -> [[String]] {
        let below = try command.optional("subcommands")?.elements() ?? []
        let options = try command.optional("arguments")?.elements() ?? []
        let isOne = try options.contains { try $0.optional("valueName")?.text() == "source" }
        return try (isOne ? [above] : [])
            + below.flatMap { try secretive($0, above + [$0.required("commandName").text()]) }
    }

    @Test("No command that takes a secret repeats an argument that it does not expect")
    func everyCommand() throws {
        let commands = try Self.secretive(Kazasu.listing())
        #expect(commands.contains(["lite", "verify"]) && commands.contains(["watch"]) && commands.count > 12)
        for command in commands {
            for options in [[], ["--json"]] {
                let result = try Kazasu.run(command + ["00112233445566778899aabbccddeeff"] + options)
                #expect(result.hasEnded(64), "\(command): \(result.errors)")
                #expect(!result.errors.contains("00112233"), "\(command): \(result.errors)")
            }
        }
        let word = "aabbccddeeffaabbccddeeffaabbccdd"
        for line in [["lite", word], ["lite", "--" + word], [word, "lite"]] {
            let result = try Kazasu.run(line)
            #expect(result.hasEnded(64) && !result.errors.contains(word), "\(line): \(result.errors)")
        }
    }

    @Test("Reports the form of an invalid PIN")
    func named() throws {
        #expect(try Kazasu.run("poll", "extra").errors.contains("'extra'"))
        #expect(try Kazasu.run("read", "zzzz").errors.contains("zzzz"))
        #expect(try Kazasu.run("licens").errors.contains("'licens'"))
        #expect(try Kazasu.run("license", "--fre").errors.contains("'--fre'"))
    }

    /// A run that holds a PIN and waits for a card that never comes.
    private func waiting(_ folder: TemporaryFolder, program: (String, [String])) throws -> RunningChild {
        let pin = try folder.write(Array("1234\n".utf8), as: "pin")
        let absent = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#))
        for path in [folder.path, pin, String(absent.dropFirst(8))] { chmod(path, 0o755) }
        let line = ["license", "-v", "-t", "forever", "--pin1-from", "file:\(pin)", "-r", absent]
        let child = try RunningChild(
            program.0, program.1 + line,
            environment: Kazasu.environment.merging(["LLVM_PROFILE_FILE": "/dev/null"]) { $1 })
        #expect(try child.line(of: .errors)?.hasPrefix("kazasu: reader") == true)
        return child
    }

    @Test("While a PIN is held there is no core dump, and its page is not swapped out")
    func locked() throws {
        let folder = try TemporaryFolder()
        let child = try waiting(folder, program: (Kazasu.path, []))
        let limits = String(decoding: try TestFiles.read("/proc/\(child.process)/limits"), as: UTF8.self)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core)")
        let status = String(decoding: try TestFiles.read("/proc/\(child.process)/status"), as: UTF8.self)
        let locked = try #require(status.firstMatch(of: /VmLck:\s+([0-9]+) kB/)).1
        // A sanitizer's mlock does nothing.
        if !Kazasu.isSanitized { #expect(locked != "0", "\(status)") }
        child.send(SIGTERM)
        _ = child.finish()
    }

    /// A command line in which F, T, D and C are files of keys, P and Q plans.
    static let keyed = [
        "read 1408 --keys F", "dump --keys F", "balance --keys F", "history --keys F",
        "write 1408 0 000102030405060708090A0B0C0D0E0F --yes --keys F", "standard info --keys F",
        "standard verify --keys F", "standard keys --keys F --new-keys F --yes",
        "standard issue --profile P --keys F --new-keys F --yes", "tag provision --plan Q --new-keys T --yes",
        "tag reset --keys T --yes", "tag reset --keys D --yes", "desfire dump --keys D", "classic dump --keys C",
    ]

    @Test("While keys are held there is no core dump", arguments: keyed)
    func keys(_ line: String) throws {
        let folder = try TemporaryFolder()
        func file(_ name: String) throws -> String { "\(TestFiles.root)/Fixtures/\(name)" }
        let files = [
            "F": try file("felica/standard-keys.txt"), "P": try file("provision/standard-profile.json"),
            "Q": try file("provision/ntag424-plan.json"), "T": try file("provision/ntag424-keys.txt"),
            "D": try file("provision/desfire-keys.txt"),
            "C": try folder.write(Array("* A 0123456789AB\n".utf8), as: "classic.txt"),
        ]
        let absent = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#))
        let words = line.split(separator: " ").map { files[String($0)] ?? String($0) }
        let child = try RunningChild(
            Kazasu.path, words + ["-v", "-t", "forever", "-r", absent],
            environment: Kazasu.environment.merging(["XDG_STATE_HOME": folder.path]) { $1 })
        #expect(try child.writes("kazasu: reader", to: .errors))
        let limits = String(decoding: try TestFiles.read("/proc/\(child.process)/limits"), as: UTF8.self)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core)")
        child.send(SIGTERM)
        _ = child.finish()
    }

    /// The kernel gives the files of such a process to root.
    @Test("No process of the same user may look into it", .enabled(if: ReaderTests.canBeNobody))
    func undumpable() throws {
        let folder = try TemporaryFolder()
        let child = try waiting(folder, program: ("/usr/bin/setpriv", ReaderTests.nobody))
        var status = stat()
        #expect(stat("/proc/\(child.process)/status", &status) == 0)
        #expect(status.st_uid == 0)
        child.send(SIGTERM)
        _ = child.finish()
    }

    @Test("Ctrl-\\ at the prompt leaves a terminal that shows what is typed")
    func quit() throws {
        let folder = try TemporaryFolder()
        let transcript = try APDUTranscript("00200081:63c3").write(to: folder)
        let result = try Typist.run(["apdu", "-r", transcript, "00200081PIN1"], typing: ["): =^\\"])
        #expect(result.output.hasSuffix("[echo]"), "\(result.output)")
        #expect(result.end == .exited(256 - SIGQUIT), "ended by the signal, as Python says it")
    }
}
