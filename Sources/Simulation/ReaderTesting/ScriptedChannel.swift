// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import ReaderCore

/// A channel that expects a fixed sequence of frames and gives fixed answers.
///
/// For tests of code that sends commands to a card: each frame is compared with the script, byte by byte.
public final class ScriptedChannel: CardChannel {
    private var expected: ArraySlice<ScriptedExchange>
    private var problems: [String] = []
    private var count = 0
    /// The requested time-outs, in order.
    public private(set) var timeouts: [Duration] = []

    /// Creates a channel that expects these exchanges and no other.
    public init(_ exchanges: [ScriptedExchange]) {
        expected = exchanges[...]
    }

    /// Returns the answer of the next expected frame.
    ///
    /// - Throws: `TransportError.outOfScript(detail:)` when the frame differs or nothing is expected any
    ///   more, and the error in the script.
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

    /// Returns the deviations from the script so far, and its unused parts; empty when all went as expected.
    public func finish() -> [String] {
        problems + expected.map { "never asked: \(Hex.encode($0.frame))" }
    }

    private func outOfScript(_ detail: String) -> TransportError {
        problems.append(detail)
        return .outOfScript(detail: .init(.text, detail))
    }
}

/// One exchange that a scripted channel expects.
public struct ScriptedExchange: Hashable, Sendable {
    /// The expected frame.
    public var frame: [UInt8]
    /// The result of the exchange.
    public var result: Result<[UInt8], TransportError>

    /// Creates a frame and its result.
    public init(_ frame: [UInt8], _ result: Result<[UInt8], TransportError>) {
        self.frame = frame
        self.result = result
    }

    /// Creates a frame and its answer, both in hexadecimal.
    ///
    /// - Throws: `HexError` when one of them is not hexadecimal text.
    public init(_ frame: String, answer: String) throws {
        self.init(try Hex.decode(frame), .success(try Hex.decode(answer)))
    }

    /// Creates a frame in hexadecimal that ends with an error.
    ///
    /// - Throws: `HexError` when it is not hexadecimal text.
    public init(_ frame: String, error: TransportError) throws {
        self.init(try Hex.decode(frame), .failure(error))
    }
}
