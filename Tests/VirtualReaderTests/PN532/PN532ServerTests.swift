// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("The PN532 server")
struct PN532ServerTests {
    private static let version: [UInt8] =
        PN532Frame.acknowledge + [0x00, 0x00, 0xFF, 0x06, 0xFA, 0xD5, 0x03, 0x32, 0x01, 0x06, 0x07, 0xE8, 0x00]

    private func expectAnswer(from client: SerialClient) throws {
        client.write(try ChipBench.frame("d402"))
        #expect(client.read(Self.version.count) == Self.version)
    }

    @Test func clientsOneAfterAnother() throws {
        let server = try PN532Server(field: PlainField())
        defer { server.stop() }
        #expect(server.connectionString == "pn532_uart:" + server.path)
        for _ in 0..<3 { try expectAnswer(from: SerialClient(server.path)) }
        #expect(server.statistics.hostCommands == 3)
    }

    /// A program that was killed half-way through a frame does not spoil the port for the next one.
    @Test func partialFrameDoesNotStopTheNextClient() throws {
        let server = try PN532Server(field: PlainField())
        defer { server.stop() }
        try SerialClient(server.path).write(Array(try ChipBench.frame("d44a010100ffff0100").dropLast(4)))
        try expectAnswer(from: SerialClient(server.path))
    }

    @Test func acknowledgeEndsAnEndlessSearch() throws {
        let server = try PN532Server(field: PlainField(hasCard: false))
        defer { server.stop() }
        let client = try SerialClient(server.path)
        client.write(try ChipBench.frame("d44a010100ffff0100"))
        #expect(client.read(6) == PN532Frame.acknowledge)
        client.write(PN532Frame.acknowledge)
        try expectAnswer(from: client)
        #expect(server.statistics.abortedCommands == 1)
    }

    @Test func stopEndsAnEndlessSearch() throws {
        let folder = try TemporaryFolder()
        let server = try PN532Server(field: PlainField(hasCard: false), link: folder.path + "/tty")
        let client = try SerialClient(server.path)
        client.write(try ChipBench.frame("d44a010100ffff0100"))
        #expect(client.read(6) == PN532Frame.acknowledge)
        server.stop()
        server.stop()
        #expect(folder.names.isEmpty)
    }

    /// Otherwise the time on the line depends on which of two threads is quicker.
    @Test func lastBytesCount() throws {
        for round in 0..<100 {
            let server = try PN532Server(field: PlainField())
            try SerialClient(server.path).write(PN532Frame.acknowledge)
            server.stop()
            #expect(server.statistics.bytesFromHost == 6, "round \(round)")
        }
    }

    @Test func unreferencedServerStops() throws {
        // The number of the terminal may be another program's at once.
        let folder = try TemporaryFolder()
        var server: PN532Server? = try PN532Server(field: PlainField(), link: folder.path + "/tty")
        #expect(folder.names == ["tty"])
        _ = server
        server = nil
        #expect(folder.names.isEmpty)
    }

    @Test func linkIsTheConnectionString() throws {
        let folder = try TemporaryFolder()
        let server = try PN532Server(field: PlainField(), link: folder.path + "/tty")
        #expect(server.connectionString == "pn532_uart:\(folder.path)/tty")
        try expectAnswer(from: SerialClient(folder.path + "/tty"))
        server.stop()
        #expect(access(folder.path + "/tty", F_OK) != 0)
    }

    @Test func serversSideBySide() throws {
        let servers = try (0..<8).map { _ in try PN532Server(field: PlainField()) }
        for server in servers { try expectAnswer(from: SerialClient(server.path)) }
        #expect(Set(servers.map(\.path)).count == 8)
        servers.forEach { $0.stop() }
    }
}
