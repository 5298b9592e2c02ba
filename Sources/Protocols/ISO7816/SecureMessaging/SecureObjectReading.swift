// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

extension SecureMessaging {
    /// The most bytes that are read from a passport at once; with all that protects them they fit into any answer.
    private static let longestStep = 223

    /// The number of bytes to request at first from a passport.
    package var firstStep: Int { min(Self.longestStep, longestPlain(inAnswerOf: session.limits.longestResponse)) }

    /// Selects an EF of the current DF.
    ///
    /// - Throws: ``SecureMessagingError``; ``ISO7816Error/status(_:_:)`` if the card refuses.
    package func select(_ id: FileIdentifier) throws(SecureMessagingError) {
        let selection = try transmit(.select, p1: 0x02, p2: 0x0C, data: id.bytes)
        guard selection.status.isSuccess else { throw .card(.status(.select, selection.status)) }
    }

    /// Reads some bytes of the current EF, and returns the answer whatever its status word.
    ///
    /// - Parameters:
    ///   - offset: the first byte.
    ///   - count: the number of bytes, 1 to 231.
    package func readBinary(at offset: Int, count: Int) throws(SecureMessagingError) -> ResponseAPDU {
        guard offset > CommandAPDU.highestBinaryOffset else {
            var response = try transmit(
                .readBinary, p1: UInt8(truncatingIfNeeded: offset >> 8), p2: UInt8(truncatingIfNeeded: offset),
                wanted: count)
            response.data = Array(response.data.prefix(count))
            return response
        }
        // The offset in an object 54, the data in an object 53 of up to three more bytes.
        let place = BERTLV(0x54, [16, 8, 0].map { UInt8(truncatingIfNeeded: offset >> $0) })
        var response = try transmit(.readBinaryWithOffsetObject, data: place.encoded, wanted: count + 3)
        guard !response.data.isEmpty else { return response }
        guard let object = BERTLVList(tolerant: response.data).objects.first, object.tag == 0x53 else {
            throw .malformed(.objects)
        }
        response.data = Array(object.value.prefix(count))
        return response
    }
}
