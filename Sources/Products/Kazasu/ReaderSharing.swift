// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// Programs that use the readers of a ``ReaderWatch`` between its presence checks and searches, such as the clients of a server.
package protocol ReaderSharing: Sendable {
    /// Somebody reports the cards of a reader, connected or not, until ``endsWatching(_:)``.
    func beginsWatching(_ id: String)
    func endsWatching(_ id: String)

    /// Makes the watch the host of a reader, once its present user has closed it.
    ///
    /// - Returns: `nil` if the task was cancelled before.
    func guests(of id: String) async -> (any ReaderGuests)?
}

/// The programs that share one reader, as their host sees them: the watch that has opened it.
package protocol ReaderGuests: Sendable {
    /// The reader was opened; drivers may call it by another ID.
    func didOpen(_ device: ReaderInformation)
    func didClose()

    // On the reader's thread.

    /// Gives the reader to the next program, if any wants it now.
    ///
    /// - Parameters:
    ///   - device: cancels the reader for good.
    ///   - hasCard: whether a card is known to be there.
    ///   - beat: called before each exchange.
    func offer(
        _ reader: any Reader, _ device: CancellationToken, hasCard: Bool, beat: @escaping () -> Void
    ) -> ReaderOffer

    /// Searches for cards until a program wants the reader.
    ///
    /// - Parameter body: searches with the reader that it gets, and sleeps as it is told; learns whether a program waits for a card.
    /// - Throws: ``KazasuError/noCard`` also if a program wants the reader.
    func search(
        on reader: CardReader,
        _ body: (
            _ reader: CardReader, _ isAwaited: Bool, _ pause: @escaping @Sendable (Duration) -> Void
        ) throws(KazasuError) -> [Card]
    ) throws(KazasuError) -> [Card]

    /// Waits, until a program wants the reader.
    func pause(_ time: Duration, hasCard: Bool)

    /// The reader does something that takes at most so long.
    func expect(within time: Duration)

    /// A card has come, or may have: programs that found none try again.
    func cardArrived()

    // From any thread.

    /// Whether the reader was cancelled to end a program's turn; asks once.
    func wasAborted() -> Bool

    /// Gives the reader to nobody else, since it is about to be closed, and waits until the running program is finished.
    ///
    /// - Parameter limit: how long to wait; a driver may hang.
    func leave(within limit: Duration) async

    /// The reader is closed.
    func end()
}

/// What came of offering a reader to programs.
package enum ReaderOffer {
    /// Nobody wants it now.
    case declined
    case used
    /// The reader failed, and must be opened again.
    case failed(TransportError)
}
