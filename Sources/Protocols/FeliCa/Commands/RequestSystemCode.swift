// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Request System Code (0C): the systems of the card. `12FC`, `88B4` and `957A` may exist without being listed.
package struct RequestSystemCode: FeliCaCommand, Hashable, Sendable {
    /// `0C`.
    package static let code = CommandCode.requestSystemCode

    /// Makes the request; it has no arguments.
    package init() {}

    /// Reads the codes (big-endian) in the order of the system numbers.
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
    /// Sends Request System Code (0C): the systems of the card. `12FC`, `88B4` and `957A` may exist without being listed.
    ///
    /// The position in the list is the system number, which is the high nibble of that system's IDm.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestSystemCode() throws(FeliCaError) -> [SystemCode] {
        try send(RequestSystemCode())
    }
}
