// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Glibc
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

@testable import PCSCReader

// Inside the other suite, because the place of pcscd's socket is one for the process.
extension PCSCServiceTests {
    /// The recordings of readers behind pcscd, played to the driver through a real pcscd, command by command.
    @Suite("Recorded readers of pcscd", .serialized)
    struct RecordedServiceTests {
        static let files = RecordedLink.files(of: "pcsc:Kazasu Test")

        @Test("The driver sends the recorded commands and returns the recorded results", arguments: files)
        func recorded(file: String) throws {
            let recorded = RecordedLink(try RecordedLink.transcript(file))
            #expect(!recorded.entries.isEmpty)
            let bench = try PCSCBench()
            let atr = try #require(recorded.notes.first { $0.hasPrefix("ATR ") })
            let script = RecordedCard(recorded)
            let card = try VPCDCard(port: bench.service.port, atr: try Hex.decode(atr.dropFirst(4))) {
                script.answer($0)
            }
            // A reader of its own waits until pcscd has seen the card, which must not see the wait.
            let waiting = try bench.open()
            try bench.waitForAnyCard(on: waiting)
            waiting.close()
            script.begin()
            let reader = try bench.open()
            #expect(recorded.differences(on: reader) == [])
            reader.close()
            #expect(script.complaint == nil)
            if recorded.isWhole { #expect(script.left == 0) }
            _ = card
        }

        /// A card on a reader that passes FeliCa packets on, as the ACR1251 does: `FF 00 00 00 Lc packet`.
        @Test(
            "Records one",
            .enabled(
                if: getenv("KAZASU_RECORD") != nil, "only writes Fixtures/recordings/pcsc.jsonl with KAZASU_RECORD=1"))
        func record() throws {
            let bench = try PCSCBench()
            let felica = FeliCaPassing(try VirtualField(cardFile: TestFiles.read("Fixtures/cards/edy/card.json")))
            let card = try bench.insert(PCSCServiceTests.felica) { felica.answer($0) }
            let reader = try bench.open()
            try bench.waitForAnyCard(on: reader)
            reader.close()
            let path = "\(TestFiles.root)/Fixtures/recordings/pcsc.jsonl"
            let result = try ChildProcess.run(
                "\(TestFiles.root)/.build/debug/kazasu",
                [
                    "doctor", "--root", "/nowhere", "--report", path, "--dump", "--yes", "--reader",
                    "pcsc:\(bench.service.readers[0])",
                ], environment: [PCSCService.variable: bench.service.socket, "LC_ALL": "C"])
            #expect(result.end == .exited(0), "\(result.errors)")
            _ = card
        }
    }
}

extension PCSCBench {
    /// Waits until there is a card that a reader passes packets to, or that it refuses to.
    fileprivate func waitForAnyCard(on reader: any Reader) throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            do throws(TransportError) {
                if try reader.activate(.felica(.any)) != nil { return }
            } catch .unsupported {
                return
            }
            _ = try reader.waitForEvent(within: deadline - .now)
        }
    }
}

/// A card that answers what was recorded, once it has begun.
private final class RecordedCard: Sendable {
    private struct State {
        var events: ArraySlice<RecordedLink.Event>
        var hasBegun = false
        var complaint: String?
    }

    private let state: Mutex<State>

    init(_ recorded: RecordedLink) { state = Mutex(State(events: recorded.events[...])) }

    var complaint: String? { state.withLock(\.complaint) }
    var left: Int { state.withLock(\.events.count) }

    func begin() { state.withLock { $0.hasBegun = true } }

    /// `nil` takes the card out.
    func answer(_ command: [UInt8]) -> [UInt8]? {
        state.withLock { state in
            guard state.hasBegun else { return [0x6D, 0x00] }
            guard case .sent(command)? = state.events.first else {
                state.complaint =
                    state.complaint ?? "\(command) was sent, expected \(String(describing: state.events.first))"
                return [0x6F, 0x00]
            }
            state.events = state.events.dropFirst()
            guard case .received(let bytes)? = state.events.first else { return nil }
            state.events = state.events.dropFirst()
            return bytes
        }
    }
}

/// A FeliCa card behind a reader's pseudo-APDU.
private final class FeliCaPassing: Sendable {
    private struct Inside: @unchecked Sendable {
        let reader: InProcessReader
    }

    private let inside: Mutex<Inside>

    init(_ field: VirtualField) { inside = Mutex(Inside(reader: InProcessReader(field))) }

    func answer(_ command: [UInt8]) -> [UInt8] {
        guard command.starts(with: [0xFF, 0x00, 0x00, 0x00]), command.count > 6 else { return [0x6D, 0x00] }
        let packet = Array(command.dropFirst(5).prefix(Int(command[4])))
        return inside.withLock { Self.send(packet, to: $0.reader) } ?? [0x64, 0x01]
    }

    private static func send(_ packet: [UInt8], to reader: InProcessReader) -> [UInt8]? {
        guard packet.count == 6, packet[1] == 0x00 else {
            return (try? reader.transceive(packet, timeout: .seconds(1))).map { $0 + [0x90, 0x00] }
        }
        let system = SystemCode(rawValue: UInt16(packet[2]) << 8 | UInt16(packet[3]))
        guard case .felica(let target)? = try? reader.activate(.felica(system, requestCode: packet[4])) else {
            return nil
        }
        let data = target.requestData.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? []
        let answer = [0x01] + target.idm.bytes + target.pmm.bytes + data
        return [UInt8(answer.count + 1)] + answer + [0x90, 0x00]
    }
}
