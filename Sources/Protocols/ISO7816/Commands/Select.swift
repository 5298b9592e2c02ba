// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension CommandAPDU {
    /// Returns SELECT (ISO/IEC 7816-4 §11.2.2).
    ///
    /// - Parameters:
    ///   - target: the file or application.
    ///   - answer: the information to return about it; unless it is `.nothing`, Le is present and requests everything.
    ///   - cla: the class.
    public static func select(
        _ target: SelectTarget, answer: SelectAnswer = .nothing, cla: ClassByte = .interindustry
    ) -> CommandAPDU {
        CommandAPDU(
            .select, cla: cla, p1: target.p1, p2: answer.rawValue, data: target.data,
            ne: answer == .nothing ? 0 : 0x100)
    }

    /// Whether this is a SELECT that addresses its file from the root, independently of the current file.
    var selectsFromTheRoot: Bool {
        // Bits 2 and 1 of P2: the first of several, not the next, the previous or the last one.
        guard ins == .select, p2 & 0x03 == 0 else { return false }
        return switch p1 {
        case 0x00: data.isEmpty || data == FileIdentifier.masterFile.bytes
        case 0x04, 0x08: true
        default: false
        }
    }
}

extension ISO7816Session {
    /// Selects a file or an application.
    ///
    /// - Parameters:
    ///   - target: the file or application.
    ///   - answer: the information to return about it.
    /// - Returns: the card's information about it, a BER-TLV template, or nothing.
    /// - Throws: ``ISO7816Error``; ``ISO7816Error/status(_:_:)`` for any status word but 9000, including warnings:
    ///   `6283` means that the file is deactivated or, on a driver's license, locked.
    @discardableResult
    public func select(
        _ target: SelectTarget, answer: SelectAnswer = .nothing
    ) throws(ISO7816Error) -> [UInt8] {
        try data(.select(target, answer: answer))
    }
}

/// The information that a SELECT requests about the file: bits 4 and 3 of P2.
public enum SelectAnswer: UInt8, Hashable, Sendable, CaseIterable {
    /// File control information, template 6F.
    case fileControlInformation = 0x00
    /// Nothing.
    case nothing = 0x0C
}

/// The target of a SELECT (ISO/IEC 7816-4 §11.2.2).
@nonexhaustive
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
    /// An application by its AID, or by a prefix of it.
    case application(AID)
    /// A file by its path of identifiers from the MF, excluding the MF itself.
    case pathFromMF([FileIdentifier])
    /// A file by its path of identifiers from the current DF, excluding the DF itself.
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
