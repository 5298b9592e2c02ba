// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import ReaderCore
import SystemDevices
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// What stands between a path and a reader.
@Suite(.waits)
struct SerialPortTests {
    static let faults: [(Int32, String?, UnavailableReason, TransportError.Reason)] = [
        (EACCES, "dialout", .permission, .init(.deviceForGroup, "/dev/x", "dialout")),
        (EPERM, nil, .permission, .init(.deviceDenied, "/dev/x")),
        (ENOENT, nil, .absent, .init(.deviceAbsent, "/dev/x")),
        (ENXIO, nil, .absent, .init(.noDevice, "/dev/x", "6")),
        (EIO, "dialout", .absent, .init(.noDevice, "/dev/x", "5")),
        (EBUSY, "dialout", .busy, .init(.deviceInUse, "/dev/x")),
        (EWOULDBLOCK, nil, .busy, .init(.deviceInUse, "/dev/x")),
        (EMFILE, nil, .unsupported, .init(.deviceNotOpened, "/dev/x", "24")),
    ]

    @Test(arguments: faults)
    func namesTheReason(
        _ number: Int32, _ group: String?, _ reason: UnavailableReason, _ detail: TransportError.Reason
    ) {
        let fault = DeviceNodeError(errorNumber: number, path: "/dev/x", group: group)
        #expect(fault.error == .readerUnavailable(reason: reason, detail: detail))
    }

    static let wrongPaths: [(String, UnavailableReason)] = [
        ("/dev/ttyKAZASU-none", .absent), ("/no/such/directory/tty", .absent),
        ("\(TestFiles.root)/LICENSE", .unsupported),
        ("/tmp", .unsupported), ("/dev/null", .absent), ("/" + String(repeating: "a", count: 300), .unsupported),
    ]

    @Test(arguments: wrongPaths, ["pn532_uart", "arygon", "ACR122S", "pn532_spi", "pn532_i2c", "pn532"])
    func reportsAWrongPath(_ wrong: (String, UnavailableReason), _ driver: String) {
        let error = #expect(throws: TransportError.self) {
            let way = driver == "pn532" ? Way.serial : .libnfc
            return try way.driver().open("\(driver):\(wrong.0)", cancellation: CancellationToken())
        }
        guard case .readerUnavailable(let reason, let detail)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // The lock on /dev/null is the whole machine's: another run of these tests may hold it.
        #expect(reason == wrong.1 || wrong.0 == "/dev/null" && reason == .busy)
        #expect(detail.values.first == wrong.0)
    }

    @Test func namesTheGroupOfAnInaccessiblePort() async throws {
        await #expect(processExitsWith: .success) {
            let server = try PN532Server(field: VirtualField())
            chmod(server.path, 0o060)
            if geteuid() == 0 {
                // Nobody is told to join root's group.
                chown(server.path, 0, 1)
                setgroups(0, nil)
                setgid(65_534)
                setuid(65_534)
            }
            let group = try #require(FileOwner.group(of: server.path))
            let denied = TransportError.readerUnavailable(
                reason: .permission, detail: .init(.deviceForGroup, server.path, group))
            #expect(throws: denied) {
                try LibNFCDriver().open(server.connectionString, cancellation: CancellationToken())
            }
            server.stop()
        }
    }

    @Test(arguments: [0o600, 0o640, 0o060, 0o666])
    func namesAGroupThatMayReadAndWrite(mode: mode_t) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], as: "port")
        #expect(chmod(path, mode) == 0)
        #expect((FileOwner.group(of: path) != nil) == (mode & 0o060 == 0o060))
    }

    @Test(arguments: Way.allCases) func locksTheTargetOfASymbolicLink(_ way: Way) throws {
        let bench = try Bench(way)
        let link = "/tmp/kazasu-link-\(getpid())-\(bench.server.path.split(separator: "/").last ?? "")"
        symlink(bench.server.path, link)
        defer { unlink(link) }
        let busy = TransportError.readerUnavailable(reason: .busy, detail: .init(.deviceInUse, link))
        #expect(throws: busy) { try way.driver().open(way.id(link), cancellation: CancellationToken()) }
    }

    @Test func markExcludesOthersUntilRemoved() throws {
        let server = try PN532Server(field: VirtualField())
        defer { server.stop() }
        let descriptor = open(server.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(descriptor) }
        #expect(Terminal.isPseudoTerminal(descriptor))
        #expect(!Terminal.isMarked(descriptor))
        #expect(Terminal.mark(descriptor, exclusive: true))
        #expect(Terminal.isMarked(descriptor))
        Terminal.mark(descriptor, exclusive: false)
        #expect(!Terminal.isMarked(descriptor))
    }

    @Test(arguments: Way.allCases) func locksAPseudoterminalWithoutMarkingIt(_ way: Way) throws {
        let bench = try Bench(way)
        let descriptor = open(bench.server.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(descriptor) }
        #expect(!Terminal.isMarked(descriptor))
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        bench.reader.close()
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    }

    @Test(arguments: Way.allCases) func releasesAReaderOnDeinit(_ way: Way) throws {
        let server = try PN532Server(field: VirtualField(cards: [TestCard()]))
        defer { server.stop() }
        for _ in 0..<2 {
            let reader = try way.open(server)
            #expect(try reader.activateFeliCa(systems: [.any]) != nil)
        }
    }

    /// `select` cannot wait for a descriptor of 1024 or more; libnfc would be killed by its fortified FD_SET.
    @Test func rejectsTooManyOpenFiles() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
            setrlimit(__rlimit_resource_t(7), &limit)
            let server = try PN532Server(field: VirtualField())
            while dup(1) < 1010 {}
            let error = #expect(throws: TransportError.self) {
                try LibNFCDriver().open(server.connectionString, cancellation: CancellationToken())
            }
            guard case .readerUnavailable(.unsupported, _)? = error else { exit(3) }
            server.stop()
        }
    }
}
