// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Synchronization
import Testing

@Suite("Readers that are plugged in and out")
struct DeviceTrackerTests {
    private static func reader(_ id: String, _ state: ReaderListing.State = .ready) -> ReaderListing {
        ReaderListing(id: id, state: state)
    }

    private static let (one, two) = (reader("one"), reader("two"))
    private static let busy = reader("one", .unavailable(.busy, detail: .init(.heldByProgram)))

    static let cases: [(old: [ReaderListing], new: [ReaderListing], changes: [DeviceChange<ReaderListing>])] = [
        ([], [], []), ([one], [one], []), ([], [one, two], [.arrived(one), .arrived(two)]),
        ([one, two], [], [.left(one), .left(two)]), ([one], [two], [.left(one), .arrived(two)]),
        ([one], [busy, two], [.changed(busy), .arrived(two)]), ([one, two], [two, one], []),
        // An ID is reported once, however often a driver lists it.
        ([], [one, one, busy], [.arrived(one)]), ([one, busy], [one], []),
    ]

    @Test(arguments: cases) func namesTheDifference(
        _ old: [ReaderListing], _ new: [ReaderListing], _ changes: [DeviceChange<ReaderListing>]
    ) {
        #expect(DeviceChange.between(old, new) == changes)
    }

    @Test func looksAtTheStartAndWhenNotified() throws {
        var listings = [[Self.one], [Self.one, Self.two], [Self.two]][...]
        let notices = ScriptedNotices([false, true, false, true])
        let watch = DeviceTracker(notices, interval: .seconds(7)) { listings.popFirst() ?? [] }
        #expect(try watch.next() == [.arrived(Self.one)])
        #expect(notices.waits.isEmpty)
        #expect(try watch.next() == [])
        #expect(listings.count == 2)
        #expect(try watch.next() == [.arrived(Self.two)])
        #expect(watch.present == [Self.one, Self.two])
        #expect(try watch.next() == [])
        #expect(try watch.next() == [.left(Self.one)])
        #expect(throws: TransportError.cancelled) { try watch.next() }
        #expect(notices.waits == [Duration](repeating: .seconds(7), count: 5))
    }

    /// The list grows by one reader each time that it is asked for.
    private final class Growing: Sendable {
        let count = Mutex(0)

        func list() -> [ReaderListing] {
            count.withLock { count in
                count += 1
                return (0..<count).map { DeviceTrackerTests.reader("\($0)") }
            }
        }
    }

    @Test func withoutBlocking() async throws {
        let readers = Growing()
        let watch = try AsyncDeviceTracker<ReaderListing>({ _ in ScriptedNotices([false, false, true]) }) {
            readers.list()
        }
        #expect(try await watch.next() == [.arrived(Self.reader("0"))])
        #expect(try await watch.next() == [.arrived(Self.reader("1"))])
        await #expect(throws: TransportError.cancelled) { try await watch.next() }
    }

    @Test func cancelledTaskEndsTheWatch() async throws {
        let watch = try AsyncDeviceTracker<ReaderListing>({ UntilCancelled($0) }) { [] }
        #expect(try await watch.next() == [])
        let task = Task { try await watch.next() }
        task.cancel()
        await #expect(throws: TransportError.cancelled) { try await task.value }
        await #expect(throws: TransportError.cancelled) { try await watch.next() }
    }

    /// Reports nothing.
    private final class UntilCancelled: DeviceNotices {
        let cancellation: CancellationToken

        init(_ cancellation: CancellationToken) { self.cancellation = cancellation }

        func wait(within time: Duration) throws(TransportError) -> Bool {
            try cancellation.check()
            return false
        }
    }
}
