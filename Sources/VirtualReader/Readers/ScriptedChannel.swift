// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import NFCTransport

/// A channel that knows beforehand what will be asked and what comes back, in order.
public final class ScriptedChannel: CardChannel {
    private var expected: ArraySlice<ScriptedExchange>
    private var problems: [String] = []
    private var count = 0
    /// The time-outs that were asked for, in order.
    public private(set) var timeouts: [Duration] = []

    /// A channel that expects these exchanges and no other.
    public init(_ exchanges: [ScriptedExchange]) {
        expected = exchanges[...]
    }

    /// Gives the answer that belongs to the frame expected next.
    ///
    /// - Throws: ``NFCTransport/TransportError/outOfScript(detail:)`` when the frame is another or nothing is expected
    ///   any more, and the error that the script says.
    public func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        count += 1
        timeouts.append(timeout)
        guard let next = expected.first else {
            throw outOfScript("exchange \(count): nothing expected, but \(Hex.encode(frame)) came")
        }
        guard next.frame == frame else {
            throw outOfScript(
                "exchange \(count): expected \(Hex.encode(next.frame)), but \(Hex.encode(frame)) came")
        }
        expected = expected.dropFirst()
        return try next.result.get()
    }

    /// What went against the script so far, and what of it was not asked for; empty when all went as expected.
    public func finish() -> [String] {
        problems + expected.map { "never asked: \(Hex.encode($0.frame))" }
    }

    private func outOfScript(_ detail: String) -> TransportError {
        problems.append(detail)
        return .outOfScript(detail: detail)
    }
}
