// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension CardField {
    /// The day the card was issued.
    static func issueDate(_ day: CalendarDate) -> CardField {
        CardField(
            key: "issueDate", name: LocalizedText("Issued", "発行日"), value: day.description, isPersonal: false)
    }

    /// A number that is no secret, such as a counter.
    static func number(_ key: String, _ english: String, _ japanese: String, _ value: some BinaryInteger) -> CardField {
        CardField(key: key, name: LocalizedText(english, japanese), value: String(value), isPersonal: false)
    }

    /// Whether something is so: `yes` or `no`.
    static func flag(_ key: String, _ english: String, _ japanese: String, _ value: Bool) -> CardField {
        CardField(
            key: key, name: LocalizedText(english, japanese), value: value ? "yes" : "no",
            label: value ? LocalizedText("yes", "はい") : LocalizedText("no", "いいえ"), isPersonal: false)
    }

    /// Points in tenths, as in `12.5`.
    static func points(tenths: UInt32) -> CardField {
        CardField(
            key: "points", name: LocalizedText("Points", "ポイント"), value: "\(tenths / 10).\(tenths % 10)",
            isPersonal: false)
    }
}
