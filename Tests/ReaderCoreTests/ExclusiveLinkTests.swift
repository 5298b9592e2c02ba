// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Testing

/// The link that a driver holds while its reader is open.
struct ExclusiveLinkTests {
    /// A link that counts what is done with it.
    private struct Link: ~Copyable {
        var uses = 0
    }

    private func uses(of link: consuming Link?) -> Int? {
        guard let link else { return nil }
        return link.uses
    }

    @Test func isAvailableAgainAfterEachUse() throws {
        let held = ExclusiveLink(Link(), CancellationToken()) {}
        for _ in 0..<3 { try held.run { link in link.uses += 1 } }
        #expect(throws: TransportError.noAnswer) {
            try held.run { link throws(TransportError) in
                link.uses += 1
                throw .noAnswer
            }
        }
        #expect(try held.run { $0.uses } == 4)
    }

    @Test func doesNothingAfterItWasTaken() throws {
        let held = ExclusiveLink(Link(), CancellationToken()) {}
        #expect(uses(of: held.take()) == 0)
        #expect(uses(of: held.take()) == nil)
        #expect(throws: TransportError.closed) {
            try held.run { _ in Issue.record("there is no link") }
        }
    }

    @Test func reportsFailuresAfterCancellationAsCancelled() throws {
        let token = CancellationToken()
        let held = ExclusiveLink(Link(), token) {}
        #expect(throws: TransportError.cancelled) {
            try held.run { _ throws(TransportError) in
                token.cancel()
                throw .readerTimeout
            }
        }
        // What goes well is not thrown away.
        #expect(try held.run { $0.uses } == 0)
    }

    @Test func cancellationWorksUntilTaken() {
        let (ended, late) = (CancellationTokenTests.Count(), CancellationTokenTests.Count())
        let token = CancellationToken()
        let held = ExclusiveLink(Link(), token) { ended.add() }
        let taken = ExclusiveLink(Link(), token) { late.add() }
        _ = taken.take()
        token.cancel()
        #expect(ended.value == 1)
        #expect(late.value == 0)
        #expect(uses(of: held.take()) == 0)
    }

    @Test func endsAHeldLinkImmediatelyAfterCancellation() {
        let ended = CancellationTokenTests.Count()
        let token = CancellationToken()
        token.cancel()
        _ = ExclusiveLink(Link(), token) { ended.add() }
        #expect(ended.value == 1)
    }

    @Test func reportsCancellationBeforeOtherFailures() {
        let token = CancellationToken()
        #expect(throws: TransportError.noAnswer) {
            try token.run { () throws(TransportError) in throw .noAnswer }
        }
        token.cancel()
        #expect(throws: TransportError.cancelled) {
            try token.run { () throws(TransportError) in throw .noAnswer }
        }
        #expect(throws: Never.self) { try token.run { () throws(TransportError) in 1 } }
    }
}
