// SPDX-License-Identifier: Apache-2.0

package import ReaderCore
internal import Synchronization

/// A reader with a dedicated thread, for code that must not block; it runs one piece of work at a time.
///
/// Cancelling a task that waits here ends the work immediately and cancels the reader permanently: open it again for
/// more work.
public final class AsyncCardReader: Sendable {
    private let reader: AsyncReader
    private let cancellation: CancellationToken

    private init(_ reader: AsyncReader, _ cancellation: CancellationToken) {
        self.reader = reader
        self.cancellation = cancellation
    }

    /// How long opening a reader may take: libnfc and a PaSoRi that must be reset need up to a few seconds.
    package static let opening = Duration.seconds(15)
    /// So many threads of one reader may hang in its driver; then it is not opened again until one of them returns.
    private static let mostHanging = 2

    /// The threads that were abandoned in opening and hang there, by reader.
    private static let hanging = Mutex<[String: Int]>([:])

    /// Opens a reader of the program's own on a thread of its own.
    ///
    /// A driver that does not return within 15 seconds is abandoned, and the reader counts as busy.
    ///
    /// - Parameters:
    ///   - id: its name in errors; at most two threads of readers with the same name may hang.
    ///   - body: opens the reader, on its thread, and gives it this token, by which its work is cancelled.
    /// - Throws: what `body` throws; ``KazasuError/cancelled``.
    public static func open(
        as id: String, _ body: @escaping @Sendable (CancellationToken) throws(KazasuError) -> any Reader
    ) async throws(KazasuError) -> AsyncCardReader {
        try await open(id, within: opening, body)
    }

    /// Opens a reader on its thread.
    ///
    /// - Parameters:
    ///   - id: its ID, to count the threads that hang.
    ///   - limit: after this time, the driver is abandoned.
    ///   - grace: how long it may take to stop once the task is cancelled.
    package static func open(
        _ id: String = "", within limit: Duration = opening, grace: Duration = AsyncReader.grace,
        _ body: @escaping @Sendable (CancellationToken) throws(KazasuError) -> any Reader
    ) async throws(KazasuError) -> AsyncCardReader {
        guard hanging.withLock({ $0[id, default: 0] < mostHanging }) else { throw .reader(.hanging, id: id) }
        let cancellation = CancellationToken()
        let reader: AsyncReader
        do throws(TransportError) {
            reader = try AsyncReader(cancellation: cancellation)
        } catch {
            throw .reader(error, id: "")
        }
        let isOpen = try await reader.open(within: limit, grace: grace, late: { count(-1, hanging: id) }) {
            () throws(KazasuError) in try body(cancellation)
        }
        guard isOpen == nil else { return AsyncCardReader(reader, cancellation) }
        count(1, hanging: id)
        throw Task.isCancelled ? .cancelled : .reader(.hanging, id: id)
    }

    /// Counts a thread that was abandoned, or that has returned since, in either order.
    private static func count(_ change: Int, hanging id: String) {
        hanging.withLock { hanging in
            let count = hanging[id, default: 0] + change
            hanging[id] = count == 0 ? nil : count
        }
    }

    /// Waits for a card, as ``CardReader/waitForCard(_:timeout:)`` does.
    ///
    /// - Returns: the card, selected; it belongs to this reader's thread.
    public func waitForCard(
        _ query: CardQuery = .any, timeout: Duration? = .seconds(10)
    ) async throws(KazasuError) -> AsyncCard {
        let found = try await run { reader throws(KazasuError) in
            try reader.waitForCard(query, timeout: timeout).found
        }
        return AsyncCard(reader: self, found: found)
    }

    /// Runs a closure on the reader's thread.
    ///
    /// - Parameter body: receives the reader, which must not escape it.
    /// - Throws: whatever `body` throws.
    public func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (CardReader) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let cancellation = cancellation
        return try await reader.run { device throws(Failure) in
            try body(CardReader(borrowing: device, cancellation: cancellation))
        }
    }

    /// The reader's own name; `nil` once it is closed.
    package var product: String? { get async { await reader.information?.name } }

    /// Switches the field off and releases the device, for which a driver gets three seconds. Further work fails.
    public func close() async { await close(within: AsyncReader.grace) }

    /// Closes it; a driver that takes longer is abandoned.
    package func close(within limit: Duration) async { await reader.close(within: limit) }
}
