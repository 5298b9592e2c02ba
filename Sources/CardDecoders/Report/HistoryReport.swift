// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What was done with a card: the document `kazasu.history/1`.
public struct HistoryReport: Hashable, Sendable {
    /// The value of the document's `schema` member.
    public static let schema = "kazasu.history/1"

    /// The decoder's id, as in `transit`.
    public var card: String
    /// The card's name.
    public var name: LocalizedText
    /// The records, newest first.
    public var records: [HistoryRecord]

    /// A report of these records.
    public init(card: String, name: LocalizedText, records: [HistoryRecord]) {
        self.card = card
        self.name = name
        self.records = records
    }
}
