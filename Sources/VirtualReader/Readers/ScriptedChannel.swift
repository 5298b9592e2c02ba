// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import NFCTransport

/// A channel with a fixed sequence of requests and answers.
package final class ScriptedChannel: CardChannel {
    private var expected: ArraySlice<ScriptedExchange>
    private var problems: [String] = []
    private var count = 0
    /// The requested time-outs, in order.
    package private(set) var timeouts: [Duration] = []

    /// Creates a channel that expects these exchanges and no other.
    package init(_ exchanges: [ScriptedExchange]) {
        expected = exchanges[...]
    }

    /// Returns the answer of the next expected frame.
    ///
    /// - Throws: ``NFCTransport/TransportError/outOfScript(detail:)`` when the frame differs or nothing is expected any
    ///   more, and the error in the script.
    package func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
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
    package func finish() -> [String] {
        problems + expected.map { "never asked: \(Hex.encode($0.frame))" }
    }

    private func outOfScript(_ detail: String) -> TransportError {
        problems.append(detail)
        return .outOfScript(detail: .init(.text, detail))
    }
}

/// One exchange that a scripted channel expects.
package struct ScriptedExchange: Hashable, Sendable {
    /// The expected frame.
    package var frame: [UInt8]
    /// The result of the exchange.
    package var result: Result<[UInt8], TransportError>

    /// Creates a frame and its result.
    package init(_ frame: [UInt8], _ result: Result<[UInt8], TransportError>) {
        self.frame = frame
        self.result = result
    }

    /// Creates a frame and its answer, both in hexadecimal.
    ///
    /// - Throws: `HexError` when one of them is not hexadecimal text.
    package init(_ frame: String, answer: String) throws {
        self.init(try Hex.decode(frame), .success(try Hex.decode(answer)))
    }

    /// Creates a frame in hexadecimal that ends with an error.
    ///
    /// - Throws: `HexError` when it is not hexadecimal text.
    package init(_ frame: String, error: TransportError) throws {
        self.init(try Hex.decode(frame), .failure(error))
    }
}

/// Describes a request in an error message, without its personal data.
enum FrameText {
    static func of(_ event: TranscriptEntry.Event) -> String {
        switch event {
        case .activate(let request, _): of(request)
        case .transceive(let frame, _, _): of(frame)
        }
    }

    static func of(_ request: ActivationRequest) -> String {
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            "activate \(system) (request code \(requestCode), time slots \(timeSlots), \(bitRate.rawValue) kbit/s)"
        case .typeA(let isoDEP): isoDEP ? "activate type A" : "activate type A without ISO-DEP"
        case .typeB(let family): "activate type B (application family \(family))"
        }
    }

    /// FeliCa packets without the IDm; of other frames only the first four bytes, since a PIN may follow.
    static func of(_ frame: [UInt8]) -> String {
        guard let length = frame.element(at: 0), Int(length) == frame.count, let code = frame.element(at: 1) else {
            return "transceive \(Hex.encode(frame.prefix(4)))… (\(frame.count) bytes)"
        }
        guard frame.count >= 10, CommandCode(rawValue: code)?.carriesIDm != false else {
            return "transceive \(Hex.encode(frame))"
        }
        let parameters = frame.count > 10 ? " \(Hex.encode(frame.dropFirst(10)))" : ""
        return "transceive \(Hex.encode(frame.prefix(2))) <IDm>\(parameters)"
    }
}
