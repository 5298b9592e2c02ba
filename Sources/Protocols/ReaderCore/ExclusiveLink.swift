// SPDX-License-Identifier: Apache-2.0

/// The link that a reader holds from opening to closing, and that a cancellation can reach in between.
///
/// For drivers: the link cannot be copied, so that nothing uses it after it was closed.
package final class ExclusiveLink<Link: ~Copyable> {
    private let cancellation: CancellationToken
    private var handler: Int?
    private var link: Link?

    /// Holds a link.
    ///
    /// - Parameter onCancel: ends what the link is waiting for; it runs on the cancelling thread, and never after
    ///   ``take()``.
    package init(
        _ link: consuming Link, _ cancellation: CancellationToken, onCancel: @escaping @Sendable () -> Void
    ) {
        self.link = consume link
        self.cancellation = cancellation
        handler = cancellation.onCancel(onCancel)
    }

    /// Runs a closure with the link; any failure after a cancellation is reported as cancelled.
    ///
    /// - Throws: whatever `body` throws, ``TransportError/cancelled``, or ``TransportError/closed`` if the link was
    ///   taken.
    package func run<Result>(
        _ body: (inout Link) throws(TransportError) -> Result
    ) throws(TransportError) -> Result {
        guard var link = link.take() else { throw .closed }
        do throws(TransportError) {
            let result = try body(&link)
            self.link = consume link
            return result
        } catch {
            self.link = consume link
            try cancellation.check()
            throw error
        }
    }

    /// Takes the link away to be closed; `nil` if it was already taken.
    package func take() -> Link? {
        if let handler { cancellation.remove(handler) }
        handler = nil
        return link.take()
    }
}
