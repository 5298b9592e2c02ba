// SPDX-License-Identifier: Apache-2.0

/// Request Response (04): is the card there, and in which mode? FeliCa Lite and Lite-S do not know it.
public struct RequestResponse: FeliCaCommand, Hashable, Sendable {
    /// `04`.
    public static let code = CommandCode.requestResponse

    /// The question; it has no arguments.
    public init() {}

    /// The mode, 0 to 3; any other is refused.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> CardMode {
        let byte = try answer.uint8()
        guard let mode = CardMode(rawValue: byte) else { throw answer.flaw(.value(.mode, UInt16(byte))) }
        return mode
    }

    /// The fixed class with one unit, as nfcpy reckons; other sources reckon none.
    public func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed, units: 1) }
}

extension FeliCaSystem {
    /// Asks for the card's mode.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestResponse() throws(FeliCaError) -> CardMode {
        try send(RequestResponse())
    }
}
