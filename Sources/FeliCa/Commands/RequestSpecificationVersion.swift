// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Request Specification Version (3C): which version of the specification does the card follow? AES cards know it.
public struct RequestSpecificationVersion: FeliCaCommand, Hashable, Sendable {
    /// `3C`.
    public static let code = CommandCode.requestSpecificationVersion

    /// The question; it has no arguments.
    public init() {}

    /// Two bytes 00.
    public var parameters: [UInt8] { [0, 0] }

    /// Format version 00, the basic version, and as many options as the card counts.
    public func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> SpecificationVersion {
        try answer.expectSuccess()
        let format = try answer.uint8()
        guard format == 0 else { throw answer.flaw(.value(.formatVersion, UInt16(format))) }
        let basic = SpecificationVersion.Number(rawValue: try answer.uint16(.little))
        let count = Int(try answer.uint8())
        let options = try answer.list(count) { (answer) throws(FeliCaError) in
            SpecificationVersion.Number(rawValue: try answer.uint16(.little))
        }
        return SpecificationVersion(basic: basic, options: options)
    }

    /// The fixed class.
    public func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Asks for the version of the specification.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestSpecificationVersion() throws(FeliCaError) -> SpecificationVersion {
        try send(RequestSpecificationVersion())
    }
}
