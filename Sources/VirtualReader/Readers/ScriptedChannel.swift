// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import NFCTransport

/// A channel that knows beforehand what will be asked and what comes back, in order.
package final class ScriptedChannel: CardChannel {
    private var expected: ArraySlice<ScriptedExchange>
    private var problems: [String] = []
    private var count = 0
    /// The time-outs that were asked for, in order.
    package private(set) var timeouts: [Duration] = []

    /// A channel that expects these exchanges and no other.
    package init(_ exchanges: [ScriptedExchange]) {
        expected = exchanges[...]
    }

    /// Gives the answer that belongs to the frame expected next.
    ///
    /// - Throws: ``NFCTransport/TransportError/outOfScript(detail:)`` when the frame is another or nothing is expected
    ///   any more, and the error that the script says.
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

    /// What went against the script so far, and what of it was not asked for; empty when all went as expected.
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
    /// The frame that must come.
    package var frame: [UInt8]
    /// What happens then.
    package var result: Result<[UInt8], TransportError>

    /// A frame and what happens then.
    package init(_ frame: [UInt8], _ result: Result<[UInt8], TransportError>) {
        self.frame = frame
        self.result = result
    }

    /// A frame and its answer, both in hexadecimal.
    ///
    /// - Throws: `HexError` when one of them is no hexadecimal text.
    package init(_ frame: String, answer: String) throws {
        self.init(try Hex.decode(frame), .success(try Hex.decode(answer)))
    }

    /// A frame in hexadecimal that ends with an error.
    ///
    /// - Throws: `HexError` when it is no hexadecimal text.
    package init(_ frame: String, error: TransportError) throws {
        self.init(try Hex.decode(frame), .failure(error))
    }
}

/// Says in an error message what was asked, without the personal data in it.
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
