// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension CommandAPDU {
    /// SELECT (ISO/IEC 7816-4 §11.2.2).
    ///
    /// - Parameters:
    ///   - target: the file or application.
    ///   - answer: what is to be told of it; with anything but nothing Le is there and asks for all.
    ///   - occurrence: which of several.
    ///   - cla: the class.
    public static func select(
        _ target: SelectTarget, answer: SelectAnswer = .nothing, occurrence: SelectOccurrence = .first,
        cla: ClassByte = .interindustry
    ) -> CommandAPDU {
        CommandAPDU(
            .select, cla: cla, p1: target.p1, p2: answer.rawValue | occurrence.rawValue, data: target.data,
            ne: answer == .nothing ? 0 : 0x100)
    }

    /// Whether this is a SELECT that names its file from the root, so that it does not matter which one is current.
    var selectsFromTheRoot: Bool {
        guard ins == .select, p2 & 0x03 == SelectOccurrence.first.rawValue else { return false }
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
    ///   - answer: what is to be told of it.
    ///   - occurrence: which of several.
    /// - Returns: what the card tells of it, a template in BER-TLV, or nothing.
    /// - Throws: ``ISO7816Error``; ``ISO7816Error/status(_:_:)`` for any status word but 9000, a warning as well:
    ///   `6283` says that the file is deactivated or, on a driver's licence, locked.
    @discardableResult
    public func select(
        _ target: SelectTarget, answer: SelectAnswer = .nothing, occurrence: SelectOccurrence = .first
    ) throws(ISO7816Error) -> [UInt8] {
        try data(.select(target, answer: answer, occurrence: occurrence))
    }
}
