// SPDX-License-Identifier: Apache-2.0

/// The files of a Japanese driver's license and of the license on a My Number card; the raw values are their names.
///
/// Sources: hmpow/JpDrvLicNfcCommand, TRETJapanNFCReader, the libjeid application, tobari's notes on edition 010.
@nonexhaustive
public enum LicenseFile: String, Hashable, Sendable, CaseIterable {
    /// 共通データ要素
    case commonData = "MF/EF01"
    /// 暗証番号(PIN)設定
    case pinSetting = "MF/EF02"
    /// 記載事項(本籍除く)
    case matters = "DF1/EF01"
    /// 記載事項(本籍)
    case domicile = "DF1/EF02"
    /// 外字
    case externalCharacters = "DF1/EF03"
    /// 記載事項変更等(本籍除く)
    case laterEntries = "DF1/EF04"
    /// 記載事項変更(外字)
    case laterExternalCharacters = "DF1/EF05"
    /// 記載事項変更(本籍)
    case laterDomicile = "DF1/EF06"
    /// 電子署名
    case signature = "DF1/EF07"
    /// 写真
    case photo = "DF2/EF01"
    /// マイナ免許証: whether the PIN is set
    case myNumberPINSetting = "WEF01"
    /// マイナ免許証: all items
    case myNumberMatters = "WEF02"
    /// マイナ免許証: signature
    case myNumberSignature = "WEF03"

    /// License: the text of the license.
    package static let df1 = AID("a0000002310100000000000000000000")
    /// License: the photo.
    package static let df2 = AID("a0000002310200000000000000000000")
    /// The license on a My Number card.
    package static let myNumberLicense = AID("a0000002310600000000000000000000")

    /// The name of the file itself.
    public var name: LocalizedText { LocalizedText(rawValue, rawValue) }

    /// The application that contains it; `nil` for a file of the master file.
    package var application: AID? { facts.application }

    package var id: FileIdentifier { FileIdentifier(rawValue: facts.id) }

    /// The maximum length, in bytes.
    package var longest: Int { facts.longest }

    /// The PINs to verify before it can be read.
    package var access: LicenseAccess { facts.access }

    /// Whether it belongs to the My Number card's application.
    package var isOnMyNumberCard: Bool { application == LicenseFile.myNumberLicense }

    private var facts: (application: AID?, id: UInt16, longest: Int, access: LicenseAccess) {
        switch self {
        case .commonData: (nil, 0x2F01, 17, .free)
        case .pinSetting: (nil, 0x000A, 3, .free)
        case .matters: (LicenseFile.df1, 0x0001, 880, .pin1)
        case .domicile: (LicenseFile.df1, 0x0002, 82, .bothPINs)
        case .externalCharacters: (LicenseFile.df1, 0x0003, 264, .pin1)
        case .laterEntries: (LicenseFile.df1, 0x0004, 640, .pin1)
        case .laterExternalCharacters: (LicenseFile.df1, 0x0005, 663, .pin1)
        case .laterDomicile: (LicenseFile.df1, 0x0006, 256, .bothPINs)
        case .signature: (LicenseFile.df1, 0x0007, 578, .pin1)
        case .photo: (LicenseFile.df2, 0x0001, 2005, .bothPINs)
        case .myNumberPINSetting: (LicenseFile.myNumberLicense, 0x001A, 3, .free)
        case .myNumberMatters: (LicenseFile.myNumberLicense, 0x001B, 5845, .pin1)
        case .myNumberSignature: (LicenseFile.myNumberLicense, 0x001C, 584, .pin1)
        }
    }
}

/// The PINs that a license file requires before it can be read.
package enum LicenseAccess: Hashable, Sendable {
    /// No PIN.
    case free
    /// PIN 1; the only PIN on a My Number card.
    case pin1
    /// PIN 1 and PIN 2.
    case bothPINs
}

/// The kind of card that holds a license; the raw values are those of `kazasu.license/1`.
@nonexhaustive
public enum LicenseKind: String, Hashable, Sendable, CaseIterable {
    /// IC運転免許証
    case license
    /// マイナ免許証: the license on a My Number card
    case myNumberLicense

    /// The display name.
    public var name: LocalizedText {
        switch self {
        case .license: LocalizedText("Driver's license (Japan)", "運転免許証")
        case .myNumberLicense: LocalizedText("Driver's license on a My Number card", "マイナ免許証")
        }
    }

    /// The files of such a license, in the order of the report.
    package var files: [LicenseFile] {
        LicenseFile.allCases.filter { $0.isOnMyNumberCard == (self == .myNumberLicense) }
    }

    /// The PINs of such a card, in the order in which they are verified.
    package var pins: [LicensePIN] { self == .license ? [.pin1, .pin2] : [.myNumberLicense] }
}

package enum LicensePIN: Hashable, Sendable, CaseIterable {
    /// 暗証番号1: unlocks what is printed on the license.
    case pin1
    /// 暗証番号2: unlocks the registered domicile and the photo, together with PIN 1.
    case pin2
    /// The PIN of the license on a My Number card.
    case myNumberLicense

    /// The display name.
    package var name: LocalizedText {
        switch self {
        case .pin1: LocalizedText("PIN 1", "暗証番号1")
        case .pin2: LocalizedText("PIN 2", "暗証番号2")
        case .myNumberLicense: LocalizedText("the license's PIN", "マイナ免許証の暗証番号")
        }
    }

    /// The file under which a dump keeps its state.
    package var file: FileIdentifier {
        switch self {
        case .pin1: FileIdentifier(rawValue: 0x0001)
        case .pin2: FileIdentifier(rawValue: 0x0002)
        case .myNumberLicense: FileIdentifier(rawValue: 0x0006)
        }
    }

    /// The application of that file; `nil` for the master file.
    package var application: AID? { self == .myNumberLicense ? LicenseFile.myNumberLicense : nil }
}
