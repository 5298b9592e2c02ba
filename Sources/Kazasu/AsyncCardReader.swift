// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

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

    /// Opens a reader; `id` and errors are those of ``openReader(_:)``.
    public static func open(_ id: String? = nil) async throws(KazasuError) -> AsyncCardReader {
        try await open { cancellation throws(KazasuError) in try ReaderRegistry.openReader(id, cancellation) }
    }

    /// Opens a reader on its thread.
    static func open(
        _ body: @escaping @Sendable (CancellationToken) throws(KazasuError) -> any Reader
    ) async throws(KazasuError) -> AsyncCardReader {
        let cancellation = CancellationToken()
        let reader: AsyncReader
        do throws(TransportError) {
            reader = try AsyncReader(cancellation: cancellation)
        } catch {
            throw .reader(error, id: "")
        }
        _ = try await reader.open { () throws(KazasuError) in try body(cancellation) }
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
    var product: String? { get async { await reader.information?.name } }

    /// Switches the field off and releases the device. Further work fails.
    public func close() async { await reader.close() }
}
