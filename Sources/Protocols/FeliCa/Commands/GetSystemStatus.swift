// SPDX-License-Identifier: Apache-2.0

/// Get System Status (38). Source: felica-tool, the unofficial user's manual.
package struct GetSystemStatus: FeliCaCommand, Hashable, Sendable {
    /// `38`.
    package static let code = CommandCode.getSystemStatus

    /// Makes the request; it has no arguments.
    package init() {}

    /// Two bytes of 00.
    package var parameters: [UInt8] { [0, 0] }

    /// Reads a flag, and as many bytes as the card's count gives.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> SystemStatus {
        try answer.expectSuccess()
        let flag = try answer.uint8()
        let count = Int(try answer.uint8())
        return SystemStatus(flag: flag, data: Array(try answer.bytes(count)))
    }

    /// The fixed class (felica-tool).
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Requests the system status.
    ///
    /// - Throws: ``FeliCaError``.
    public func getSystemStatus() throws(FeliCaError) -> SystemStatus {
        try send(GetSystemStatus())
    }
}

/// The answer to Get System Status; its meaning is not published.
public struct SystemStatus: Hashable, Sendable {
    /// The byte before the data.
    public let flag: UInt8
    /// The data, as many bytes as the card's count gives.
    public let data: [UInt8]
}
