// SPDX-License-Identifier: Apache-2.0

public import ReaderCore

/// A reader that the program opens itself, for what watches readers: one of its own, or a simulated field.
public struct ReaderSource: Sendable {
    /// Its ID in taps and errors.
    public let id: String
    package let open: @Sendable (CancellationToken) throws(KazasuError) -> any Reader

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - id: its ID, different from that of every other reader.
    ///   - open: opens the reader, on a thread of its own, and gives it this token, by which its work is cancelled; called
    ///     again after a failure.
    public init(_ id: String, open: @escaping @Sendable (CancellationToken) throws(KazasuError) -> any Reader) {
        (self.id, self.open) = (id, open)
    }
}
