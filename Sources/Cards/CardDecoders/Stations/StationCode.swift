// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A station code of the Cybernetics format; line and station codes are reused in different areas.
public struct StationCode: Hashable, Sendable {
    /// The area: 0 all JR lines and Kanto, 1 Chubu, 2 Kansai, 3 elsewhere.
    public let area: UInt8
    /// The line.
    public let line: UInt8
    /// The station on the line.
    public let station: UInt8

    /// Creates a station from its three codes.
    public init(area: UInt8, line: UInt8, station: UInt8) {
        self.area = area
        self.line = line
        self.station = station
    }
}

extension StationCode {
    /// The codes in one number, by which tables are searched.
    var key: UInt32 { UInt32(area) << 16 | UInt32(line) << 8 | UInt32(station) }

    init(key: UInt32) {
        self.init(
            area: UInt8(truncatingIfNeeded: key >> 16), line: UInt8(truncatingIfNeeded: key >> 8),
            station: UInt8(truncatingIfNeeded: key))
    }
}

/// A line and a station on it without an area, as in the gate log: up to four stations have the same two numbers.
public struct LineStationCode: FourDigitCode {
    /// The line in the high byte, the station in the low byte, as on the card.
    public let rawValue: UInt16

    /// Makes a code from the number that its four digits represent.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The line.
    public var line: UInt8 { UInt8(rawValue >> 8) }
    /// The station on the line.
    public var station: UInt8 { UInt8(truncatingIfNeeded: rawValue) }

    /// The station of an area.
    public func inArea(_ area: UInt8) -> StationCode { StationCode(area: area, line: line, station: station) }
}

/// The number of a gate or another machine, which a record keeps.
public struct DeviceNumber: FourDigitCode {
    /// The number that the four digits represent.
    public let rawValue: UInt16

    /// Makes a number from the one that its four digits represent.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}

/// A bus stop code of the Cybernetics format.
///
/// All 16 bits of both codes are significant: of 4,933 known stops, 4,316 become ambiguous without the high bytes.
public struct BusStopCode: Hashable, Sendable {
    /// The area of the operator, 0 to 3.
    public let area: UInt8
    /// The operator.
    public let operatorCode: UInt16
    /// The stop; 0000 where the fare does not depend on it.
    public let stop: UInt16

    /// Creates a stop from its codes.
    public init(area: UInt8, operatorCode: UInt16, stop: UInt16) {
        self.area = area
        self.operatorCode = operatorCode
        self.stop = stop
    }

    /// The operator as four upper-case hexadecimal digits.
    package var operatorHex: String { Hex.encode(operatorCode, digits: 4) }

    /// The stop as four upper-case hexadecimal digits.
    package var stopHex: String { Hex.encode(stop, digits: 4) }
}

extension BusStopCode {
    /// The operator and stop codes in one number, by which tables are searched.
    var key: UInt32 { UInt32(operatorCode) << 16 | UInt32(stop) }

    /// Makes a stop of area 0.
    init(key: UInt32) {
        self.init(
            area: 0, operatorCode: UInt16(truncatingIfNeeded: key >> 16), stop: UInt16(truncatingIfNeeded: key))
    }
}

/// A station or stop code of a local card; the numbers mean nothing outside its system.
public struct LocalStopCode: Hashable, Sendable {
    /// The system of the card.
    public let system: SystemCode
    /// The area, if the card stores one.
    public let area: UInt8?
    /// The operator, if the card stores one.
    public let operatorCode: UInt16?
    /// The route, if the card stores one.
    public let line: UInt16?
    /// The stop.
    public let stop: UInt32
    /// The number of hexadecimal digits of a stop in the card's format.
    public let digits: Int

    /// Creates a stop from its numbers.
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
    package var stopHex: String { Hex.encode(stop, digits: digits) }

    /// The operator as four upper-case hexadecimal digits.
    package var operatorHex: String? { operatorCode.map { Hex.encode($0, digits: 4) } }

    /// The route as four upper-case hexadecimal digits.
    package var lineHex: String? { line.map { Hex.encode($0, digits: 4) } }
}
