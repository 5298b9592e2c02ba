// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The two lists that Read and Write Without Encryption begin with.
struct BlockRequest {
    var services: [ServiceCode] = []
    var elements: [BlockListElement] = []
    /// What is wrong with the number of services or blocks; the lists are then not read to their end.
    var refusal: Refusal?

    /// Reads both lists.
    ///
    /// - Parameter limit: how many blocks the card allows, over which it answers `overLimit`.
    init(_ parameters: inout ByteReader, limit: Int, overLimit: UInt8) throws(ByteCodecError) {
        let serviceCount = try parameters.readUInt8()
        guard (1...16).contains(serviceCount) else {
            refusal = Refusal(StatusCode.serviceCount)
            _ = parameters.readRest()
            return
        }
        for _ in 0..<serviceCount { services.append(ServiceCode(rawValue: try parameters.readUInt16(.little))) }
        let blockCount = Int(try parameters.readUInt8())
        guard (1...max(limit, 1)).contains(blockCount) else {
            refusal = Refusal(overLimit)
            _ = parameters.readRest()
            return
        }
        for _ in 0..<blockCount { elements.append(try BlockListElement(&parameters)) }
    }
}
