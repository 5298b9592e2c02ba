// SPDX-License-Identifier: Apache-2.0

/// A family of readers that are opened in the same way.
public protocol ReaderDriver: Sendable {
    /// The readers that are plugged in, usable or not.
    func list() -> [ReaderListing]

    /// Opens a reader.
    ///
    /// - Returns: `nil` when the ID is not one of this driver's.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)``.
    func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)?
}
