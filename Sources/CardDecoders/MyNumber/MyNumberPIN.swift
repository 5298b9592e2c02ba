// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A PIN of a My Number card; the raw values are its words in `kazasu.mynumber/1`.
///
/// Sources: jpki/myna and AokiApp/jsapdu for files and forms.
public enum MyNumberPIN: String, Hashable, Sendable, CaseIterable {
    /// 利用者証明用電子証明書の暗証番号: four digits.
    case authentication
    /// 署名用電子証明書の暗証番号: 6 to 16 letters and digits.
    case signature
    /// 券面事項入力補助用の暗証番号: four digits.
    case cardInput
    /// 照合番号A of 券面事項入力補助: the personal number.
    case cardInputNumberA
    /// 照合番号B of 券面事項入力補助: birth, expiry and security code.
    case cardInputNumberB
    /// 照合番号A of 券面.
    case cardSurfaceNumberA
    /// 照合番号B of 券面.
    case cardSurfaceNumberB
    /// 生年月日 of 券面: checks an age.
    case cardSurfaceBirth

    /// The application it belongs to.
    public var application: MyNumberApplication {
        switch self {
        case .authentication, .signature: .jpki
        case .cardInput, .cardInputNumberA, .cardInputNumberB: .cardInput
        case .cardSurfaceNumberA, .cardSurfaceNumberB, .cardSurfaceBirth: .cardSurface
        }
    }

    /// Its file.
    public var file: FileIdentifier { FileIdentifier(rawValue: number) }

    private var number: UInt16 {
        switch self {
        case .authentication: 0x0018
        case .signature: 0x001B
        case .cardInput: 0x0011
        case .cardInputNumberA: 0x0014
        case .cardInputNumberB: 0x0015
        case .cardSurfaceNumberA: 0x0013
        case .cardSurfaceNumberB: 0x0012
        case .cardSurfaceBirth: 0x0011
        }
    }

    /// The name for people.
    public var name: LocalizedText {
        switch self {
        case .authentication: LocalizedText("User authentication PIN", "利用者証明用電子証明書の暗証番号")
        case .signature: LocalizedText("Digital signature password", "署名用電子証明書の暗証番号")
        case .cardInput: LocalizedText("Card information input PIN", "券面事項入力補助用の暗証番号")
        case .cardInputNumberA: LocalizedText("Check number A (card information input)", "照合番号A（券面事項入力補助）")
        case .cardInputNumberB: LocalizedText("Check number B (card information input)", "照合番号B（券面事項入力補助）")
        case .cardSurfaceNumberA: LocalizedText("Check number A (card surface)", "照合番号A（券面）")
        case .cardSurfaceNumberB: LocalizedText("Check number B (card surface)", "照合番号B（券面）")
        case .cardSurfaceBirth: LocalizedText("Birth date check (card surface)", "生年月日（券面）")
        }
    }
}
