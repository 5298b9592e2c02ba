// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing
import VirtualReader

/// Every command ends in time although the serial line to its reader falls silent, at every kind of moment.
@Suite("Commands do not hang with a serial line", .waits, .timeLimit(.minutes(15)))
struct SilentLineTests {
    private static func server(_ command: String, _ faults: InjectedSerialFaults = .none) throws -> PN532Server {
        let file = try TestFiles.read(#require(CommandRow.all[command]?.card, "\(command) has no card in commands.tsv"))
        return try PN532Server(field: VirtualField(cards: VirtualCardFile.loadCards(file)), faults: faults)
    }

    private static func start(_ command: String, _ id: String, _ folder: TemporaryFolder) throws -> RunningChild {
        try RunningChild(
            Kazasu.path, try HangingReaderTests.words(command, folder) + ["-r", id],
            environment: HangingReaderTests.environment, limit: .seconds(300))
    }

    /// The result of a command in a folder of its own.
    private static func result(_ command: String, _ id: String) throws -> ChildResult {
        let folder = try TemporaryFolder()
        return try start(command, id, folder).finish()
    }

    /// How a command ends with a chip that answers everything, and how many commands the chip gets.
    private static func undisturbed(_ command: String) throws -> (result: ChildResult, count: Int) {
        let server = try server(command)
        defer { server.stop() }
        let result = try result(command, "pn532:\(server.path)")
        return (result, server.statistics.hostCommands)
    }

    private static func result(_ command: String, silentFrom number: Int) throws -> ChildResult {
        let server = try server(command, InjectedSerialFaults([.command(number): .dead]))
        defer { server.stop() }
        return try result(command, "pn532:\(server.path)")
    }

    /// The chip is silent from a command on: the first, or one in the middle of the work. On a busy machine the run before may have
    /// repeated commands, so that half of them is more than all: the count starts over.
    @Test(
        "A reader that falls silent while it is opened, and in the middle of the work",
        arguments: HangingReaderTests.commands)
    func silence(command: String) throws {
        try Self.result(command, silentFrom: 1).expectError(69, "no reader answers at")
        var results: [ChildResult] = []
        for _ in 0..<4 where results.last?.end != .exited(74) {
            let (undisturbed, count) = try Self.undisturbed(command)
            #expect(count > 3, "\(undisturbed)")
            results.append(try Self.result(command, silentFrom: (count + 1) / 2))
        }
        let result = try #require(results.last)
        #expect(result.end == .exited(74), "\(results)")
        // It may fall silent just when its line is raised.
        #expect(
            result.errors.contains("the reader stopped answering") || result.errors.contains("921600 baud"),
            "\(result.errors)")
    }

    /// The last command closes the reader. On a busy machine a command may be repeated, so that the count starts over.
    @Test("A reader that falls silent while it is closed", arguments: HangingReaderTests.commands)
    func silenceAtTheEnd(command: String) throws {
        var ends: [(found: ChildResult.End, expected: ChildResult.End)] = []
        for _ in 0..<4 where ends.last.map({ $0.found != $0.expected }) ?? true {
            let (undisturbed, count) = try Self.undisturbed(command)
            ends.append((try Self.result(command, silentFrom: count).end, undisturbed.end))
        }
        let last = try #require(ends.last)
        #expect(last.found == last.expected, "\(ends)")
    }

    @Test("A signal ends the wait", arguments: HangingReaderTests.commands)
    func signal(command: String) throws {
        // The third command sets the chip up for a search, whatever the work is.
        let server = try Self.server(command, InjectedSerialFaults([.command(3): .dead]))
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let child = try Self.start(command, "pn532:\(server.path)", folder)
        let end = ContinuousClock.now + .seconds(120)
        while server.statistics.hostCommands < 3, ContinuousClock.now < end { sched_yield() }
        child.send(SIGINT)
        #expect(child.finish().end == .exited(130))
    }

    /// What is different below libnfc is the same for every command.
    @Test("The same through libnfc", arguments: [1, 6])
    func libnfc(number: Int) throws {
        let server = try Self.server("balance", InjectedSerialFaults([.command(number): .dead]))
        defer { server.stop() }
        let result = try Self.result("balance", "pn532_uart:\(server.path)")
        #expect([.exited(69), .exited(74)].contains(result.end), "\(result)")
    }
}
