// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

extension SecureMessaging {
    /// The most bytes that are read from a passport at once with short lengths; with all that protects them they fit into any
    /// answer.
    private static let longestShortStep = 223
    /// The same with extended lengths: more would gain little, and a part that is lost is lost as a whole.
    private static let longestStep = 4096
    /// The most bytes that a command with short lengths can request.
    private static let longestShort = 231

    /// The number of bytes to request from a passport with short lengths.
    package var shortStep: Int {
        min(Self.longestShortStep, longestPlain(inAnswerOf: session.limits.longestResponse))
    }

    /// The number of bytes to request at first from a passport.
    ///
    /// - Parameter longest: the longest response APDU that the chip gives; `nil` if it may not support extended lengths.
    package func firstStep(_ longest: Int?) -> Int {
        guard let longest else { return shortStep }
        let room = longestPlain(inAnswerOf: min(longest, session.limits.longestResponse))
        return max(shortStep, min(Self.longestStep, room))
    }

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
    ///   - count: the number of bytes; more than 231 with extended lengths.
    package func readBinary(at offset: Int, count: Int) throws(SecureMessagingError) -> ResponseAPDU {
        let isLong = count > Self.longestShort
        let form = isLong ? APDULengthForm.extended : .short
        guard offset > CommandAPDU.highestBinaryOffset else {
            var response = try transmit(
                .readBinary, p1: UInt8(truncatingIfNeeded: offset >> 8), p2: UInt8(truncatingIfNeeded: offset),
                wanted: count, lengthForm: form)
            response.data = Array(response.data.prefix(count))
            return response
        }
        // The offset in an object 54, the data in an object 53 of up to three or four more bytes.
        let place = BERTLV(0x54, [16, 8, 0].map { UInt8(truncatingIfNeeded: offset >> $0) })
        var response = try transmit(
            .readBinaryWithOffsetObject, data: place.encoded, wanted: count + (isLong ? 4 : 3), lengthForm: form)
        guard !response.data.isEmpty else { return response }
        guard let object = BERTLVList(tolerant: response.data).objects.first, object.tag == 0x53 else {
            throw .malformed(.objects)
        }
        response.data = Array(object.value.prefix(count))
        return response
    }
}
