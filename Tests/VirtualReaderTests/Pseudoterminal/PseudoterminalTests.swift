// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("Pseudo-terminals")
struct PseudoterminalTests {
    private func line(link: String? = nil) throws -> (line: PseudoterminalLine, path: String) {
        let terminal = try Pseudoterminal(link: link)
        let path = terminal.path
        return (PseudoterminalLine(terminal, stop: try StopSignal()), path)
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = readlink(link, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A terminal that is not raw would swallow 03, turn 0D into 0A, stop at 13 and echo.
    @Test func everyByteGoesThroughBothWays() throws {
        let (line, path) = try line()
        let client = try SerialClient(path)
        let bytes = (0...255).map { UInt8($0) }
        client.write(bytes)
        var received: [UInt8] = []
        while received.count < 256, case .bytes(let more) = line.read(until: line.now + .seconds(10)) {
            received += more
        }
        #expect(received == bytes)
        line.write(bytes)
        #expect(client.read(256) == bytes)
    }

    @Test func clientsComeAndGo() throws {
        let (line, path) = try line()
        for number in 0..<5 {
            let client = try SerialClient(path)
            client.write([UInt8(number)])
            #expect(line.read(until: line.now + .seconds(10)) == .bytes([UInt8(number)]))
        }
        #expect(line.read(until: line.now) == .deadline)
    }

    /// Programs that claim a port for themselves (TIOCEXCL) give it back when they close it.
    @Test func exclusiveClaimEndsWithItsClient() throws {
        let (line, path) = try line()
        let first = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        #expect(ioctl(first, UInt(TIOCEXCL)) == 0)
        close(first)
        #expect(line.read(until: line.now) == .deadline)
        let second = try SerialClient(path)
        var isExclusive: Int32 = -1
        let getExclusive: UInt = 0x8004_5440
        #expect(ioctl(second.descriptor, getExclusive, &isExclusive) == 0)
        #expect(isExclusive == 0)
    }

    /// More than any buffer holds: what a host does not read is lost, and the chip goes on.
    @Test func hostThatNeverReadsDoesNotBlock() throws {
        let (line, path) = try line()
        let client = try SerialClient(path)
        for _ in 0..<300 { line.write([UInt8](repeating: 0xA5, count: 4096)) }
        client.write([0x01])
        #expect(line.read(until: line.now + .seconds(10)) == .bytes([0x01]))
    }

    @Test func deadlinesAreKept() throws {
        let (line, _) = try line()
        let deadline = line.now + .milliseconds(3)
        #expect(line.read(until: deadline) == .deadline)
        #expect(line.now >= deadline)
        #expect(line.read(until: deadline) == .deadline)
    }

    @Test func stopSignalEndsAWait() throws {
        let stop = try StopSignal()
        let line = PseudoterminalLine(try Pseudoterminal(link: nil), stop: stop)
        stop.give()
        #expect(line.read(until: nil) == .closed)
        #expect(line.read(until: nil) == .closed)
    }

    /// Programs that a test or a user starts must not hold the port open.
    @Test func childProcessesDoNotInheritIt() throws {
        let (line, _) = try line()
        let result = try ChildProcess.run("/bin/ls", ["-l", "/proc/self/fd"])
        #expect(result.end == .exited(0))
        #expect(!result.output.contains("ptmx"))
        withExtendedLifetime(line) {}
    }

    // MARK: Links

    @Test func linkPointsToTheSlaveAndDisappearsWithIt() throws {
        let folder = try TemporaryFolder()
        let link = folder.path + "/ttyPN532"
        do {
            let (line, path) = try line(link: link)
            #expect(Self.target(of: link) == path)
            try SerialClient(link).write([0x55])
            #expect(line.read(until: line.now + .seconds(10)) == .bytes([0x55]))
        }
        #expect(Self.target(of: link) == nil)
    }

    @Test func nothingIsOverwritten() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/file"
        fclose(fopen(file, "w"))
        #expect(throws: PseudoterminalError.linkExists(path: file)) { try line(link: file) }
        let link = folder.path + "/link"
        #expect(symlink(file, link) == 0)
        #expect(throws: PseudoterminalError.linkExists(path: link)) { try line(link: link) }
        #expect(access(file, F_OK) == 0)
    }

    @Test func leftoverLinkIsReplaced() throws {
        let folder = try TemporaryFolder()
        let link = folder.path + "/link"
        #expect(symlink("/dev/pts/999999", link) == 0)
        let (line, path) = try line(link: link)
        #expect(Self.target(of: link) == path)
        withExtendedLifetime(line) {}
    }

    @Test func keepsALinkThatChanged() throws {
        let folder = try TemporaryFolder()
        let link = folder.path + "/link"
        do {
            let (line, _) = try line(link: link)
            unlink(link)
            #expect(symlink("/dev/null", link) == 0)
            withExtendedLifetime(line) {}
        }
        #expect(Self.target(of: link) == "/dev/null")
    }

    @Test func missingFolder() {
        let link = "/nonexistent/folder/link"
        #expect(throws: PseudoterminalError.cannotLink(path: link, errno: ENOENT)) { try line(link: link) }
    }
}
