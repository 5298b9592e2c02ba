// SPDX-License-Identifier: Apache-2.0

/// Request Product Information (3A), also called Platform Information. Source: felica-tool, proxmark3.
package struct RequestProductInformation: FeliCaCommand, Hashable, Sendable {
    /// `3A`.
    package static let code = CommandCode.requestProductInformation

    /// Makes the request; it has no arguments.
    package init() {}

    /// Reads as many bytes as the card's count gives, unchanged; their meaning is not published.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [UInt8] {
        try answer.expectSuccess()
        let count = Int(try answer.uint8())
        return Array(try answer.bytes(count))
    }

    /// The other class (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.other) }
}

extension FeliCaSystem {
    /// Requests the product information, bytes of unpublished meaning.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestProductInformation() throws(FeliCaError) -> [UInt8] {
        try send(RequestProductInformation())
    }
}
