// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Request System Code (0C): the systems of the card. `12FC`, `88B4` and `957A` may be there without being listed.
package struct RequestSystemCode: FeliCaCommand, Hashable, Sendable {
    /// `0C`.
    package static let code = CommandCode.requestSystemCode

    /// The question; it has no arguments.
    package init() {}

    /// The codes (big-endian) in the order of the system numbers.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> [SystemCode] {
        let count = Int(try answer.uint8())
        return try answer.list(count) { (answer) throws(FeliCaError) in
            SystemCode(rawValue: try answer.uint16(.big))
        }
    }

    /// The fixed class.
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Asks for the systems of the card; the place in the list is the system number, which is the high nibble of
    /// that system's IDm.
    ///
    /// - Throws: ``FeliCaError``.
    package func requestSystemCode() throws(FeliCaError) -> [SystemCode] {
        try send(RequestSystemCode())
    }
}
