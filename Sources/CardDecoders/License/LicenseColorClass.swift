// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// 免許証の色区分: how long the licence is valid, which the colour of its band shows.
///
/// Source: the three texts that readers of real cards name (TRETJapanNFCReader), and the colours of the bands.
public enum LicenseColorClass: String, Hashable, Sendable, CaseIterable {
    /// 優良: no accident and no offence for five years; gold.
    case excellent = "優良"
    /// 新規: the first licence; green.
    case new = "新規"
    /// その他: every other licence; blue.
    case other = "その他"

    /// The class that a text of the card stands for, however it is spaced (`優　良`); `nil` for any other text.
    public init?(_ text: JISText) {
        self.init(rawValue: text.unspaced)
    }

    /// The name for people.
    public var name: LocalizedText {
        switch self {
        case .excellent: LocalizedText("excellent driver (gold)", rawValue)
        case .new: LocalizedText("new driver (green)", rawValue)
        case .other: LocalizedText("other driver (blue)", rawValue)
        }
    }
}
