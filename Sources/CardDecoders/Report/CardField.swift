// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One more thing that a card says of itself, beside its balances and its history.
public struct CardField: Hashable, Sendable {
    /// The name for scripts, as in `number`.
    public let key: String
    /// The name for people.
    public let name: LocalizedText
    /// What the card says, or a word for scripts.
    public let value: String
    /// What to show people instead of the word, where it is one.
    public let label: LocalizedText?
    /// Whether it tells whose card it is, so that `--redact` must mask it.
    public let isPersonal: Bool

    /// A field of a card.
    public init(key: String, name: LocalizedText, value: String, label: LocalizedText? = nil, isPersonal: Bool) {
        self.key = key
        self.name = name
        self.value = value
        self.label = label
        self.isPersonal = isPersonal
    }

    /// A number of points.
    static func points(_ number: Int) -> CardField {
        CardField(key: "points", name: LocalizedText("Points", "ポイント"), value: String(number), isPersonal: false)
    }
}
