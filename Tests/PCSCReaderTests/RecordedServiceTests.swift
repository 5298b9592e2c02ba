// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Glibc
import ReaderCore
import Synchronization
import TestSupport
import Testing

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
