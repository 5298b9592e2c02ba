// SPDX-License-Identifier: Apache-2.0

/// Request Response (04): is the card there, and in which mode? FeliCa Lite and Lite-S do not know it.
package struct RequestResponse: FeliCaCommand, Hashable, Sendable {
    /// `04`.
    package static let code = CommandCode.requestResponse

    /// The question; it has no arguments.
    package init() {}

    /// The mode, 0 to 3; any other is refused.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> CardMode {
        let byte = try answer.uint8()
        guard let mode = CardMode(rawValue: byte) else { throw answer.flaw(.value(.mode, UInt16(byte))) }
        return mode
    }

    /// The fixed class with one unit, as nfcpy reckons; other sources reckon none.
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed, units: 1) }
}

extension FeliCaSystem {
    /// Asks for the card's mode.
    ///
    /// - Throws: ``FeliCaError``.
    package func requestResponse() throws(FeliCaError) -> CardMode {
        try send(RequestResponse())
    }
}

/// Reset Mode (3E): back to mode 0 from any mode. AES cards know it.
package struct ResetMode: FeliCaCommand, Hashable, Sendable {
    /// `3E`.
    package static let code = CommandCode.resetMode

    /// The command; it has no arguments.
    package init() {}

    /// Two bytes 00.
    package var parameters: [UInt8] { [0, 0] }

    /// Nothing but the Status Flags.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) {
        try answer.expectSuccess()
    }

    /// The fixed class.
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Puts the card back into mode 0.
    ///
    /// - Throws: ``FeliCaError``.
    package func resetMode() throws(FeliCaError) {
        try send(ResetMode())
    }
}

/// The mode that a card is in; the raw values are those on the wire.
package enum CardMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Mode 0: as after power-on; plain commands work.
    case initial = 0
    /// Mode 1: authentication has begun.
    case authenticating = 1
    /// Mode 2: authenticated.
    case authenticated = 2
    /// Mode 3: being issued.
    case issuing = 3
}
