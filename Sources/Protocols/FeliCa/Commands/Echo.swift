// SPDX-License-Identifier: Apache-2.0

/// Echo (F000): the card sends the data back.
///
/// Neither command nor answer carries an IDm, and the answer has the command's own code. 1 to 252 bytes; IC 0B answers
/// up to 238, FeliCa Lite-S up to 75, and several products never. Source: felica-tool.
package struct Echo: FeliCaCommand, Hashable, Sendable {
    /// `F000`.
    package static let code = CommandCode.echo
    /// `false`.
    package static let carriesIDm = false
    /// The number of bytes that fit into LEN.
    package static let allowedBytes = 1...252

    /// The data that the card is to send back.
    package var data: [UInt8]

    package init(_ data: [UInt8]) {
        self.data = data
    }

    /// Checks that there are between 1 and 252 bytes.
    package func validate() throws(FeliCaError) {
        guard Self.allowedBytes.contains(data.count) else {
            throw .invalidArgument(.count(.echoData, data.count, allowed: Self.allowedBytes))
        }
    }

    package var parameters: [UInt8] { data }

    /// Checks that the same bytes came back; others are refused.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) {
        guard answer.rest() == data else { throw answer.flaw(.echo) }
    }

    /// The variable class, one unit per 16 bytes or part of them (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration {
        times.maximum(.variable, units: (data.count + 15) / 16)
    }
}

extension FeliCaSystem {
    /// Makes the card send 1 to 252 bytes back.
    ///
    /// - Throws: ``FeliCaError``.
    public func echo(_ data: [UInt8]) throws(FeliCaError) {
        try send(Echo(data))
    }
}
