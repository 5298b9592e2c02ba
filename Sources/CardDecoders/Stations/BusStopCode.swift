// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A bus stop as the Cybernetics format tells it. Both codes are whole only with their sixteen bits: of 4,925 known
/// stops 4,316 are no longer told apart when the high bytes are dropped.
public struct BusStopCode: Hashable, Sendable {
    /// The area of the operator, 0 to 3.
    public let area: UInt8
    /// The operator.
    public let operatorCode: UInt16
    /// The stop; 0000 where the fare does not depend on it.
    public let stop: UInt16

    /// A stop by its codes.
    public init(area: UInt8, operatorCode: UInt16, stop: UInt16) {
        self.area = area
        self.operatorCode = operatorCode
        self.stop = stop
    }

    /// The operator as four upper-case hexadecimal digits.
    public var operatorHex: String { Hex.encode(operatorCode, digits: 4) }

    /// The stop as four upper-case hexadecimal digits.
    public var stopHex: String { Hex.encode(stop, digits: 4) }
}
