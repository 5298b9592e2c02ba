// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension CommandAPDU {
    /// GET CHALLENGE (ISO/IEC 7816-4 §11.6.3): random bytes from the card.
    ///
    /// - Parameter count: how many bytes, 1 to 256.
    public static func getChallenge(_ count: Int = 8) -> CommandAPDU {
        CommandAPDU(.getChallenge, ne: count)
    }
}

extension ISO7816Session {
    /// Fetches random bytes from the card.
    ///
    /// - Throws: ``ISO7816Error``; ``ResponseFlaw/dataLength(expected:received:)`` when there are more or fewer.
    public func getChallenge(_ count: Int = 8) throws(ISO7816Error) -> [UInt8] {
        let bytes = try data(.getChallenge(count))
        guard bytes.count == count else {
            throw .malformed(.getChallenge, .dataLength(expected: count, received: bytes.count))
        }
        return bytes
    }
}
