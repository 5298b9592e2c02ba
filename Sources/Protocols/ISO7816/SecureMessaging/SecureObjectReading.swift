// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

extension SecureMessaging {
    /// The most bytes that are read from a passport at once; with all that protects them they fit into any answer.
    private static let longestStep = 223

    /// Reads the data object at the start of an EF: first its header, then as much as its length says, and nothing behind it.
    ///
    /// - Parameters:
    ///   - id: the EF, which is selected first.
    ///   - limit: the longest object to read, including its tag and length.
    /// - Throws: ``SecureMessagingError``; ``ISO7816Error/status(_:_:)`` if the card refuses.
    package func readDataObject(_ id: FileIdentifier, limit: Int) throws(SecureMessagingError) -> [UInt8] {
        let selection = try transmit(.select, p1: 0x02, p2: 0x0C, data: id.bytes)
        guard selection.status.isSuccess else { throw .card(.status(.select, selection.status)) }
        var data = try part(at: 0, count: 4)
        guard let header = try? BERHeader(data) else { throw .card(.malformed(.readBinary, .notADataObject)) }
        guard header.totalLength <= limit else { throw .card(.malformed(.readBinary, .notADataObject)) }
        let step = min(Self.longestStep, longestPlain(inAnswerOf: session.limits.longestResponse))
        while data.count < header.totalLength {
            let more = try part(at: data.count, count: min(step, header.totalLength - data.count))
            guard !more.isEmpty else { break }
            data += more
        }
        return Array(data.prefix(header.totalLength))
    }

    /// Reads some bytes of the current EF; none behind its end.
    private func part(at offset: Int, count: Int) throws(SecureMessagingError) -> [UInt8] {
        let isFar = offset > CommandAPDU.highestBinaryOffset
        let response =
            if isFar {
                // The offset in an object 54, the data in an object 53 of up to three more bytes.
                try transmit(
                    .readBinaryWithOffsetObject,
                    data: BERTLV(0x54, [16, 8, 0].map { UInt8(truncatingIfNeeded: offset >> $0) }).encoded,
                    wanted: count + 3)
            } else {
                try transmit(
                    .readBinary, p1: UInt8(truncatingIfNeeded: offset >> 8), p2: UInt8(truncatingIfNeeded: offset),
                    wanted: count)
            }
        switch response.status {
        case .success, .endOfFile:
            guard isFar, !response.data.isEmpty else { return Array(response.data.prefix(count)) }
            guard let object = BERTLVList(tolerant: response.data).objects.first, object.tag == 0x53 else {
                throw .malformed(.objects)
            }
            return Array(object.value.prefix(count))
        case .wrongParameters where offset > 0: return []
        default: throw .card(.status(.readBinary, response.status))
        }
    }
}
