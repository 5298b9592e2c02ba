// SPDX-License-Identifier: Apache-2.0

import Testing
import USBTransport

@testable import PaSoRiReader

/// Readers that send message after message, never the expected one.
struct PaSoRiTransportTests {
    /// Acknowledges endlessly, and records the time-out of each transfer.
    private final class TalkativeLink: USBLink {
        private(set) var times: [Duration] = []
        func send(_ bytes: [UInt8], within time: Duration) {}
        func receive(within time: Duration) -> [UInt8] {
            times.append(time)
            return Port100Frame.acknowledgeBytes
        }
        func ignoreCancellation() {}
        func close() {}
    }

    @Test func unexpectedMessagesShareOneTimeout() throws {
        let link = TalkativeLink()
        let transport = Port100Transport(link, Port100Framing())
        #expect(throws: PaSoRiError.damaged) {
            try transport.receive(within: .seconds(1)) { (_: Port100Frame) throws(PaSoRiError) -> Bool? in nil }
        }
        #expect(link.times.count == 128)
        #expect(link.times.allSatisfy { $0 <= .seconds(1) })
        #expect(link.times == link.times.sorted(by: >))
        let (first, last) = (try #require(link.times.first), try #require(link.times.last))
        #expect(last < first)
    }

    @Test func totalTimeAllowsTheFullTimeoutForEachTransfer() {
        let link = TalkativeLink()
        let transport = Port100Transport(link, Port100Framing())
        #expect(throws: PaSoRiError.damaged) {
            try transport.receive(within: .seconds(1), inAll: .seconds(3600)) {
                (_: Port100Frame) throws(PaSoRiError) -> Bool? in nil
            }
        }
        #expect(link.times.allSatisfy { $0 == .seconds(1) })
    }
}
