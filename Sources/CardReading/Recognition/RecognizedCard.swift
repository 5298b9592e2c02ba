// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One thing that a card is recognised as; a card may be several, as a phone with many applications is.
public struct RecognizedCard: Hashable, Sendable {
    /// What it is, and by what it was recognised.
    public var kind: KnownCard
    /// What else the card said of itself, in its own words: labels, schemes, versions. Never a number of its owner.
    public var details: [Detail]

    /// One thing that a card said.
    public struct Detail: Hashable, Sendable {
        /// The word for it in documents.
        public var key: String
        /// What it is called.
        public var title: LocalizedText
        /// What the card said.
        public var value: String

        init(_ key: String, _ title: LocalizedText, _ value: String) {
            self.key = key
            self.title = title
            self.value = value
        }
    }

    init(_ kind: KnownCard, details: [Detail] = []) {
        self.kind = kind
        self.details = details
    }
}
