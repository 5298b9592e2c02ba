// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import ByteCodec

/// A station or stop as a card of one town tells it; the numbers mean nothing outside its system.
public struct LocalStopCode: Hashable, Sendable {
    /// The system of the card.
    public let system: SystemCode
    /// The area, where the card tells one.
    public let area: UInt8?
    /// Who runs it, where the card tells.
    public let operatorCode: UInt16?
    /// The route, where the card tells one.
    public let line: UInt16?
    /// The stop.
    public let stop: UInt32
    /// How many hexadecimal digits the card's format gives the stop.
    public let digits: Int

    /// A stop by its numbers.
    public init(
        system: SystemCode, area: UInt8? = nil, operatorCode: UInt16? = nil, line: UInt16? = nil, stop: UInt32,
        digits: Int = 4
    ) {
        self.system = system
        self.area = area
        self.operatorCode = operatorCode
        self.line = line
        self.stop = stop
        self.digits = digits
    }

    /// The stop as upper-case hexadecimal digits.
    public var stopHex: String { Hex.encode(stop, digits: digits) }

    /// The operator as four upper-case hexadecimal digits.
    public var operatorHex: String? { operatorCode.map { Hex.encode($0, digits: 4) } }

    /// The route as four upper-case hexadecimal digits.
    public var lineHex: String? { line.map { Hex.encode($0, digits: 4) } }
}
