// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// A station as the Cybernetics format tells it. The same line and station are other stations in other areas.
package struct StationCode: Hashable, Sendable {
    /// 0 all JR lines and Kanto, 1 Chubu, 2 Kansai, 3 elsewhere.
    package let area: UInt8
    /// The line.
    package let line: UInt8
    /// The station on the line.
    package let station: UInt8

    /// A station by its three codes.
    package init(area: UInt8, line: UInt8, station: UInt8) {
        self.area = area
        self.line = line
        self.station = station
    }
}

/// A bus stop as the Cybernetics format tells it. Both codes are whole only with their sixteen bits: of 4,925 known
/// stops 4,316 are no longer told apart when the high bytes are dropped.
package struct BusStopCode: Hashable, Sendable {
    /// The area of the operator, 0 to 3.
    package let area: UInt8
    /// The operator.
    package let operatorCode: UInt16
    /// The stop; 0000 where the fare does not depend on it.
    package let stop: UInt16

    /// A stop by its codes.
    package init(area: UInt8, operatorCode: UInt16, stop: UInt16) {
        self.area = area
        self.operatorCode = operatorCode
        self.stop = stop
    }

    /// The operator as four upper-case hexadecimal digits.
    package var operatorHex: String { Hex.encode(operatorCode, digits: 4) }

    /// The stop as four upper-case hexadecimal digits.
    package var stopHex: String { Hex.encode(stop, digits: 4) }
}

/// A station or stop as a card of one town tells it; the numbers mean nothing outside its system.
package struct LocalStopCode: Hashable, Sendable {
    /// The system of the card.
    package let system: SystemCode
    /// The area, where the card tells one.
    package let area: UInt8?
    /// Who runs it, where the card tells.
    package let operatorCode: UInt16?
    /// The route, where the card tells one.
    package let line: UInt16?
    /// The stop.
    package let stop: UInt32
    /// How many hexadecimal digits the card's format gives the stop.
    package let digits: Int

    /// A stop by its numbers.
    package init(
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
    package var stopHex: String { Hex.encode(stop, digits: digits) }

    /// The operator as four upper-case hexadecimal digits.
    package var operatorHex: String? { operatorCode.map { Hex.encode($0, digits: 4) } }

    /// The route as four upper-case hexadecimal digits.
    package var lineHex: String? { line.map { Hex.encode($0, digits: 4) } }
}
