// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Request Specification Version (3C): the version of the specification that the card follows. AES cards support it.
package struct RequestSpecificationVersion: FeliCaCommand, Hashable, Sendable {
    /// `3C`.
    package static let code = CommandCode.requestSpecificationVersion

    /// Makes the request; it has no arguments.
    package init() {}

    /// Two bytes of 00.
    package var parameters: [UInt8] { [0, 0] }

    /// Reads format version 00, the basic version, and as many options as the card's count gives.
    package func parse(_ answer: inout AnswerReader) throws(FeliCaError) -> SpecificationVersion {
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
    package func maximumTime(_ times: ResponseTime) -> Duration { times.maximum(.fixed) }
}

extension FeliCaSystem {
    /// Requests the version of the specification.
    ///
    /// - Throws: ``FeliCaError``.
    public func requestSpecificationVersion() throws(FeliCaError) -> SpecificationVersion {
        try send(RequestSpecificationVersion())
    }
}

/// The versions of the specifications that a card follows.
public struct SpecificationVersion: Hashable, Sendable {
    /// The basic version.
    public let basic: Number
    /// The versions of the options in the card's order; ``Option`` names the known positions.
    public let options: [Number]

    /// Returns the version of an option; `nil` if the card does not list it.
    public func version(of option: Option) -> Number? {
        options.element(at: option.rawValue)
    }

    /// The options in the order in which cards list them. Source: felica-tool, the unofficial user's manual.
    public enum Option: Int, Hashable, Sendable, CaseIterable {
        /// DES.
        case des
        /// Special, on phones.
        case special
        /// Extended Overlap.
        case extendedOverlap
        /// Value-Limited Purse Service.
        case valueLimitedPurse
        /// Communication with MAC.
        case communicationWithMAC
        /// Random ID.
        case randomID
    }

    /// One version: a top nibble of 8, then three decimal digits, such as `8500` for 5.0.0.
    public struct Number: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The two bytes, which are least significant first on the wire.
        public let rawValue: UInt16

        /// Makes a version from its two bytes.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The version, such as `5.0.0`; the four hexadecimal digits if they do not have that form.
        public var description: String {
            let digits = [rawValue.bits(8...11), rawValue.bits(4...7), rawValue.bits(0...3)]
            guard rawValue.bits(12...15) == 8, digits.allSatisfy({ $0 <= 9 }) else {
                return Hex.encode(rawValue, digits: 4)
            }
            return digits.map { "\($0)" }.joined(separator: ".")
        }
    }
}
