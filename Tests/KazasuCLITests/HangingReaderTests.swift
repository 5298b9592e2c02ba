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
    /// - Parameter folder: takes its files and its journal.
    static func words(_ command: String, _ folder: TemporaryFolder) throws -> [String] {
        let arguments = try (CommandRow.all[command]?.words ?? []).map { word in
            if word == "JOURNAL" { return "\(folder.path)/journal" }
            guard word.hasPrefix("Fixtures/") else { return word }
            // Keys that others may read are used with a warning.
            let copy = try folder.write(TestFiles.read(word), as: String(word.split(separator: "/").last ?? "file"))
            chmod(copy, 0o600)
            return copy
        }
        return command.split(separator: " ").map(String.init) + arguments
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
