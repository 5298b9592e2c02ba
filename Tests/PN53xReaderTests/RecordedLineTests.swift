// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import ReaderCore
import Synchronization
import TestSupport
import Testing

@testable import PN53xReader

/// The recordings of PN532 on serial lines, played to the real libnfc byte by byte.
@Suite("Recorded serial lines", .waits)
struct RecordedLineTests {
    static let files = RecordedLink.files(of: "virtual:", "pn532_uart:")

    @Test("libnfc sends the recorded frames, and the driver returns the recorded results", arguments: files)
    func recorded(file: String) throws {
        // A pseudo-terminal has no other speed; the recording may be of a time when the line was raised at another exchange.
        let recorded = RecordedLink(try RecordedLink.transcript(file)) { $0.starts(with: RecordedLine.changeOfSpeed) }
        #expect(!recorded.entries.isEmpty)
        let line = try RecordedLine(recorded)
        let driver = LibNFCDriver()
        let reader = try #require(try driver.open(line.connectionString + ":115200", cancellation: CancellationToken()))
        #expect(recorded.differences(on: reader) == [])
        if recorded.isWhole { reader.close() }
        let (complaint, left) = line.stop()
        if !recorded.isWhole { reader.close() }
        #expect(complaint == nil)
        #expect(left == 0)
    }

    /// Lines as libnfc 1.8.0 writes them.
    static let logged: [(line: String, event: LinkEvent.Content?)] = [
        ("debug\tlibnfc.bus.uart\tTX: 00 00 ff 02 fe d4 02 2a 00 ", .sent([0, 0, 0xFF, 2, 0xFE, 0xD4, 2, 0x2A, 0])),
        ("debug\tlibnfc.bus.uart\tRX: d5 ", .received([0xD5])),
        ("debug\tlibnfc.chip.pn53x\tTimeout value: 5000", .note("libnfc.chip.pn53x Timeout value: 5000")),
        ("debug\tlibnfc.chip.pn53x\tPN53x ACKed", .note("libnfc.chip.pn53x PN53x ACKed")),
        ("debug\tlibnfc.chip.pn53x\tIllegal data: 01 02 03 ", nil),
        ("nfc_open: no device", .note("nfc_open: no device")), ("", nil),
    ]

    @Test("libnfc's log has frames, and notes without card data", arguments: logged)
    func log(_ row: (line: String, event: LinkEvent.Content?)) {
        #expect(LibNFCLog.events(in: Array((row.line + "\n").utf8)) == (row.event.map { [$0] } ?? []))
    }
}

/// The chip's end of a serial line, which answers what was recorded when it gets what was recorded.
final class RecordedLine: Sendable {
    /// SetSerialBaudRate of the PN532, as it is sent.
    static let changeOfSpeed: [UInt8] = [0x00, 0x00, 0xFF, 0x03, 0xFD, 0xD4, 0x10]
    /// What the driver sends past libnfc, and past its log, to end what the chip is doing.
    private static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]

    /// Where libnfc finds the line.
    var connectionString: String { "pn532_uart:\(line.path)" }
    private let line: PseudoLine
    private let ends: [Int32]
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<(complaint: String?, left: Int)>((nil, 0))

    init(_ recorded: RecordedLink) throws {
        line = try PseudoLine()
        var pipeEnds: [Int32] = [-1, -1]
        guard pipe(&pipeEnds) == 0 else { throw PseudoLine.Failed(call: "pipe") }
        ends = pipeEnds
        DispatchQueue(label: "recorded line").async { [self] in
            var events = recorded.events[...]
            let complaint = play(&events)
            outcome.withLock { $0 = (complaint, events.count) }
            ended.signal()
        }
    }

    /// Ends the line.
    ///
    /// - Returns: what was sent otherwise than it was recorded, and how much of the recording is left.
    func stop() -> (complaint: String?, left: Int) {
        close(ends[1])
        ended.wait()
        line.end()
        close(ends[0])
        return outcome.withLock { $0 }
    }

    private func play(_ events: inout ArraySlice<RecordedLink.Event>) -> String? {
        var got: [UInt8] = []
        while let event = events.first {
            switch event {
            case .sent(let bytes):
                while got.count < bytes.count || got.starts(with: Self.acknowledge) && bytes != Self.acknowledge {
                    if got.starts(with: Self.acknowledge), bytes != Self.acknowledge {
                        got.removeFirst(Self.acknowledge.count)
                    } else if !read(&got) {
                        return got.isEmpty ? nil : "\(got) was sent, expected \(bytes)"
                    }
                }
                guard got.starts(with: bytes) else { return "\(got) was sent, expected \(bytes)" }
                got.removeFirst(bytes.count)
            case .received(let bytes): _ = write(line.master, bytes, bytes.count)
            case .failed: break
            }
            events = events.dropFirst()
        }
        return nil
    }

    /// Waits for more from libnfc.
    ///
    /// - Returns: `false` when the test is over.
    private func read(_ got: inout [UInt8]) -> Bool {
        var waiting = [
            pollfd(fd: line.master, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0),
        ]
        poll(&waiting, 2, -1)
        guard waiting[0].revents & Int16(POLLIN) != 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = Glibc.read(line.master, &buffer, buffer.count)
        got += buffer.prefix(max(0, count))
        return count > 0
    }
}
