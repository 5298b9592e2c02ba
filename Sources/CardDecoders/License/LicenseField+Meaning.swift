// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension LicenseField {
    /// What the text of the card means, for people who do not read it: of the colour class and of common conditions.
    /// `nil` for every other item, and for texts that no table has.
    public var meaning: LocalizedText? {
        switch (item, value) {
        case (.colorClass, .text(let text)): LicenseColorClass(text)?.name
        case (.conditions, .text(let text)): DecoderTables.licenseConditions[text]
        case (.newCondition, .entry(let entry)), (.conditionLifted, .entry(let entry)):
            DecoderTables.licenseConditions[entry.text]
        default: nil
        }
    }
}
