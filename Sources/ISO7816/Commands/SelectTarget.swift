// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What a SELECT names (ISO/IEC 7816-4 §11.2.2).
public enum SelectTarget: Hashable, Sendable {
    /// The MF, by its identifier 3F00.
    case masterFile
    /// The MF, with an empty data field.
    case masterFileWithoutName
    /// An MF, DF or EF by its identifier.
    case file(FileIdentifier)
    /// A DF directly under the current one.
    case childDF(FileIdentifier)
    /// An EF under the current DF.
    case childEF(FileIdentifier)
    /// The DF above the current one.
    case parent
    /// An application by its name, or by the first bytes of it.
    case application(AID)
    /// A file by the identifiers of the files on the way from the MF, the MF itself left out.
    case pathFromMF([FileIdentifier])
    /// A file by the identifiers of the files on the way from the current DF, the DF itself left out.
    case pathFromCurrentDF([FileIdentifier])

    /// P1.
    var p1: UInt8 {
        switch self {
        case .masterFile, .masterFileWithoutName, .file: 0x00
        case .childDF: 0x01
        case .childEF: 0x02
        case .parent: 0x03
        case .application: 0x04
        case .pathFromMF: 0x08
        case .pathFromCurrentDF: 0x09
        }
    }

    /// The data field.
    var data: [UInt8] {
        switch self {
        case .masterFile: FileIdentifier.masterFile.bytes
        case .masterFileWithoutName, .parent: []
        case .file(let id), .childDF(let id), .childEF(let id): id.bytes
        case .application(let aid): aid.bytes
        case .pathFromMF(let ids), .pathFromCurrentDF(let ids): ids.flatMap(\.bytes)
        }
    }
}

extension FileIdentifier {
    /// The two bytes on the wire, most significant first.
    var bytes: [UInt8] { [UInt8(truncatingIfNeeded: rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)] }
}
