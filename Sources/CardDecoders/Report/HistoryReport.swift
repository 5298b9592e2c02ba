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
    /// What the records' amounts are counted in.
    public var currency: Currency
    /// The records, newest first.
    public var records: [HistoryRecord]

    /// A report of these records.
    public init(card: String, name: LocalizedText, currency: Currency = .yen, records: [HistoryRecord]) {
        self.card = card
        self.name = name
        self.currency = currency
        self.records = records
    }
}
