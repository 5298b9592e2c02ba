// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import NFCTransport

/// One exchange that a scripted channel expects.
public struct ScriptedExchange: Hashable, Sendable {
    /// The frame that must come.
    public var frame: [UInt8]
    /// What happens then.
    public var result: Result<[UInt8], TransportError>

    /// A frame and what happens then.
    public init(_ frame: [UInt8], _ result: Result<[UInt8], TransportError>) {
        self.frame = frame
        self.result = result
    }

    /// A frame and its answer, both in hexadecimal.
    ///
    /// - Throws: `HexError` when one of them is no hexadecimal text.
    public init(_ frame: String, answer: String) throws {
        self.init(try Hex.decode(frame), .success(try Hex.decode(answer)))
    }

    /// A frame in hexadecimal that ends with an error.
    ///
    /// - Throws: `HexError` when it is no hexadecimal text.
    public init(_ frame: String, error: TransportError) throws {
        self.init(try Hex.decode(frame), .failure(error))
    }
}
