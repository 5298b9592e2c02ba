// SPDX-License-Identifier: Apache-2.0

/// A file of an electronic passport that Kazasu reads (ICAO Doc 9303-10).
public enum PassportFile: String, Hashable, Sendable, CaseIterable {
    /// EF.COM: which data groups the passport says it has; nothing signs it.
    case index
    /// EF.DG1: the machine-readable zone.
    case machineReadableZone
    /// EF.DG2: the holder's face.
    case face
    /// EF.SOD: the digests of the data groups, signed by the country that issued it.
    case security

    /// The application of passports and other travel documents.
    package static let application = AID(known: [0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01])
    /// EF.CardAccess in the master file: the ways to open it besides BAC.
    package static let cardAccess = FileIdentifier(rawValue: 0x011C)

    /// Its identifier.
    package var id: FileIdentifier {
        switch self {
        case .index: FileIdentifier(rawValue: 0x011E)
        case .machineReadableZone: FileIdentifier(rawValue: 0x0101)
        case .face: FileIdentifier(rawValue: 0x0102)
        case .security: FileIdentifier(rawValue: 0x011D)
        }
    }

    /// The tag of the one data object in it.
    package var tag: UInt8 {
        switch self {
        case .index: 0x60
        case .machineReadableZone: 0x61
        case .face: 0x75
        case .security: 0x77
        }
    }

    /// The number of the data group; `nil` for files that are none.
    package var dataGroup: Int? {
        switch self {
        case .machineReadableZone: 1
        case .face: 2
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
        }
    }
}
