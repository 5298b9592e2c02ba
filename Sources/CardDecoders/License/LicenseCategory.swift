// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A category of vehicles on a licence.
public struct LicenseCategory: Hashable, Sendable {
    /// The word for scripts, as in `medium`.
    public let id: String
    /// The name for people.
    public let name: LocalizedText
    /// Whether it is one of the three groups (二・小・原, 他, 二種) that only say when the first of them was acquired.
    public let isGroup: Bool
    /// Whether it is held; `nil` when the card's value is not known.
    public let isHeld: Bool?
    /// Since when; `nil` when it is not held, and for categories on a My Number card.
    public let since: LicenseDate?

    init?(_ field: LicenseField) {
        guard let category = field.category else { return nil }
        id = category
        name = field.name
        isGroup = ["twoWheelSmallMoped", "other", "secondClass"].contains(category)
        switch field.value {
        case .date(.none), .absent, .flag(false): (isHeld, since) = (false, nil)
        case .date(.invalid(let bytes)): (isHeld, since) = (nil, .invalid(bytes))
        case .date(let date): (isHeld, since) = (true, date)
        case .flag(true): (isHeld, since) = (true, nil)
        default: (isHeld, since) = (nil, nil)
        }
    }
}
