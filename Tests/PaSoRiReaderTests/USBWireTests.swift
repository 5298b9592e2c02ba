// SPDX-License-Identifier: Apache-2.0

import Testing
import USBTransport

@testable import PaSoRiReader

/// Readers that talk on and on and never say what was asked.
struct USBWireTests {
    /// Acknowledges for ever; notes how long it might have taken each time.
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

    @Test func whatIsNotWantedTakesFromTheSameTime() throws {
        let link = TalkativeLink()
        let wire = USBWire<Port100Frame>(link, sendTime: .seconds(1))
        #expect(throws: PaSoRiError.damaged) {
            try wire.first(within: .seconds(1)) { (_: Port100Frame) throws(PaSoRiError) -> Bool? in nil }
        }
        #expect(link.times.count == 128)
        #expect(link.times.allSatisfy { $0 <= .seconds(1) })
        #expect(link.times == link.times.sorted(by: >))
        let (first, last) = (try #require(link.times.first), try #require(link.times.last))
        #expect(last < first)
    }

    @Test func timeThatAReaderMayAskForIsGivenEachTransfer() {
        let link = TalkativeLink()
        let wire = USBWire<Port100Frame>(link, sendTime: .seconds(1))
        #expect(throws: PaSoRiError.damaged) {
            try wire.first(within: .seconds(1), inAll: .seconds(3600)) {
                (_: Port100Frame) throws(PaSoRiError) -> Bool? in nil
            }
        }
        #expect(link.times.allSatisfy { $0 == .seconds(1) })
    }
}
