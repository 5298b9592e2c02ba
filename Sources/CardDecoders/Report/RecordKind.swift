// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What a history record tells of; the raw values are those of `kazasu.history/1`.
public enum RecordKind: String, Hashable, Sendable, CaseIterable {
    /// A ride by rail.
    case rail
    /// A ride by bus or tram.
    case bus
    /// A payment for goods, or its cancelling.
    case purchase
    /// Money put on.
    case charge
    /// The card was issued.
    case issue
    /// A paper ticket was bought.
    case ticket
    /// A fare was adjusted.
    case adjustment
    /// Points or a bonus were turned into money.
    case point
    /// A code that no source names.
    case other

    /// The name for people.
    public var name: LocalizedText {
        switch self {
        case .rail: LocalizedText("rail", "鉄道")
        case .bus: LocalizedText("bus", "バス")
        case .purchase: LocalizedText("purchase", "物販")
        case .charge: LocalizedText("charge", "チャージ")
        case .issue: LocalizedText("issue", "発行")
        case .ticket: LocalizedText("ticket", "きっぷ")
        case .adjustment: LocalizedText("adjustment", "精算")
        case .point: LocalizedText("point", "ポイント")
        case .other: LocalizedText("other", "その他")
        }
    }
}
