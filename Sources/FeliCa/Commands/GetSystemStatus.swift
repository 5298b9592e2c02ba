// SPDX-License-Identifier: Apache-2.0

/// Get System Status (38). Source: felica-tool, the unofficial user's manual.
public struct GetSystemStatus: FeliCaCommand, Hashable, Sendable {
    /// `38`.
    public static let code = CommandCode.getSystemStatus

    /// The question; it has no arguments.
    public init() {}

    /// Two bytes 00.
    public var parameters: [UInt8] { [0, 0] }

    /// A flag, and as many bytes as the card counts.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> SystemStatus {
        try answer.expectSuccess()
        let flag = try answer.uint8()
        let count = Int(try answer.uint8())
        return SystemStatus(flag: flag, data: Array(try answer.bytes(count)))
    }

    /// The fixed class (felica-tool).
    public func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Asks for the system status.
    ///
    /// - Throws: ``FeliCaError``.
    public func getSystemStatus() throws(FeliCaError) -> SystemStatus {
        try send(GetSystemStatus())
    }
}

/// The answer to Get System Status; what it means is not published.
public struct SystemStatus: Hashable, Sendable {
    /// The byte before the data.
    public let flag: UInt8
    /// The data, as many bytes as the card counts.
    public let data: [UInt8]
}
