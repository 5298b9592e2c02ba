// SPDX-License-Identifier: Apache-2.0

import CardModel
import Dispatch
import Glibc
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// What the serial transport does beside what both ways to a PN532 are tested for.
@Suite(.waits)
struct SerialTransportTests {
    static let addresses: [(String, String?, LineSpeed?)] = [
        ("pn532:/dev/ttyUSB0", "/dev/ttyUSB0", nil), ("PN532:/dev/pts/3", "/dev/pts/3", nil),
        ("pn532:/dev/ttyUSB0:921600", "/dev/ttyUSB0", .fast), ("pn532:/dev/ttyUSB0:115200", "/dev/ttyUSB0", .normal),
        ("pn532_uart:/dev/ttyUSB0", nil, nil), ("pn532x:/dev/ttyUSB0", nil, nil), ("", nil, nil), (":", nil, nil),
    ]

    @Test(arguments: addresses) func parsesAnID(_ id: String, _ path: String?, _ speed: LineSpeed?) throws {
        let address = try PN532Address(parsing: id)
        #expect(address?.path == path)
        #expect(address?.speed == speed)
        let again = try PN532Address(parsing: address?.text ?? "")
        #expect(again == address)
    }

    @Test(arguments: [
        "pn532", "pn532:", "pn532:ttyUSB0", "pn532:/dev/ttyUSB0:", "pn532:/dev/ttyUSB0:fast",
        "pn532:/dev/ttyUSB0:115201",
        "pn532:/dev/ttyUSB0:+9600", "pn532:/dev/ttyUSB0:9600:1", "pn532:/dev/tty\0USB0",
    ]) func aMalformedIDIsRefused(_ id: String) {
        let error = #expect(throws: TransportError.self) {
            try PN532Driver().open(id, cancellation: CancellationToken())
        }
        guard case .readerUnavailable(.unsupported, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// The chip is found at 115200 baud, works at the speed that was asked for, and is left at 115200 baud.
    @Test(arguments: LineSpeed.all) func everySpeedOfTheChipIsUsed(_ speed: LineSpeed) throws {
        let bench = try Bench(.serial, speed: ":\(speed.bitsPerSecond)")
        try bench.activate()
        #expect(bench.server.comes(to: speed.bitsPerSecond))
        try bench.work(20)
        #expect(bench.server.statistics.damagedFrames == 0)
        bench.reader.close()
        #expect(bench.server.comes(to: 115_200))
        #expect(!bench.server.statistics.isFieldOn)
    }

    @Test(arguments: LineSpeed.all) func findsTheChipAtAnySpeed(_ speed: LineSpeed) throws {
        let bench = try Bench(.serial, initialSpeed: speed.bitsPerSecond, patience: 30)
        #expect(bench.server.comes(to: 115_200))
        try bench.activate()
        try bench.work(5)
    }

    @Test func restoresThePort() throws {
        let server = try PN532Server(field: VirtualField(cards: [TestCard()]))
        defer { server.stop() }
        let port = open(server.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(port) }
        var before = termios()
        tcgetattr(port, &before)
        cfsetspeed(&before, speed_t(B9600))
        before.c_cflag |= tcflag_t(CSTOPB)
        tcsetattr(port, TCSANOW, &before)
        try Way.serial.open(server).close()
        var after = termios()
        tcgetattr(port, &after)
        #expect((after.c_cflag, after.c_iflag, after.c_lflag) == (before.c_cflag, before.c_iflag, before.c_lflag))
        #expect(cfgetospeed(&after) == speed_t(B9600))
    }

    /// Also while it opens a port without a reader.
    @Test func openingCanBeCancelled() throws {
        let line = try PseudoLine()
        defer { line.end() }
        let cancellation = CancellationToken()
        DispatchQueue(label: "canceller").async {
            // The first command has come, so its answer is waited for.
            var byte: UInt8 = 0
            _ = read(line.master, &byte, 1)
            cancellation.cancel()
        }
        #expect(throws: TransportError.cancelled) {
            try PN532Driver(patience: 1000).open("pn532:\(line.path)", cancellation: cancellation)
        }
    }

    @Test func reportsUnpluggingDuringACommand() throws {
        let bench = try Bench(.serial, serial: InjectedSerialFaults([.code(0x42): .late(.seconds(600))]), patience: 100)
        try bench.activate()
        let server = bench.server
        DispatchQueue(label: "plug").async {
            while server.statistics.commandsByCode[0x42] == nil { sched_yield() }
            server.stop()
        }
        let gone = TransportError.readerUnavailable(reason: .absent, detail: .init(.unplugged))
        #expect(throws: gone) { try bench.exchange(TestCard.requestSystemCode) }
        #expect(throws: gone) { try bench.activate() }
        bench.reader.close()
    }

    /// More descriptors than libnfc can live with.
    @Test func worksWithManyOpenFiles() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
            setrlimit(__rlimit_resource_t(7), &limit)
            let bench = try { () throws -> PN532Server in
                let server = try PN532Server(field: VirtualField(cards: [TestCard()]))
                while dup(1) < 1100 {}
                return server
            }()
            let reader = try Way.serial.open(bench)
            #expect(try reader.activateFeliCa(systems: [.transit])?.idm.bytes == TestCard.idm)
            reader.close()
            bench.stop()
        }
    }

    /// Without a descriptor for what cancels it, the transport leaves the port as it was.
    @Test func restoresThePortWithoutFreeDescriptors() async {
        await #expect(processExitsWith: .success) {
            let line = try PseudoLine()
            let port = open(line.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
            var (before, after) = (termios(), termios())
            tcgetattr(port, &before)
            before.c_lflag |= tcflag_t(ICANON)
            tcsetattr(port, TCSANOW, &before)
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(7), &limit)
            var last: Int32 = 0
            while case let next = dup(port), next >= 0 { last = next }
            for free in 0..<3 as Range<Int32> {
                if free > 0 { close(last + 1 - free) }
                #expect(throws: TransportError.self) {
                    try PN532Driver(patience: 1).open("pn532:\(line.path)", cancellation: CancellationToken())
                }
                tcgetattr(port, &after)
                #expect(after.c_lflag == before.c_lflag)
            }
        }
    }

    // MARK: Hostile lines

    /// A chip that answers each command with these bytes.
    private static func reader(
        answering answer: @escaping @Sendable (_ code: UInt8) -> [UInt8], _ body: (any Reader) throws -> Void
    ) throws {
        let line = try PseudoLine()
        let done = DispatchSemaphore(value: 0)
        DispatchQueue(label: "hostile chip").async {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(line.master, &buffer, buffer.count)
                guard count > 0 else { break }
                // The code of the last command of what came; the test's own sign ends it.
                let bytes = Array(buffer.prefix(count))
                if bytes.last == 0xEE { break }
                guard let start = bytes.lastIndex(of: 0xD4), start + 1 < count else { continue }
                let code = bytes[start + 1]
                let reply = code == 0x14 ? acknowledged(code, []) : answer(code)
                var sent = 0
                while sent < reply.count {
                    let rest = Array(reply[sent...])
                    let count = write(line.master, rest, rest.count)
                    if count <= 0 { break }
                    sent += count
                }
            }
            done.signal()
        }
        let reader = try #require(
            try PN532Driver(patience: 1).open("pn532:\(line.path)", cancellation: CancellationToken()))
        try body(reader)
        reader.close()
        // A port that echoes nothing carries this to the thread, which ends.
        _ = write(line.slave, [0xEE] as [UInt8], 1)
        done.wait()
        line.end()
    }

    private static func acknowledged(_ code: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        let content = [0xD5, code &+ 1] + bytes
        let low = UInt8(truncatingIfNeeded: content.count)
        let high = UInt8(truncatingIfNeeded: content.count >> 8)
        let head: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0xFF, high, low, 0 &- (high &+ low)]
        return PN532Frame.acknowledge + head + content + [0 &- content.reduce(0, &+), 0x00]
    }

    /// Every command gets an answer with valid frames and any content, or none: nothing traps, hangs or loops.
    @Test(arguments: UInt64(1)...12) func survivesAnyAnswer(_ seed: UInt64) throws {
        let state = Counter()
        try Self.reader(answering: { code in
            var random = SeededGenerator(seed: seed &* 1000 &+ state.next())
            let bytes = (0..<Int.random(in: 0..<263, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return PN532Frame.acknowledge + bytes
            case 1: return bytes + Self.acknowledged(code, bytes)
            case 2: return Self.acknowledged(code &+ 2, bytes) + Self.acknowledged(code, bytes)
            case 3: return [0x00, 0xFF, 0xFF, 0x00]
            case 4: return Self.acknowledged(code, [])
            default: return Self.acknowledged(code, bytes)
            }
        }) { reader in
            var outcomes = 0
            for _ in 0..<6 {
                _ = try? reader.activate(.felica(.transit))
                _ = try? reader.transceive(TestCard.requestSystemCode, timeout: .zero)
                _ = try? reader.activate(.typeA())
                _ = try? reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x00], timeout: .zero)
                _ = try? reader.activate(.typeB())
                outcomes += 5
            }
            #expect(outcomes == 30)
        }
    }

    /// A card's answer in parts that never end.
    @Test(arguments: [[0x40, 0xAA] as [UInt8], [0x40], [0x40] + [UInt8](repeating: 0xAA, count: 260)])
    func givesUpAnEndlessAnswer(_ part: [UInt8]) throws {
        let card: [UInt8] = [0x01, 0x01, 0x00, 0x04, 0x20, 0x04, 0x01, 0x02, 0x03, 0x04, 0x05, 0x78, 0x80, 0x70, 0x02]
        try Self.reader(answering: { code in
            switch code {
            case 0x4A: Self.acknowledged(code, card)
            case 0x40: Self.acknowledged(code, part)
            default: Self.acknowledged(code, [])
            }
        }) { reader in
            let picc = try reader.activate(.typeA())
            #expect(picc?.isISODEP == true)
            #expect(throws: TransportError.self) { try reader.transceive([0x00, 0xB0, 0, 0, 0], timeout: .zero) }
        }
    }

    private final class Counter: @unchecked Sendable {
        private var value: UInt64 = 0

        func next() -> UInt64 {
            value += 1
            return value
        }
    }
}
