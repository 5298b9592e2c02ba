// SPDX-License-Identifier: Apache-2.0

/// Reset Mode (3E): back to mode 0 from any mode. AES cards know it.
public struct ResetMode: FeliCaCommand, Hashable, Sendable {
    /// `3E`.
    public static let code = CommandCode.resetMode

    /// The command; it has no arguments.
    public init() {}

    /// Two bytes 00.
    public var parameters: [UInt8] { [0, 0] }

    /// Nothing but the Status Flags.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) {
        try answer.expectSuccess()
    }

    /// The fixed class.
    public func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Puts the card back into mode 0.
    ///
    /// - Throws: ``FeliCaError``.
    public func resetMode() throws(FeliCaError) {
        try send(ResetMode())
    }
}
