// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

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

    /// Opens a reader of the program's own on a thread of its own.
    ///
    /// A driver that does not return within 15 seconds is abandoned, and the reader counts as busy. So is one that takes ten
    /// seconds longer for an exchange than it was told to.
    ///
    /// - Parameters:
    ///   - id: its name in errors; at most two threads of readers with the same name may hang.
    ///   - body: opens the reader, on its thread, and gives it this token, by which its work is cancelled.
    /// - Throws: what `body` throws; ``KazasuError/cancelled``.
    public static func open(
        as id: String, _ body: @escaping @Sendable (CancellationToken) throws(KazasuError) -> any Reader
    ) async throws(KazasuError) -> AsyncCardReader {
        try await open(id, BoundedReader.Limits(), body)
    }

    /// Opens a reader on its thread.
    ///
    /// - Parameters:
    ///   - id: its ID, to count the threads that hang.
    ///   - limits: how long its calls may take.
    package static func open(
        _ id: String = "", _ limits: BoundedReader.Limits = BoundedReader.Limits(),
        _ body: @escaping @Sendable (CancellationToken) throws(KazasuError) -> any Reader
    ) async throws(KazasuError) -> AsyncCardReader {
        let cancellation = CancellationToken()
        let reader: AsyncReader
        do throws(TransportError) {
            reader = try AsyncReader(cancellation: cancellation)
        } catch {
            throw .reader(error, id: "")
        }
        _ = try await reader.open { () throws(KazasuError) in
            try BoundedReader.open(id, limits, cancellation, { KazasuError($0, of: id) }, body)
        }
        return AsyncCardReader(reader, cancellation)
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

    /// Switches the field off and releases the device, for which a driver gets five seconds. Further work fails.
    public func close() async { await reader.close() }
}
