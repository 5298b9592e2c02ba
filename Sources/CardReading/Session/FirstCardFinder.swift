// SPDX-License-Identifier: Apache-2.0

internal import CardModel
public import NFCTransport

/// Waits for a card of any of several kinds.
public struct FirstCardFinder {
    private let search: CardSearch

    /// A finder on an open reader.
    public init(reader: any Reader, cancellation: CancellationToken = CancellationToken()) {
        self.init(reader: reader, cancellation: cancellation, clock: .system)
    }

    package init(reader: any Reader, cancellation: CancellationToken = CancellationToken(), clock: SearchClock) {
        search = CardSearch(reader: reader, cancellation: cancellation, clock: clock)
    }

    /// Looks for each in the caller's order, round by round, until a card answers; the first that it answers wins, at
    /// whatever moment it comes.
    ///
    /// - Parameters:
    ///   - requests: what to look for; what the reader cannot look for is left out.
    ///   - timeout: how long to go on; zero for one round, `nil` for ever.
    /// - Returns: the first card, or `nil` when none came in time.
    /// - Throws: ``ReadingError`` when the reader failed, cannot look for any of them, or work was cancelled.
    public func find(_ requests: [ActivationRequest], timeout: Duration?) throws(ReadingError) -> FoundCard? {
        let possible = requests.filter { search.reader.information.technologies.contains($0.technology) }
        guard !possible.isEmpty else { throw .reader(.unsupported(detail: "cards of this kind")) }
        return try search.find(possible, within: timeout) { requests throws(ReadingError) in
            try search.firstAnswer(to: requests)
        }
    }
}

extension ActivationRequest {
    /// What to look for when a tag is wanted: type A first, as most tags are, then the systems of FeliCa tags, type B,
    /// and any FeliCa card, to tell that it is no tag.
    public static let tags: [ActivationRequest] = [
        .typeA(), .felica(.ndef, requestCode: 1), .felica(.lite, requestCode: 1), .typeB(),
        .felica(.any, requestCode: 1),
    ]
}
