// SPDX-License-Identifier: Apache-2.0

/// Request Response (04): the presence and mode of the card. FeliCa Lite and Lite-S do not support it.
package struct RequestResponse: FeliCaCommand, Hashable, Sendable {
    /// `04`.
    package static let code = CommandCode.requestResponse

    /// Makes the request; it has no arguments.
    package init() {}

    /// Reads the mode, 0 to 3; any other is refused.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> CardMode {
        let byte = try answer.uint8()
        guard let mode = CardMode(rawValue: byte) else { throw answer.flaw(.value(.mode, UInt16(byte))) }
        return mode
    }

    /// The fixed class with one unit, as in nfcpy; other sources assume none.
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed, units: 1) }
}

extension FeliCaSystem {
    /// Sends Request Response (04), the card's mode; FeliCa Lite and Lite-S do not answer.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestResponse() throws(FeliCaError) -> CardMode {
        try send(RequestResponse())
    }
}

/// Reset Mode (3E): returns to mode 0 from any mode. AES cards support it.
package struct ResetMode: FeliCaCommand, Hashable, Sendable {
    /// `3E`.
    package static let code = CommandCode.resetMode

    /// Makes the command; it has no arguments.
    package init() {}

    /// Two bytes of 00.
    package var parameters: [UInt8] { [0, 0] }

    /// Reads only the Status Flags.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) {
        try answer.expectSuccess()
    }

    /// The fixed class.
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Returns the card to mode 0.
    ///
    /// - Throws: ``FeliCaError``.
    public func resetMode() throws(FeliCaError) {
        try send(ResetMode())
    }
}

/// The mode of a card; the raw values are those on the wire.
public enum CardMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Mode 0: as after power-on; plain commands work.
    case initial = 0
    /// Mode 1: authentication in progress.
    case authenticating = 1
    /// Mode 2: authenticated.
    case authenticated = 2
    /// Mode 3: being issued.
    case issuing = 3
}
