// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A file of a My Number card that Kazasu reads; the raw values are its words in `kazasu.mynumber/1`.
///
/// The personal number itself (file 0001 of 券面事項入力補助) is not among them: the law allows collecting it for few
/// purposes only.
public enum MyNumberFile: String, Hashable, Sendable, CaseIterable {
    /// Which kind of token it is.
    case token
    /// 利用者証明用電子証明書
    case authenticationCertificate
    /// 利用者証明用認証局の証明書
    case authenticationCA
    /// 署名用電子証明書: its password opens it; it holds name and address, and Kazasu does not ask for the password.
    case signatureCertificate
    /// 署名用認証局の証明書
    case signatureCA
    /// 券面事項入力補助: name, address, birth date, sex.
    case attributes
    /// 券面事項入力補助: information on the application.
    case cardInputInformation

    /// The application it belongs to.
    public var application: MyNumberApplication {
        switch self {
        case .attributes, .cardInputInformation: .cardInput
        default: .jpki
        }
    }

    /// Its identifier.
    public var id: FileIdentifier { FileIdentifier(rawValue: number) }

    private var number: UInt16 {
        switch self {
        case .token: 0x0006
        case .authenticationCertificate: 0x000A
        case .authenticationCA: 0x000B
        case .signatureCertificate: 0x0001
        case .signatureCA: 0x0002
        case .attributes: 0x0002
        case .cardInputInformation: 0x0005
        }
    }

    /// The PIN that opens it; `nil` for one that is open.
    public var pin: MyNumberPIN? {
        switch self {
        case .attributes: .cardInput
        case .signatureCertificate: .signature
        default: nil
        }
    }

    /// Whether it tells whose card it is; the rest is the same on every card.
    public var isPersonal: Bool {
        switch self {
        case .authenticationCertificate, .signatureCertificate, .attributes: true
        case .token, .authenticationCA, .signatureCA, .cardInputInformation: false
        }
    }

    /// Whether it is a certificate.
    public var isCertificate: Bool {
        switch self {
        case .authenticationCertificate, .authenticationCA, .signatureCertificate, .signatureCA: true
        default: false
        }
    }

    /// The most bytes that are read of it; what holds a data object is read as far as that goes.
    public var longest: Int {
        switch self {
        case .token: 32
        case .attributes: 4096
        case .cardInputInformation: 1024
        default: 16_384
        }
    }

    /// The name for people.
    public var name: LocalizedText {
        switch self {
        case .token: LocalizedText("Token", "トークン情報")
        case .authenticationCertificate: LocalizedText("User authentication certificate", "利用者証明用電子証明書")
        case .authenticationCA: LocalizedText("User authentication CA certificate", "利用者証明用認証局の証明書")
        case .signatureCertificate: LocalizedText("Digital signature certificate", "署名用電子証明書")
        case .signatureCA: LocalizedText("Digital signature CA certificate", "署名用認証局の証明書")
        case .attributes: LocalizedText("Name, address, birth date, sex", "氏名・住所・生年月日・性別")
        case .cardInputInformation: LocalizedText("Card information input application", "券面事項入力補助 AP 情報")
        }
    }
}
