// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// Every command ends in time, by itself and by a signal, although a driver does not answer.
@Suite(
    "Commands do not hang with a driver", .waits, .timeLimit(.minutes(10)),
    .enabled(if: SilentPCSCService.obstacle == nil, "\(SilentPCSCService.obstacle ?? "")"))
struct HangingReaderTests {
    /// What a command needs to get as far as its reader.
    private static let arguments: [String: String] = [
        "read": "090F", "passport": "--mrz-from env:MRZ", "license": "--free", "mynumber": "--free",
        "tag write": "--text hello",
        "classic write": "4 00112233445566778899AABBCCDDEEFF --key-from env:KEY6 -y",
        "classic dump": "--key-from env:KEY6", "classic read": "4 --key-from env:KEY6",
        "desfire read": "F5A1C0:1", "desfire write": "F5A1C0:1 --hex 00", "desfire value": "F5A1C0:3 --debit 1",
        "classic value": "4 --key-from env:KEY6", "lite verify": "--key-from env:KEY",
        "lite issue": "--profile profile.json --key-from env:KEY --yes --journal journal", "felica": "00FFFF0100",
        "standard verify": "--keys felica.txt", "standard keys": "--keys felica.txt --new-keys new.txt --dry-run",
        "write": "1408 1 00112233445566778899AABBCCDDEEFF --keys felica.txt --yes",
        "apdu": "00A4040000", "tag provision": "--plan plan.json --new-keys tag.keys --dry-run",
        "tag reset": "--keys tag.keys --dry-run",
    ]

    /// Those that run until they are stopped, which `HangingDriverTests` of the services has, look for what is wrong or record
    /// it, or need the journal of an issuance that was cut short.
    private static let others = [
        "watch", "serve", "rpc", "bridge", "doctor", "contribute", "lite resume", "standard resume",
        "tag resume",
    ]

    /// Every command that takes a reader.
    static let commands: [String] = {
        func names(_ command: JSONCursor, below: [String]) throws -> [String] {
            let below = try below + [command.required("commandName").text()]
            let arguments = try command.optional("arguments")?.elements() ?? []
            let takesReader = try arguments.contains { argument in
                try argument.optional("names")?.elements().contains { try $0.text() == "--reader" }
                    ?? false
            }
            let inner = try command.optional("subcommands")?.elements() ?? []
            return try (takesReader ? [below.dropFirst().joined(separator: " ")] : [])
                + inner.flatMap { try names($0, below: below) }
        }
        return ((try? names(Kazasu.listing(), below: [])) ?? []).filter { !others.contains($0) }
    }()

    /// A command with what it needs to get as far as its reader.
    ///
    /// - Parameter folder: takes the files that it needs.
    static func words(_ command: String, _ folder: TemporaryFolder) throws -> [String] {
        let profile = try folder.write(Array(LiteTests.profile.utf8), as: "profile.json")
        let keys = try folder.write(TestFiles.read("Fixtures/felica/standard-keys.txt"), as: "felica.txt")
        chmod(keys, 0o600)
        let new = try folder.write(Array("0003 1408 1122334455667788 0008".utf8), as: "new.txt")
        chmod(new, 0o600)
        let plan = try folder.write(TestFiles.read("Fixtures/provision/ntag424-plan.json"), as: "plan.json")
        let tag = try folder.write(TestFiles.read("Fixtures/provision/ntag424-keys.txt"), as: "tag.keys")
        chmod(tag, 0o600)
        let files = [
            "new.txt": new, "plan.json": plan, "tag.keys": tag,
            "profile.json": profile, "journal": "\(folder.path)/journal", "felica.txt": keys,
        ]
        return (command + " " + arguments[command, default: ""]).split(separator: " ").map {
            files[String($0)] ?? String($0)
        }
    }

    /// The secrets that those commands name.
    static let environment = Kazasu.environment.merging([
        "KEY": "00112233445566778899AABBCCDDEEFF", "KEY6": "FFFFFFFFFFFF", "MRZ": "SP1234567,800405,360614",
    ]) { $1 }

    private static func environment(_ service: SilentPCSCService) -> [String: String] {
        environment.merging(service.environment) { $1 }
    }

    @Test("A pcscd that was stopped: what does not answer is said", arguments: commands, [true, false])
    func stopped(command: String, isNamed: Bool) throws {
        let (service, folder) = (try SilentPCSCService(), try TemporaryFolder())
        let words = try Self.words(command, folder) + ["-t", "1"] + (isNamed ? ["-r", "pcsc:Reader"] : [])
        let result = try ChildProcess.run(
            Kazasu.path, words, environment: Self.environment(service), limit: .seconds(300))
        #expect(result.end == .exited(69), "\(result)")
        #expect(result.errors.contains("does not answer"), "\(result.errors)")
        #expect(!result.errors.contains("quit the other program"), "\(result.errors)")
        #expect(result.output.isEmpty)
    }

    @Test("A signal ends the wait for it", arguments: commands, [true, false])
    func signal(command: String, isNamed: Bool) throws {
        let (service, folder) = (try SilentPCSCService(), try TemporaryFolder())
        let words = try Self.words(command, folder) + (isNamed ? ["-r", "pcsc:Reader"] : [])
        let child = try RunningChild(
            Kazasu.path, words, environment: Self.environment(service), limit: .seconds(300))
        try service.waitForProgram()
        child.send(SIGINT)
        let result = child.finish()
        #expect(result.end == .exited(130) || result.end == .exited(69), "\(result)")
    }
}

/// The same with a real pcscd that is stopped while it serves a command.
@Suite(
    "Commands do not hang with a pcscd that is stopped", .waits, .serialized, .timeLimit(.minutes(10)),
    .enabled(if: PCSCService.obstacle == nil, "\(PCSCService.obstacle ?? "")"))
struct StoppedServiceTests {
    @Test("While waiting for a card, which a signal ends", arguments: [SIGINT, SIGTERM])
    func waiting(signal: Int32) throws {
        let folder = try TemporaryFolder()
        let service = try PCSCService(folder: folder.path)
        let child = try RunningChild(
            Kazasu.path,
            ["balance", "-t", "forever", "-r", "pcsc:\(service.readers[0])", "--trace", "/dev/stderr"],
            environment: Kazasu.environment.merging([PCSCService.variable: service.socket]) { $1 },
            limit: .seconds(300))
        for _ in 0..<3 { _ = try child.line(of: .errors) }
        service.pause()
        child.send(signal)
        let result = child.finish()
        #expect(result.end == .exited(signal == SIGINT ? 130 : 143), "\(result)")
        service.resume()
    }

    @Test("While waiting for a card, which its limit ends")
    func limit() throws {
        let folder = try TemporaryFolder()
        let service = try PCSCService(folder: folder.path)
        let child = try RunningChild(
            Kazasu.path,
            ["balance", "-t", "forever", "-r", "pcsc:\(service.readers[0])", "--trace", "/dev/stderr"],
            environment: Kazasu.environment.merging([PCSCService.variable: service.socket]) { $1 },
            limit: .seconds(300))
        for _ in 0..<3 { _ = try child.line(of: .errors) }
        service.pause()
        let result = child.finish()
        #expect(result.end == .exited(74), "\(result)")
        #expect(result.errors.contains("the reader stopped answering"), "\(result.errors)")
        service.resume()
    }
}
