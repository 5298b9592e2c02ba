// SPDX-License-Identifier: Apache-2.0

/// A file of a residence card (在留カード) or a special permanent resident certificate (特別永住者証明書).
///
/// Files are read by their short identifiers; their two-byte identifiers are not known. Sources: public programs that quote the
/// ministry's specifications (eringoio/zairyu-card-reader, dadachi/readmynumber-plus, libjeid's samples).
@nonexhaustive
public enum ResidenceFile: String, Hashable, Sendable, CaseIterable {
    /// MF/EF01: version of the specification.
    case version
    /// MF/EF02: type of card.
    case type
    /// Second generation, DF1/EF01: card number.
    case number
    /// Second generation, DF1/EF02: the printed entries.
    case entries
    /// First generation, DF1/EF01: picture of the printed front.
    case front
    /// First generation, DF1/EF02: photo.
    case photo
    /// Second generation, DF1/EF03: picture of the name, and photo.
    case nameAndPhoto
    /// Second generation, DF1/EF04: picture of the address.
    case addressPicture
    /// First generation, DF2/EF01: address.
    case address
    /// First generation, DF2/EF02: comprehensive permission.
    case comprehensivePermission
    /// First generation, DF2/EF03: individual permission.
    case individualPermission
    /// First generation, DF2/EF04: application pending.
    case pending
    /// Second generation, DF2/EF01: permissions.
    case permissions
    /// Second generation, DF2/EF02: application pending.
    case pendingApplication
    /// Second generation, DF2/EF03: recorded by the Commissioner.
    case remarks
    /// DF3/EF01: signature and certificate.
    case signature

    /// The application whose name leads to the number's verification, DF1.
    package static let numberApplication = application(0x02)

    /// The residence application of a My Number card that is a residence card, too.
    package static let specifiedApplication = application(0x01)

    private static func application(_ last: UInt8) -> AID {
        AID(known: [0xD3, 0x92, 0xF0, 0x00, 0x4F, last] + [UInt8](repeating: 0, count: 10))
    }

    /// The directory that holds it; `nil` for the master file.
    package var application: AID? {
        switch self {
        case .version, .type: nil
        case .number, .entries, .front, .photo, .nameAndPhoto, .addressPicture: Self.numberApplication
        case .address, .comprehensivePermission, .individualPermission, .pending, .permissions, .pendingApplication,
            .remarks:
            Self.application(0x03)
        case .signature: Self.application(0x04)
        }
    }

    /// The short identifier, 1 to 30.
    package var shortID: UInt8 {
        switch self {
        case .version: 0x0B
        case .type: 0x0A
        case .number, .address, .permissions: 1
        case .comprehensivePermission, .pendingApplication, .signature: 2
        case .entries, .individualPermission, .remarks: 3
        case .nameAndPhoto, .pending: 4
        case .front: 5
        case .photo, .addressPicture: 6
        }
    }

    /// How a dump names it: the short identifier as a number.
    package var id: FileIdentifier { FileIdentifier(rawValue: UInt16(shortID)) }

    /// The length of the file in bytes.
    package func size(on card: ResidenceType) -> Int {
        switch self {
        case .version: 6
        case .type: card.generation == 2 ? 4 : 3
        case .number: 14
        case .entries: card.isSpecialPermanent ? 46 : 73
        case .front: 7004
        case .photo: 3004
        case .nameAndPhoto: 5508
        case .addressPicture: 2505
        case .address: 342
        case .comprehensivePermission, .individualPermission: 122
        case .pending, .pendingApplication: 3
        case .permissions: 22
        case .remarks: 207
        case .signature: card.generation == 2 ? 704 : 1464
        }
    }

    /// Whether it is read in secure messaging.
    package var isEncrypted: Bool { application == Self.numberApplication }

    /// The files of a type of card that need the number, in the order of their directories.
    package static func files(of card: ResidenceType) -> [ResidenceFile] {
        switch card {
        case .residence1:
            [.front, .photo, .address, .comprehensivePermission, .individualPermission, .pending, .signature]
        case .specialPermanent1: [.front, .photo, .address, .signature]
        case .residence2:
            [
                .number, .entries, .nameAndPhoto, .addressPicture, .permissions, .pendingApplication, .remarks,
                .signature,
            ]
        case .specialPermanent2: [.number, .entries, .nameAndPhoto, .addressPicture, .remarks, .signature]
        case .specified, .specifiedSpecialPermanent: []
        }
    }

    /// The display name.
    public var name: LocalizedText {
        switch self {
        case .version: LocalizedText("Version", "仕様書バージョン")
        case .type: LocalizedText("Type of card", "カード種別")
        case .number: LocalizedText("Card number", "カード番号")
        case .entries: LocalizedText("Printed entries", "券面記載事項")
        case .front: LocalizedText("Picture of the front", "券面（表）画像")
        case .photo: LocalizedText("Photo", "顔写真")
        case .nameAndPhoto: LocalizedText("Picture of the name, and photo", "氏名画像・顔写真")
        case .addressPicture: LocalizedText("Picture of the address", "住居地画像")
        case .address: LocalizedText("Address", "住居地")
        case .comprehensivePermission:
            LocalizedText("Comprehensive permission to engage in other activities", "資格外活動包括許可")
        case .individualPermission:
            LocalizedText("Individual permission to engage in other activities", "資格外活動個別許可")
        case .pending, .pendingApplication: LocalizedText("Pending application", "在留期間更新等許可申請")
        case .permissions: LocalizedText("Permission to engage in other activities", "資格外活動許可")
        case .remarks: LocalizedText("Remarks", "長官記録事項")
        case .signature: LocalizedText("Signature", "電子署名")
        }
    }
}

/// The type of a residence card, from the object C1 of its file MF/EF02; the raw values are the card's own codes.
@nonexhaustive
public enum ResidenceType: String, Hashable, Sendable, CaseIterable {
    /// Residence card of the first generation.
    case residence1 = "1"
    /// Special permanent resident certificate of the first generation.
    case specialPermanent1 = "2"
    /// Residence card of the second generation, issued since June 2026.
    case residence2 = "05"
    /// Special permanent resident certificate of the second generation.
    case specialPermanent2 = "06"
    /// 特定在留カード: a My Number card that is a residence card, too.
    case specified = "07"
    /// 特定特別永住者証明書: a My Number card that is a special permanent resident certificate, too.
    case specifiedSpecialPermanent = "08"

    /// 1 or 2.
    public var generation: Int {
        switch self {
        case .residence1, .specialPermanent1: 1
        default: 2
        }
    }

    /// Whether the holder is a special permanent resident.
    public var isSpecialPermanent: Bool {
        switch self {
        case .specialPermanent1, .specialPermanent2, .specifiedSpecialPermanent: true
        default: false
        }
    }

    /// Whether it is part of a My Number card; such cards are recognized and not read.
    public var isSpecified: Bool { self == .specified || self == .specifiedSpecialPermanent }

    /// The identifier for machine use: `residence`, `specialPermanent`, `specified`.
    package var word: String {
        isSpecified ? "specified" : isSpecialPermanent ? "specialPermanent" : "residence"
    }

    /// The display name.
    public var name: LocalizedText {
        switch self {
        case .residence1, .residence2: LocalizedText("Residence card", "在留カード")
        case .specialPermanent1, .specialPermanent2:
            LocalizedText("Special permanent resident certificate", "特別永住者証明書")
        case .specified: LocalizedText("Specified residence card", "特定在留カード")
        case .specifiedSpecialPermanent:
            LocalizedText("Specified special permanent resident certificate", "特定特別永住者証明書")
        }
    }
}
