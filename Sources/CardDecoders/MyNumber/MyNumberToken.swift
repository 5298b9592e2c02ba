// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What the token information of JPKI calls the card; the raw values are the texts on it.
///
/// Source: jpki/myna.
public enum MyNumberToken: String, Hashable, Sendable, CaseIterable {
    /// マイナンバーカード
    case myNumberCard = "JPKIAPICCTOKEN2"
    /// 住民基本台帳カード, issued until 2015
    case residentCard = "JPKIAPICCTOKEN"
    /// A smartphone that holds the certificates
    case smartphone = "JPKIAPGPSETOKEN"

    /// The name for people.
    public var name: LocalizedText {
        switch self {
        case .myNumberCard: LocalizedText("My Number card", "マイナンバーカード")
        case .residentCard: LocalizedText("Basic Resident Register card", "住民基本台帳カード")
        case .smartphone: LocalizedText("Smartphone", "スマートフォン")
        }
    }
}
