// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import CardReading
internal import NFCTransport

/// A card that was put on a reader, or taken off.
public struct Tap: Hashable, Sendable {
    /// What happened to the card.
    public enum Kind: Hashable, Sendable {
        case on
        case off
    }

    /// On or off.
    public let kind: Kind
    /// The card. A UID may be random: then it differs at each tap and identifies nobody.
    public let card: CardIdentity
    /// The reader's ID.
    public let reader: String
}

/// Cards as they are put on a reader and taken off.
///
/// ```swift
/// for try await tap in taps() where tap.kind == .on { print(tap.card) }
/// ```
///
/// The reader is opened by the first ``Iterator/next(isolation:)`` and closed when the iterator is gone or its task is
/// cancelled. A card is looked at only while `next` waits, so a slow loop misses cards that come and go meanwhile.
public struct Taps: AsyncSequence, Sendable {
    /// A tap.
    public typealias Element = Tap
    /// Why the reader gives no more taps.
    public typealias Failure = KazasuError

    let id: String?
    let query: CardQuery

    /// Begins to watch; the reader is opened by the first wait.
    public func makeAsyncIterator() -> Iterator { Iterator(id: id, query: query) }

    /// Waits for one tap after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let id: String?
        let query: CardQuery
        private var reader: AsyncCardReader?
        private var present: FoundCard?

        init(id: String?, query: CardQuery) {
            self.id = id
            self.query = query
        }

        /// The next tap; never `nil`.
        ///
        /// - Throws: ``KazasuError`` when the reader cannot be opened or fails; ``KazasuError/cancelled``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(KazasuError) -> Tap? {
            let reader: AsyncCardReader
            if let opened = self.reader {
                reader = opened
            } else {
                reader = try await AsyncCardReader.open(id)
                self.reader = reader
            }
            let (query, last) = (query, present)
            let (found, tap) = try await reader.run { reader throws(KazasuError) -> (FoundCard?, Tap) in
                let id = reader.information.id
                if let last { return (nil, Tap(kind: .off, card: try reader.waitForRemoval(of: last), reader: id)) }
                let card = try reader.waitForCard(query, timeout: nil)
                return (card.found, Tap(kind: .on, card: card.identity, reader: id))
            }
            present = found
            return tap
        }
    }
}

/// The cards that are put on a reader and taken off.
///
/// - Parameters:
///   - id: as in ``openReader(_:)``.
///   - query: which cards; any by default.
public func taps(on id: String? = nil, _ query: CardQuery = .any) -> Taps {
    Taps(id: id, query: query)
}

extension CardReader {
    /// How often a card must fail to answer before it is gone: one answer may be lost in the air.
    private static let misses = 3
    private static let pause = Duration.milliseconds(100)

    /// Waits until a card is gone, or another one is in its place.
    ///
    /// - Returns: the identity of the card that is gone.
    fileprivate func waitForRemoval(of card: FoundCard) throws(KazasuError) -> CardIdentity {
        var missed = 0
        while missed < Self.misses {
            SearchClock.system.pause(Self.pause)
            if cancellation.isCancelled { throw .cancelled }
            do throws(TransportError) {
                let answer = try device.activate(card.request)
                missed = answer.map { $0.isLikely(card.picc) } == true ? 0 : missed + 1
            } catch {
                if error == .cancelled { throw .cancelled }
                if error.isReaderError { throw .reader(error, id: information.id) }
                missed += 1
            }
        }
        return card.picc.identity
    }
}

extension PICC {
    /// Whether it may be the same card: by its number, where that is not chosen at random each time.
    fileprivate func isLikely(_ other: PICC) -> Bool {
        switch (self, other) {
        case (.felica(let one), .felica(let two)): one.idm == two.idm
        case (.typeA(let one), .typeA(let two)):
            one.uid == two.uid || one.uid.count == 4 && one.uid.first == 0x08 && two.uid.first == 0x08
        case (.typeB, .typeB): true
        default: false
        }
    }
}
