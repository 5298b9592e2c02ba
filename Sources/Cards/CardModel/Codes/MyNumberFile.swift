// SPDX-License-Identifier: Apache-2.0

/// A file of a My Number card that Kazasu reads; the raw values are its identifiers in `kazasu.mynumber/1`.
///
/// The personal number itself (file 0001 of 券面事項入力補助) is not included: the law allows collecting it for few purposes
/// only.
@nonexhaustive
public enum MyNumberFile: String, Hashable, Sendable, CaseIterable {
    /// The kind of token.
    case token
    /// 利用者証明用電子証明書
    case authenticationCertificate
    /// 利用者証明用認証局の証明書
    case authenticationCA
    /// 署名用電子証明書: unlocked by its password; it contains name and address, and Kazasu does not ask for the password.
    case signatureCertificate
    /// 署名用認証局の証明書
    case signatureCA
    /// 券面事項入力補助: name, address, birth date, sex.
    case attributes
    /// 券面事項入力補助: information on the application.
    case cardInputInformation
    /// 券面事項入力補助: the certificate of the key that signed the four items.
    case cardInputCertificate
    /// 券面: the certificate of the key that signed the face.
    case faceCertificate
    /// 券面: birth date, sex, expiry, photo, and name and address as pictures.
    case face

    /// 券面事項入力補助 0003: digests of the personal number and of the four items, signed.
    ///
    /// It is not one of the files that are kept: with its first digest or its signature, the personal number is found by trying all
    /// numbers.
    package static let attributesSignature = FileIdentifier(rawValue: 0x0003)

    /// The application it belongs to.
    package var application: MyNumberApplication { facts.application }

    package var id: FileIdentifier { FileIdentifier(rawValue: facts.id) }

    /// The PIN that unlocks it; `nil` if it needs none.
    public var pin: MyNumberPIN? { facts.pin }

    /// Whether it is read only to check a signature, with what it signs.
    package var isSignersCertificate: Bool { self == .cardInputCertificate || self == .faceCertificate }

    /// Whether it identifies the holder; other files are the same on every card.
    public var isPersonal: Bool { facts.isPersonal }

    /// The maximum number of bytes to read; a file that contains a data object is read to the end of that object.
    package var longest: Int { facts.longest }

    private var facts: (application: MyNumberApplication, id: UInt16, pin: MyNumberPIN?, isPersonal: Bool, longest: Int)
    {
        switch self {
        case .token: (.jpki, 0x0006, nil, false, 32)
        case .authenticationCertificate: (.jpki, 0x000A, nil, true, 16_384)
        case .authenticationCA: (.jpki, 0x000B, nil, false, 16_384)
        case .signatureCertificate: (.jpki, 0x0001, .signature, true, 16_384)
        case .signatureCA: (.jpki, 0x0002, nil, false, 16_384)
        case .attributes: (.cardInput, 0x0002, .cardInput, true, 4096)
        case .cardInputInformation: (.cardInput, 0x0005, nil, false, 1024)
        // Whether many cards share these keys is not known.
        case .cardInputCertificate: (.cardInput, 0x0004, nil, true, 1024)
        case .faceCertificate: (.cardSurface, 0x0004, nil, true, 1024)
        case .face: (.cardSurface, 0x0002, .cardSurfaceNumberB, true, 32_768)
        }
    }

    /// The display name.
    public var name: LocalizedText {
        switch self {
        case .token: LocalizedText("Token", "トークン情報")
        case .authenticationCertificate: LocalizedText("User authentication certificate", "利用者証明用電子証明書")
        case .authenticationCA: LocalizedText("User authentication CA certificate", "利用者証明用認証局の証明書")
        case .signatureCertificate: LocalizedText("Digital signature certificate", "署名用電子証明書")
        case .signatureCA: LocalizedText("Digital signature CA certificate", "署名用認証局の証明書")
        case .attributes: LocalizedText("Name, address, birth date, sex", "氏名・住所・生年月日・性別")
        case .cardInputInformation: LocalizedText("Card information input application", "券面事項入力補助 AP 情報")
        case .cardInputCertificate:
            LocalizedText("Certificate of the key for the four items", "券面事項入力補助 AP の証明書")
        case .faceCertificate: LocalizedText("Certificate of the key for the card's face", "券面 AP の証明書")
        case .face: LocalizedText("Face of the card", "券面の表面の情報")
        }
    }
}

/// An application of a My Number card; the raw values are its identifiers in `kazasu.mynumber/1`.
///
/// Sources: jpki/myna, OpenSC, AokiApp/jsapdu.
package enum MyNumberApplication: String, Hashable, Sendable, CaseIterable {
    /// 公的個人認証 AP: certificates.
    case jpki
    /// 券面事項入力補助 AP: the holder's data as text.
    case cardInput
    /// 券面 AP: the holder's data as images.
    case cardSurface

    package var aid: AID? {
        switch self {
        case .jpki: AID("d392f000260100000001")
        case .cardInput: AID("d3921000310001010408")
        case .cardSurface: AID("d3921000310001010402")
        }
    }
}

/// A PIN of a My Number card; the raw values are its identifiers in `kazasu.mynumber/1`.
///
/// Sources: jpki/myna and AokiApp/jsapdu, for files and formats.
@nonexhaustive
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
    /// 生年月日 of 券面: for checking an age.
    case cardSurfaceBirth

    /// The application it belongs to.
    package var application: MyNumberApplication { facts.application }

    package var file: FileIdentifier { FileIdentifier(rawValue: facts.file) }

    private var facts: (application: MyNumberApplication, file: UInt16) {
        switch self {
        case .authentication: (.jpki, 0x0018)
        case .signature: (.jpki, 0x001B)
        case .cardInput: (.cardInput, 0x0011)
        case .cardInputNumberA: (.cardInput, 0x0014)
        case .cardInputNumberB: (.cardInput, 0x0015)
        case .cardSurfaceNumberA: (.cardSurface, 0x0013)
        case .cardSurfaceNumberB: (.cardSurface, 0x0012)
        case .cardSurfaceBirth: (.cardSurface, 0x0011)
        }
    }

    /// The display name.
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

/// What the check of the four items of a My Number card against ``MyNumberFile/attributesSignature`` found; that file was dropped.
package enum MyNumberItemsCheck: Hashable, Sendable {
    /// They are signed by the key of the card's certificate. Who issued that is not checked.
    case right
    /// They are not what is signed, or the signature is wrong.
    case wrong
    /// A file does not have the layout that it must have.
    case malformed
    /// The card has no such file.
    case absent
    /// A file could not be read.
    case incomplete
    /// It could not be checked.
    case notChecked
}
