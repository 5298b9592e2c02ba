// SPDX-License-Identifier: Apache-2.0

package import ByteCodec
internal import CardModel

extension CommandAPDU {
    /// Returns GET DATA (ISO/IEC 7816-4 §11.5.3) for the data object with this tag, which is P1 P2.
    ///
    /// - Parameters:
    ///   - tag: a tag of one or two bytes.
    ///   - cla: the class; some cards require a proprietary one.
    /// - Throws: ``APDUError/count(_:)`` for a tag of more than two bytes.
    package static func getData(_ tag: BERTag, cla: ClassByte = .interindustry) throws(APDUError) -> CommandAPDU {
        guard let number = UInt16(exactly: tag.rawValue) else { throw .count(tag.bytes.count) }
        return CommandAPDU(
            .getData, cla: cla, p1: UInt8(truncatingIfNeeded: number >> 8), p2: UInt8(truncatingIfNeeded: number),
            ne: 0x100)
    }
}

extension ISO7816Session {
    /// Reads a data object of the current context.
    ///
    /// - Returns: the value or the complete object, depending on the card.
    /// - Throws: ``ISO7816Error``.
    package func getData(_ tag: BERTag, cla: ClassByte = .interindustry) throws(ISO7816Error) -> [UInt8] {
        try data(try made { () throws(APDUError) in try .getData(tag, cla: cla) })
    }
}

extension CommandAPDU {
    /// Returns GET CHALLENGE (ISO/IEC 7816-4 §11.6.3): random bytes from the card.
    ///
    /// - Parameter count: the number of bytes, 1 to 256.
    package static func getChallenge(_ count: Int = 8) -> CommandAPDU {
        CommandAPDU(.getChallenge, ne: count)
    }
}

extension ISO7816Session {
    /// Fetches random bytes from the card.
    ///
    /// - Throws: ``ISO7816Error``; ``ISO7816Error.Reason/dataLength(expected:received:)`` if there are more or fewer.
    package func getChallenge(_ count: Int = 8) throws(ISO7816Error) -> [UInt8] {
        let bytes = try data(.getChallenge(count))
        guard bytes.count == count else {
            throw .malformed(.getChallenge, .dataLength(expected: count, received: bytes.count))
        }
        return bytes
    }
}
