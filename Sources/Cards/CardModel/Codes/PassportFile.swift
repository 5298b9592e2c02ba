// SPDX-License-Identifier: Apache-2.0

/// A file of an electronic passport that Kazasu reads (ICAO Doc 9303-10).
@nonexhaustive
public enum PassportFile: String, Hashable, Sendable, CaseIterable {
    /// EF.COM: which data groups the passport says it has; nothing signs it.
    case index
    /// EF.DG1: the machine-readable zone.
    case machineReadableZone
    /// EF.DG2: the holder's face.
    case face
    /// EF.SOD: the digests of the data groups, signed by the country that issued it.
    case security
    /// EF.DG14: the protocols and keys of chip authentication.
    case protocols
    /// EF.DG15: the key of active authentication.
    case chipKey

    /// The application of passports and other travel documents.
    package static let application = AID(known: [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01])
    /// EF.CardAccess in the master file: the ways to open it besides BAC.
    package static let cardAccess = FileIdentifier(rawValue: 0x011C)

    /// EF.CardSecurity in the master file: the key of chip-authentication mapping, signed.
    package static let cardSecurity = FileIdentifier(rawValue: 0x011D)

    /// The files that every passport has.
    package static let always: [PassportFile] = allCases.filter { !$0.isForCopies }

    /// Whether it is there to show that the chip is not a copy.
    package var isForCopies: Bool { self == .protocols || self == .chipKey }

    /// Its identifier.
    package var id: FileIdentifier {
        switch self {
        case .index: FileIdentifier(rawValue: 0x011E)
        case .machineReadableZone: FileIdentifier(rawValue: 0x0101)
        case .face: FileIdentifier(rawValue: 0x0102)
        case .security: FileIdentifier(rawValue: 0x011D)
        case .protocols: FileIdentifier(rawValue: 0x010E)
        case .chipKey: FileIdentifier(rawValue: 0x010F)
        }
    }

    /// The tag of the one data object in it.
    package var tag: UInt8 {
        switch self {
        case .index: 0x60
        case .machineReadableZone: 0x61
        case .face: 0x75
        case .security: 0x77
        case .protocols: 0x6E
        case .chipKey: 0x6F
        }
    }

    /// The number of the data group; `nil` for files that are none.
    package var dataGroup: Int? {
        switch self {
        case .machineReadableZone: 1
        case .face: 2
        case .protocols: 14
        case .chipKey: 15
        case .index, .security: nil
        }
    }

    /// The display name.
    public var name: LocalizedText {
        switch self {
        case .index: LocalizedText("Index (EF.COM)", "目録（EF.COM）")
        case .machineReadableZone: LocalizedText("Machine-readable zone (DG1)", "機械読取領域（DG1）")
        case .face: LocalizedText("Photo (DG2)", "顔写真（DG2）")
        case .security: LocalizedText("Signature (EF.SOD)", "電子署名（EF.SOD）")
        case .protocols: LocalizedText("Chip protocols (DG14)", "IC の認証方式（DG14）")
        case .chipKey: LocalizedText("Chip key (DG15)", "IC の公開鍵（DG15）")
        }
    }
}
